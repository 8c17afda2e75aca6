import { ProblemError } from '../errors/problem-error.ts';
import type { Random } from '../runtime/random.ts';
import type { InvocationDocument } from './invocation.ts';
import { Journal, type JournalTerms } from './journal.ts';
import type { JournalStore } from './journal-store.ts';

/** What this process is about to do, written down before it is done. */
export interface Journals {
  /**
   * Resolves when the entry is in the database.
   * @throws {ProblemError} database-unavailable, storage-full: what the entry announces must not be done
   */
  put(id: string, entry: InvocationDocument): Promise<void>;
  /** Removes an entry, some time later. Call it when the record of the invocation is stored. */
  end(id: string): void;
  /** Whether a journal is one of this process. */
  owns(journalId: string): boolean;
  /** Removes the journals, apart from those in which something is left. */
  close(): Promise<void>;
}

export interface JournalsDependencies {
  readonly store: JournalStore;
  readonly random: Random;
  readonly terms: JournalTerms;
}

export function createJournals({ store, random, terms }: JournalsDependencies): Journals {
  const journals = new Set<Journal>();
  const placed = new Map<string, Journal>();

  const withRoom = (): Journal => {
    for (const journal of journals) {
      if (journal.hasRoom) return journal;
      if (!journal.isOpen) journals.delete(journal);
    }
    const journal = new Journal(random.uuid(), store, terms);
    journals.add(journal);
    return journal;
  };

  return {
    async put(id, entry) {
      for (;;) {
        const earlier = placed.get(id);
        const journal = earlier ?? withRoom();
        placed.set(id, journal);
        const outcome = await journal.put(id, entry);
        if (outcome === 'written') return;
        // Another process has stored, or stores, a record of what is in a closed journal. It cannot get more attempts.
        if (outcome === 'uncertain' || earlier !== undefined) throw journalClosed();
        if (placed.get(id) !== journal) throw journalClosed();
        placed.delete(id);
      }
    },
    end(id) {
      placed.get(id)?.end(id);
      placed.delete(id);
    },
    owns: (journalId) => [...journals].some(({ id }) => id === journalId),
    async close() {
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
