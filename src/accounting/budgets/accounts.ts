import { mostOfBudget } from '../../base/runtime/money.ts';
import type { PeriodStore } from './period-store.ts';

/** Counts what journals hold of budgets whose processes have ended. Any process may do it, also several at a time. */
export interface Accounts {
  /** Of all periods. Read it before the journals: what has a slice and no journal has ended. */
  holders(): Promise<ReadonlySet<string>>;
  /**
   * Moves what a closed journal has spent to its periods, and returns the rest. A repetition changes nothing.
   * @param spent by its calls in all, by period, in nano-dollars. A journal that is gone has moved all of it before
   */
  close(journal: string, spent: ReadonlyMap<string, number> | undefined): Promise<void>;
}

export function createAccounts(store: Pick<PeriodStore, 'find' | 'change' | 'heldBy' | 'holders'>): Accounts {
  const closeIn = async (period: string, journal: string, total: number | undefined): Promise<void> => {
    for (;;) {
      const slice = (await store.find(period))?.slices.get(journal);
      if (slice === undefined) return;
      const { seq: from, amount, settled } = slice;
      const spent = Math.min(total ?? settled, mostOfBudget) - settled;
      const change = { from, to: undefined, amount: 0, settled: 0, spent, taken: spent - amount };
      // Its process may have reported in the meantime.
      if (await store.change(period, journal, change)) return;
    }
  };
  return {
    holders: () => store.holders(),
    async close(journal, spent) {
      for (const period of await store.heldBy(journal)) {
        await closeIn(period, journal, spent === undefined ? undefined : (spent.get(period) ?? 0));
      }
    },
  };
}
