/** What a provider is to the rest of the service. */

/** A message of a rendered prompt. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface GenerateRequest {
  /** Matches `providerNamePattern`; need not be in the provider's list. */
  readonly model: string;
  /** At least one message; system messages may stand anywhere. */
  readonly messages: readonly ChatMessage[];
  /** Aborted when nobody waits for the answer any more: the upstream call is then cancelled. */
  readonly signal: AbortSignal;
  /**
   * When the answer is due, retries included, on the clock of `performance.now`. Read anew whenever it matters, so that
   * a getter may move it later while the call runs.
   */
  readonly deadline: number;
  /** Whose call it is: keys take turns where a provider has more calls to make than may be under way at once. */
  readonly keyId: string;
  /** W3C trace context to send with the call. */
  readonly traceparent?: string | undefined;
  /** Comes after the calls that somebody waits for. False when left out. */
  readonly background?: boolean;
}

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

export interface InvocationResult {
  /** The answer's text parts, joined; empty when the model wrote none. */
  readonly text: string;
  readonly finishReason: FinishReason;
  /** Tokens as the provider counts them, reasoning included; 0 where it does not say. */
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

/** A provider as the contract's Provider schema shows it. */
export interface ProviderInfo {
  readonly id: string;
  readonly name: string;
  readonly models: readonly string[];
  /** One of `models`. */
  readonly defaultModel: string;
  /** Whether everything that a call needs is configured. */
  readonly configured: boolean;
}

export interface Provider extends ProviderInfo {
  /**
   * Runs a prompt, with at most two retries before the deadline.
   *
   * @throws ProblemError `provider-*` (502) for every failure of the provider, `provider-not-configured` (422).
   * @throws The reason of `request.signal`, unchanged, when that is aborted: nobody is there to read a problem.
   */
  generate(request: GenerateRequest): Promise<InvocationResult>;
}

export interface ProviderRegistry {
  /** Built-in providers first, then those of the configuration, each in a fixed order. */
  list(): readonly ProviderInfo[];
  get(id: string): Provider | undefined;
  /**
   * Loads the packages of the configured providers, so that the first call does not pay for it (70 to 120 ms each).
   * Never fails: what cannot be loaded now is tried again by the first call.
   */
  preload(): Promise<void>;
}
