import { setTimeout as sleep } from 'node:timers/promises';
import type { Basis } from '../../storage/db/basis.ts';
import type { Chore } from '../../base/runtime/maintenance.ts';
import { createAccounts } from './accounts.ts';
import { Allowance, patienceMs } from './allowance.ts';
import { budgetOperations } from './budget-operations.ts';
import { createBudgetUses, readEveryMs } from './budget-uses.ts';
import { createBudgetStore } from './budget-store.ts';
import { createBudgets, refreshEveryMs, type BudgetsOptions } from './budgets.ts';
import { createPeriodStore, type PeriodStore } from './period-store.ts';
import { createRefusals } from './refusals.ts';
import { createShares } from './shares.ts';
import { checkEveryMs, createThresholds } from './thresholds.ts';

/** @param onExcess called for each call that has cost more than the most that it could cost */
export function createBudgetFeature(
  { database, clock, random }: Basis,
  onExcess: BudgetsOptions['onExcess'] = () => undefined,
) {
  const periods = createPeriodStore(database);
  const thresholds = createThresholds({ periods, budgets: () => budgets.known(), clock, random });
  const store: PeriodStore = {
    ...periods,
    async ensure(terms) {
      await periods.ensure(terms);
      thresholds.changed(terms.id);
    },
    async change(id, journal, change) {
      const isChanged = await periods.change(id, journal, change);
      if (isChanged && change.spent > 0) thresholds.changed(id);
      return isChanged;
    },
  };
  const refusals = createRefusals({ periods, clock, random });
  const uses = createBudgetUses(periods, () => budgets.known(), clock);
  const budgets = createBudgets({
    ...{ store: createBudgetStore(database), periods: store, clock, random, onExcess },
    onRefused: (budget, terms, began) => {
      uses.refused(budget.name);
      refusals.add(budget, terms, began);
    },
  });
  const { monotonic } = clock;
  const shares = createShares(() => sleep(patienceMs));
  const chores: readonly Chore[] = [
    { name: 'budgets', everyMs: refreshEveryMs, onlyReads: true, run: () => budgets.refresh() },
    { name: 'use of budgets', everyMs: readEveryMs, onlyReads: true, run: () => uses.read() },
    { name: 'thresholds of budgets', everyMs: checkEveryMs, run: () => thresholds.check() },
    { name: 'refusals of budgets', everyMs: checkEveryMs, run: () => refusals.report() },
  ];
  return {
    budgets,
    uses,
    chores,
    accounts: createAccounts(store),
    createAllowance: (journal: string): Allowance => new Allowance({ journal, store, shares, monotonic, sleep }),
    operations: budgetOperations(budgets),
  };
}
