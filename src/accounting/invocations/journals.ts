import type { Allowance } from '../budgets/allowance.ts';
import type { Claim } from '../budgets/shares.ts';
import { inBudget } from '../../base/runtime/money.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { Random } from '../../base/runtime/random.ts';
import type { CallAttemptDocument, InvocationDocument } from './invocation.ts';
import { Journal, type JournalTerms } from './journal.ts';
import type { JournalStore } from './journal-store.ts';

/** What this process is about to do, written down before it is done. */
export interface Journals {
  /**
   * Resolves when the entry is in the database, and what its last attempt may cost is reserved.
   * @throws {ProblemError} database-unavailable, storage-full, budget-exceeded: what the entry announces must not be done
   */
  put(id: string, entry: InvocationDocument, paid?: Paid): Promise<void>;
  /** Removes an entry, some time later. Call it when the record of the invocation is stored, with what it contains. */
  end(id: string, attempts: readonly CallAttemptDocument[]): void;
  /** Whether a journal is one of this process. */
  owns(journalId: string): boolean;
  /** Removes the journals, apart from those in which something is left. */
  close(): Promise<void>;
}

/** An attempt under budgets. */
export interface Paid {
  readonly claim: Claim;
  readonly attempt: CallAttemptDocument;
  /** When it is aborted, nothing is reserved any more. */
  readonly signal: AbortSignal;
  /** Set when its entry may be in the journal. */
  isPut?: true;
}

export interface JournalsDependencies {
  readonly store: JournalStore;
  /** Creates what the calls of a journal may cost. */
  readonly createAllowance: (journalId: string) => Allowance;
  readonly random: Random;
  readonly terms: JournalTerms;
}

/** The most journals that are used for one entry, if other processes close them. */
const mostLost = 5;

export function createJournals({ store, createAllowance, random, terms }: JournalsDependencies): Journals {
  const journals = new Set<Journal>();
  const placed = new Map<string, Journal>();

  const withRoom = (): Journal => {
    for (const journal of journals) {
      if (journal.hasRoom) return journal;
      if (!journal.isOpen) journals.delete(journal);
    }
    const id = random.uuid();
    const journal = new Journal(id, store, terms, createAllowance(id));
    journals.add(journal);
    return journal;
  };
  const ticks = setInterval(() => {
    for (const journal of journals) void journal.tick();
  }, terms.reportMs).unref();

  /** @returns false if the journal is closed */
  const reserve = async (journal: Journal, id: string, paid: Paid): Promise<boolean> => {
    const { claim, attempt, signal } = paid;
    const undo = await journal.reserve(id, claim, attempt);
    if (undo === undefined) return false;
    // Its invocation may have ended meanwhile.
    if (!signal.aborted && placed.get(id) === journal) {
      paid.isPut = true;
      return true;
    }
    undo();
    signal.throwIfAborted();
    throw journalClosed();
  };

  return {
    async put(id, entry, paid) {
      for (let lost = 0; lost < mostLost; lost += 1) {
        const earlier = placed.get(id);
        const journal = earlier ?? withRoom();
        placed.set(id, journal);
        // It stays in its place if this fails: another attempt of the same invocation may be in progress.
        const isReserved = paid === undefined || (await reserve(journal, id, paid));
        const confirm = journal.confirming(id);
        const outcome = isReserved ? await journal.put(id, entry) : 'lost';
        if (outcome === 'written') {
          confirm?.();
          return;
        }
        // Another process has stored, or stores, a record of what is in a closed journal. It cannot get more attempts.
        if (outcome === 'uncertain' || earlier !== undefined) throw journalClosed();
        if (placed.get(id) !== journal) throw journalClosed();
        placed.delete(id);
      }
      throw journalClosed();
    },
    end(id, attempts) {
      placed.get(id)?.end(id, costsOf(attempts));
      placed.delete(id);
    },
    owns: (journalId) => [...journals].some(({ id, isOpen }) => isOpen && id === journalId),
    async close() {
      clearInterval(ticks);
      await Promise.all([...journals].map((journal) => journal.close()));
    },
  };
}

function journalClosed(): ProblemError {
  return new ProblemError('database-unavailable', {
    detail: 'This process had no connection to the database for too long. Try again shortly.',
    headers: { 'Retry-After': '2' },
  });
}

/** What budgets paid, by their period. */
export function costsOf(attempts: readonly CallAttemptDocument[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { budgets = [], cost } of attempts) {
    for (const period of budgets) sums.set(period, (sums.get(period) ?? 0) + inBudget(cost ?? 0));
  }
  return sums;
}
