import type { Logger } from 'pino';
import { createStalenessWatch } from '../runtime/staleness-watch.ts';
import { addTotals } from './invocation-record.ts';
import type { InvocationStore } from './invocation-store.ts';
import type { Journals } from './journals.ts';
import type { JournalStore } from './journal-store.ts';

export interface RecoveryDependencies {
  readonly store: JournalStore;
  readonly journals: Pick<Journals, 'owns'>;
  readonly records: Pick<InvocationStore, 'insert'>;
  readonly log: Logger;
  /** A clock in milliseconds that never goes back. */
  readonly monotonic: () => number;
  /** Milliseconds without a write after which a process is taken for dead; several times its interval. */
  readonly termMs: number;
}

/**
 * Creates the work that finds journals of processes that have ended, and stores the records of what was in them. Any
 * process may do it, at any time, also several: the first record with an id counts.
 */
export function createRecovery(dependencies: RecoveryDependencies): () => Promise<void> {
  const { store, journals, records, log, monotonic, termMs } = dependencies;
  const watch = createStalenessWatch(monotonic);
  return async () => {
    const readAt = monotonic();
    const seen = (await store.list()).filter(({ id }) => !journals.owns(id));
    watch.keepOnly(new Set(seen.map(({ id }) => id)));
    for (const journal of seen) {
      const { unchangedMs } = watch.observe(journal.id, String(journal.seq), readAt);
      if (!journal.isClosed && unchangedMs < termMs) continue;
      const entries = await store.close(journal);
      // Its process lives.
      if (entries === undefined) continue;
      for (const entry of entries) addTotals(entry);
      await records.insert(entries);
      await store.remove(journal.id, journal.seq);
      if (entries.length === 0) continue;
      const interrupted = entries.filter(({ status }) => status === 'interrupted').length;
      log.warn({ journal: journal.id, interrupted }, 'stored the invocations of a process that has ended');
    }
  };
}
