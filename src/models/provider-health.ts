/** Why the last call failed that did. */
export interface ProviderFailure {
  readonly at: Date;
  /** The last part of the problem's type. */
  readonly problem: string;
  /** A sentence. */
  readonly detail?: string | undefined;
  /** HTTP status, code and words of the provider. */
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}

/** How the calls of a provider ended, of all processes, some seconds ago. */
export interface ProviderHealth {
  readonly lastSuccessAt: Date | undefined;
  readonly lastFailure: ProviderFailure | undefined;
  /** When the invocation began whose call failed first since the last one that succeeded; undefined if none has. */
  readonly failingSince: Date | undefined;
}

/** Calls of the last hour. */
export interface RecentCalls {
  readonly succeeded: number;
  readonly failed: number;
}
