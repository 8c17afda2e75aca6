/**
 * The request to a language model and its result. Invocations, test runs and the answer cache pass both on as a whole,
 * so a field that is added here reaches all of them.
 */
import type { Message } from '../templates/render.ts';

export type { Message } from '../templates/render.ts';

/**
 * Everything that decides the answer, and nothing else, because it is also the key of the answer cache. Plain JSON
 * values.
 */
export interface GenerateRequest {
  /** Matches `providerNamePattern`; it does not have to be in the provider's list. */
  readonly model: string;
  /** At least one message; system messages can be anywhere. */
  readonly messages: readonly Message[];
}

/** The request from a prompt: everything except the provider and the model. */
export type RenderedRequest = Omit<GenerateRequest, 'model'>;

/** Options of one call. They do not affect the answer. */
export interface CallOptions {
  /** Aborted when no caller waits for the answer any more; then the call to the provider is canceled. */
  readonly signal: AbortSignal;
  /**
   * The deadline of the answer, including retries, on the clock of `performance.now`. It is read again each time, so
   * that a getter can extend it while the call runs.
   */
  readonly deadline: number;
  /**
   * The API key of the call. Keys take turns if more calls wait for a provider than can be in progress at the same
   * time.
   */
  readonly keyId: string;
  /** W3C trace context to send with the call. */
  readonly traceparent?: string | undefined;
  /** Whether it runs after the calls that a caller waits for. False if left out. */
  readonly background?: boolean;
}

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/**
 * A model's answer. Plain JSON values with the names of the contract's InvocationResult: answers and test runs contain
 * it as it is.
 */
export interface GenerateResult {
  /** The answer's text parts, joined; empty when the model wrote none. */
  readonly text: string;
  readonly finishReason: FinishReason;
  /** Tokens as the provider counts them, including reasoning; 0 if it does not say. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}
