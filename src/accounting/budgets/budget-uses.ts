import type { Clock } from '../../base/runtime/clock.ts';
import { periodOf, type Budget } from './budget.ts';
import type { PeriodStore } from './period-store.ts';

/** A budget for metrics. Amounts are nano-dollars. */
export interface BudgetUse {
  readonly name: string;
  readonly limit: number;
  /** In the current period, as it was read last. */
  readonly spent: bigint;
  /** Calls that it refused in this process. */
  readonly refused: number;
}

/** What metrics show of budgets. */
export interface BudgetUses {
  all(): BudgetUse[];
  /** A call was refused. @param name of the budget */
  refused(name: string): void;
  /** Reads what is spent. @throws {ProblemError} database-unavailable */
  read(): Promise<void>;
}

/** How often it is read, in milliseconds. */
export const readEveryMs = 5_000;
/** Some servers need time that grows with the square of this number. */
const periodsAtOnce = 100;

/** @param budgets all of them, from memory */
export function createBudgetUses(
  periods: Pick<PeriodStore, 'spending'>,
  budgets: () => readonly Budget[],
  clock: Pick<Clock, 'now'>,
): BudgetUses {
  /** By the id of the budget. */
  let spent = new Map<string, bigint>();
  /** By name. */
  const refusals = new Map<string, number>();
  return {
    all: () =>
      budgets().map(({ id, name, limit }) => {
        return { name, limit, spent: spent.get(id) ?? 0n, refused: refusals.get(name) ?? 0 };
      }),
    refused(name) {
      refusals.set(name, (refusals.get(name) ?? 0) + 1);
    },
    async read() {
      const now = clock.now();
      const current = new Map(budgets().map((budget) => [periodOf(budget, now).id, budget.id]));
      const ids = [...current.keys()];
      const found = new Map<string, bigint>();
      for (let start = 0; start < ids.length; start += periodsAtOnce) {
        for (const period of await periods.spending(ids.slice(start, start + periodsAtOnce))) {
          found.set(current.get(period.id) ?? '', period.spent);
        }
      }
      spent = found;
      const names = new Set(budgets().map(({ name }) => name));
      for (const name of refusals.keys()) if (!names.has(name)) refusals.delete(name);
    },
  };
}
