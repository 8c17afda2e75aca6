/**
 * The one model of what is asked of a language model and of what it answers. Invocations, test runs and the answer cache
 * pass both on whole, so what is added here reaches all of them.
 */
import type { Message } from '../templates/render.ts';

export type { Message } from '../templates/render.ts';

/** Everything that decides the answer, and nothing else: it is the key of the answer cache, too. Plain JSON values. */
export interface GenerateRequest {
  /** Matches `providerNamePattern`; need not be in the provider's list. */
  readonly model: string;
  /** At least one message; system messages may stand anywhere. */
  readonly messages: readonly Message[];
}

/** The request from a prompt: everything except the provider and the model. */
export type RenderedRequest = Omit<GenerateRequest, 'model'>;

/** Options of one call. They do not affect the answer. */
export interface CallOptions {
  /** Aborted when nobody waits for the answer any more: the upstream call is then cancelled. */
  readonly signal: AbortSignal;
  /**
   * When the answer is due, retries included, on the clock of `performance.now`. Read anew whenever it matters, so that
   * a getter may move it later while the call runs.
   */
  readonly deadline: number;
  /** Whose call it is: keys take turns where a provider has more calls to make than may be in progress at once. */
  readonly keyId: string;
  /** W3C trace context to send with the call. */
  readonly traceparent?: string | undefined;
  /** Comes after the calls that somebody waits for. False when left out. */
  readonly background?: boolean;
}

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/** A model's answer. Plain JSON values, named as in the contract's InvocationResult: answers and test runs show it whole. */
export interface GenerateResult {
  /** The answer's text parts, joined; empty when the model wrote none. */
  readonly text: string;
  readonly finishReason: FinishReason;
  /** Tokens as the provider counts them, reasoning included; 0 where it does not say. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}
