import { mostOfBudget } from '../../base/runtime/money.ts';
import type { PeriodStore, Slice } from './period-store.ts';

/** Counts what journals hold of budgets whose processes have ended. Any process may do it, also several at a time. */
export interface Accounts {
  /** Of all periods. Read it before the journals: what has a slice and no journal has ended. */
  holders(): Promise<ReadonlySet<string>>;
  /** What a journal holds, by period. */
  slicesOf(journal: string): Promise<ReadonlyMap<string, Slice>>;
  /**
   * Moves what a closed journal has spent to its periods, and returns the rest. Its slices stay as long as the journal:
   * if its process takes late for the first time, or another process knows the same costs, they show what is moved.
   * @param slices as they were read while the journal was there: those of a removed journal show less
   * @param spent by its calls in all, by period, in nano-dollars
   * @returns false if a slice has changed, so that the journal is still needed
   */
  settle(journal: string, slices: ReadonlyMap<string, Slice>, spent: ReadonlyMap<string, number>): Promise<boolean>;
  /** Removes the slices of a journal that is removed, and returns what its process has taken since. */
  remove(journal: string): Promise<void>;
}

/** No change by the process of a journal has it. */
const settledSeq = -1;

export function createAccounts(store: Pick<PeriodStore, 'change' | 'slicesOf' | 'holders'>): Accounts {
  return {
    holders: () => store.holders(),
    slicesOf: (journal) => store.slicesOf(journal),
    async settle(journal, slices, spentBy) {
      let isSettled = true;
      for (const [period, { seq: from, amount, settled }] of slices) {
        const spent = Math.min(spentBy.get(period) ?? 0, mostOfBudget) - settled;
        if (spent === 0 && amount === 0) continue;
        const change = { from, to: settledSeq, amount: -amount, settled: spent, spent, taken: spent - amount };
        if (!(await store.change(period, journal, change))) isSettled = false;
      }
      return isSettled;
    },
    async remove(journal) {
      for (const [period, { seq: from, amount }] of await store.slicesOf(journal)) {
        const change = { from, to: undefined, amount: 0, settled: 0, spent: 0, taken: -amount };
        await store.change(period, journal, change);
      }
    },
  };
}
