import type { Logger } from 'pino';
import { doForEach, isolateFailures, throwFailures, type Failure } from '../../base/errors/outage.ts';
import { createStalenessWatch } from '../../base/runtime/staleness-watch.ts';
import type { Accounts } from '../budgets/accounts.ts';
import { addTotals } from './invocation-record.ts';
import type { InvocationDocument } from './invocation.ts';
import type { InvocationStore } from './invocation-store.ts';
import { costsOf, type Journals } from './journals.ts';
import type { ClosedJournal, JournalStore, SeenJournal } from './journal-store.ts';

export interface RecoveryDependencies {
  readonly store: JournalStore;
  readonly journals: Pick<Journals, 'owns'>;
  readonly records: Pick<InvocationStore, 'insert' | 'attemptsOf'>;
  readonly accounts: Accounts;
  readonly log: Logger;
  /** Called with the interrupted invocations whose records were stored. */
  readonly onInterrupted: (invocations: readonly InvocationDocument[]) => void;
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
  const { store, journals, records, accounts, log, onInterrupted, monotonic, termMs } = dependencies;
  const watch = createStalenessWatch(monotonic);

  /** What the calls of a journal cost whose records are stored now. Records never change, so it is always the same. */
  const spentIn = async ({ entries, settled }: ClosedJournal): Promise<Map<string, number>> => {
    const sums = new Map(settled);
    const paid = entries.filter(({ attempts }) => attempts.some(({ budgets }) => budgets !== undefined));
    if (paid.length === 0) return sums;
    for (const attempts of await records.attemptsOf(paid.map(({ _id }) => _id))) {
      for (const [period, cost] of costsOf(attempts)) sums.set(period, (sums.get(period) ?? 0) + cost);
    }
    return sums;
  };

  const recover = async (journal: SeenJournal): Promise<void> => {
    // Read before the journal: while it is there, its slices show all that is moved.
    const slices = await accounts.slicesOf(journal.id);
    const closed = await store.close(journal);
    // Its process lives, or another one has removed it.
    if (closed === undefined) return;
    const { entries } = closed;
    for (const entry of entries) addTotals(entry);
    const before = new Set<string>();
    const refused: Failure[] = [];
    await isolateFailures(
      entries,
      async (some) => {
        for (const id of await records.insert(some)) before.add(id);
      },
      ({ _id: id }, error) => refused.push({ id, error }),
    );
    const others = new Set([...before, ...refused.map(({ id }) => id)]);
    const interrupted = entries.filter(({ _id, status }) => status === 'interrupted' && !others.has(_id));
    onInterrupted(interrupted);
    for (const { _id: invocation_id, request_id } of interrupted) {
      log.warn({ invocation_id, request_id }, 'the process ended before the invocation did');
    }
    // Their records and costs are only in the journal, so it stays.
    throwFailures(refused);
    // If its process has reported meanwhile, the next run goes on.
    if (!(await accounts.settle(journal.id, slices, await spentIn(closed)))) return;
    await store.remove(journal.id, journal.seq);
    if (entries.length === 0) return;
    log.warn(
      { journal: journal.id, interrupted: interrupted.length },
      'stored the invocations of a process that has ended',
    );
  };

  return async () => {
    const holders = await accounts.holders();
    const readAt = monotonic();
    const all = await store.list();
    const seen = all.filter(({ id }) => !journals.owns(id));
    watch.keepOnly(new Set(seen.map(({ id }) => id)));
    const dead = seen.filter(({ id, seq, isClosed }) => {
      const { unchangedMs } = watch.observe(id, String(seq), readAt);
      return isClosed || unchangedMs >= termMs;
    });
    // Also what a process that has lost its journal has taken for it afterwards.
    const known = new Set(all.map(({ id }) => id));
    const gone = [...holders].filter((id) => !known.has(id));
    const steps = {
      'journals of ended processes': () => doForEach(dead, recover),
      'budgets of removed journals': () => doForEach(gone, accounts.remove),
    };
    await doForEach(['journals of ended processes', 'budgets of removed journals'] as const, (name) => steps[name]());
  };
}
