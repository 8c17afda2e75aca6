import type { IncomingMessage } from 'node:http';
import type { CallCost } from '../costs/money.ts';
import type { Exchange } from '../http/exchange.ts';
import type { AttemptEnd } from '../providers/language-model.ts';
import type { WebhookObserver } from '../webhooks/observer.ts';

/** What is reported to an OpenTelemetry collector: spans and measurements. Nothing in it throws or waits. */
export interface Telemetry {
  /**
   * Begins the span of a request, and puts its trace context into the header fields of the request, in place of the
   * caller's. So everything that passes on the caller's trace context passes on that of the span.
   */
  beginRequest(request: IncomingMessage): void;
  endRequest(exchange: Exchange): void;
  /** Begins the span of a call to a provider. */
  beginCall(call: TracedCall): CallSpan;
  /** An observer that also reports each attempt of a delivery, linked to the request that caused the event. */
  observing(observer: WebhookObserver): WebhookObserver;
  /** Sends what was not sent yet, within some seconds. */
  close(): Promise<void>;
}

/** W3C Trace Context, as its header fields. */
export interface TraceContext {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

export interface TracedCall extends TraceContext {
  readonly provider: string;
  readonly model: string;
  /** Where the provider's API is: a URL. */
  readonly address: string;
  readonly invocationId?: string | undefined;
  /** Whether the provider's list has the model. Callers can name any other. */
  readonly isListed: boolean;
}

/** The span of a call to a provider. */
export interface CallSpan {
  /** To send with the call. */
  readonly context: TraceContext;
  /** @param cost undefined if it is unknown */
  end(end: AttemptEnd, cost: CallCost | undefined): void;
}
