/** Labels of a paid call. `model` is one of the provider's list, or `other`, because callers can name any. */
export interface SpentTokens {
  readonly model: string;
  /** Undefined if the provider did not say. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** In billionths of a dollar; undefined if it is unknown. */
  readonly cost?: bigint | undefined;
}

/** What the calls of providers report for metrics. */
export interface CallObserver {
  /** One call of a provider; `outcome` is `succeeded` or a problem type. */
  observeProviderCall(provider: string, outcome: string, seconds: number, spent?: SpentTokens): void;
  countCache(result: 'hit' | 'miss' | 'joined'): void;
}
