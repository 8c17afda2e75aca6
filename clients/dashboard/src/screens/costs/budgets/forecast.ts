import type { Schemas } from 'prompt-gateway-client';

/** What is spent at the end of the period at the pace so far, in dollars. */
export interface Forecast {
  readonly spent: number;
  /** When the limit is reached, if that is before the end (ISO 8601). */
  readonly reachedAt: string | undefined;
}

/** Of a period, or of what of it the budget counts. After less than that, the pace says little. */
const leastShare = 0.1;

/**
 * Spending at the pace so far. There is none before a tenth of the period is over, and where nothing is spent or the
 * period has no end. A budget that was created within the period is measured from then on.
 */
export function forecastOf(budget: Schemas['Budget'], now: number): Forecast | undefined {
  const { since, resets_at: end, spent } = budget.current;
  if (end === undefined) return undefined;
  const begin = Math.max(Date.parse(since), Date.parse(budget.started_at));
  const [elapsed, whole] = [now - begin, Date.parse(end) - begin];
  const amount = Number(spent.amount);
  if (elapsed < leastShare * whole || elapsed > whole || amount <= 0) return undefined;
  const pace = amount / elapsed;
  const atEnd = pace * whole;
  const limit = Number(budget.limit.amount);
  const isReached = amount < limit && atEnd > limit;
  return { spent: atEnd, reachedAt: isReached ? new Date(begin + limit / pace).toISOString() : undefined };
}

/** How a budget stands. */
export type BudgetStanding = 'refusing' | 'usedUp' | 'tight' | 'runsOut' | 'within';

/** From this share of the limit on, a budget is nearly used up. */
const tightShare = 0.9;

/** How a budget stands, the most urgent first. */
export function standingOf({ limit, current }: Schemas['Budget'], forecast: Forecast | undefined): BudgetStanding {
  if (current.refusing !== undefined) return 'refusing';
  const [most, spent] = [Number(limit.amount), Number(current.spent.amount)];
  if (spent >= most) return 'usedUp';
  if (spent >= tightShare * most) return 'tight';
  return forecast?.reachedAt === undefined ? 'within' : 'runsOut';
}
