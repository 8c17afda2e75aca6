import type { IncomingMessage } from 'node:http';
import type { Exchange } from '../../http/exchange.ts';
import type { BeginCall } from '../../models/call/call-span.ts';
import type { WebhookObserver } from '../../webhooks/observer.ts';

/** What is reported to an OpenTelemetry collector: spans and measurements. Nothing in it throws or waits. */
export interface Telemetry {
  /**
   * Begins the span of a request, and puts its trace context into the header fields of the request, in place of the
   * caller's. So everything that passes on the caller's trace context passes on that of the span.
   */
  beginRequest(request: IncomingMessage): void;
  endRequest(exchange: Exchange): void;
  readonly beginCall: BeginCall;
  /** An observer that also reports each attempt of a delivery, linked to the request that caused the event. */
  observing(observer: WebhookObserver): WebhookObserver;
  /** Sends what was not sent yet, within some seconds. */
  close(): Promise<void>;
}
