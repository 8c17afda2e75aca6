import type { CallCost } from '../../base/runtime/money.ts';
import type { AttemptEnd } from '../language-model.ts';

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

/** Begins the span of a call to a provider. */
export type BeginCall = (call: TracedCall) => CallSpan;

/** The span of a call to a provider. */
export interface CallSpan {
  /** To send with the call. */
  readonly context: TraceContext;
  /** @param cost undefined if it is unknown */
  end(end: AttemptEnd, cost: CallCost | undefined): void;
}
