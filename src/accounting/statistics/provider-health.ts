/**
 * Whether providers answer. Each call that ends is noted in memory, and written with the statistics every few seconds, so
 * that every process sees the calls of all.
 */
import { isOutage } from '../../base/errors/outage.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { isTransient } from '../../models/call/failures.ts';
import type { ProviderFailure, ProviderHealth } from '../../models/provider-health.ts';
import type { ProviderHealthStore, ProviderNews } from './provider-health-store.ts';

/** A call that has ended. */
export interface EndedCall {
  readonly provider: string;
  /** When its invocation began, so that a list since then has it. */
  readonly began: Date;
  /** Undefined if it succeeded. */
  readonly failure: Omit<ProviderFailure, 'at'> | undefined;
}

export interface ProviderHealths {
  /** Notes a call, unless its failure only says something about the request. It does not wait and does not throw. */
  called(call: EndedCall): void;
  /** Writes what was noted. What cannot be written is kept for the next time. @throws {ProblemError} database-unavailable */
  flush(): Promise<void>;
  of(providers: readonly string[]): Promise<ReadonlyMap<string, ProviderHealth>>;
}

export function createProviderHealths(store: ProviderHealthStore, clock: Pick<Clock, 'now'>): ProviderHealths {
  let noted = new Map<string, ProviderNews>();
  const restore = (provider: string, old: ProviderNews): void => {
    const newer = noted.get(provider);
    if (newer?.succeededAt !== undefined) return;
    const failingSince = old.failingSince ?? newer?.failingSince;
    noted.set(provider, { ...old, ...newer, ...(failingSince && { failingSince }) });
  };
  return {
    called({ provider, began, failure }) {
      if (failure !== undefined && isOfRequest(failure)) return;
      const at = clock.now();
      const before = noted.get(provider);
      noted.set(
        provider,
        failure === undefined
          ? { succeededAt: at }
          : { ...before, failingSince: before?.failingSince ?? { at, began }, failure: { ...failure, at } },
      );
    },
    async flush() {
      const news = noted;
      if (news.size === 0) return;
      noted = new Map();
      try {
        await store.write(news);
      } catch (error) {
        // Another error is a mistake, which a repetition does not correct.
        if (isOutage(error)) for (const [provider, old] of news) restore(provider, old);
        throw error;
      }
    },
    of: (providers) => store.find(providers),
  };
}

/** Whether the provider refused this request, and may answer others. */
function isOfRequest({ problem, status, code }: Omit<ProviderFailure, 'at'>): boolean {
  if (problem !== 'provider-failed') return false;
  // Without a status, the code is that of the system: the provider was not reached.
  return status === undefined ? code === undefined : !isTransient(status);
}
