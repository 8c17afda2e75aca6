import { doForEach, isOutage } from '../../base/errors/outage.ts';
import { showMoney } from '../../base/runtime/money.ts';
import { budgetThresholdReached } from '../../webhooks/events/announcements.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';
import { periodOf, type Budget } from './budget.ts';
import type { PeriodSpending, PeriodStore } from './period-store.ts';

/** Announces which parts of the budgets are spent. */
export interface Thresholds {
  /** What is spent in a period, or its limit, has changed. */
  changed(period: string): void;
  /** Announces what has been reached. Call it every {@link checkEveryMs}. @throws {ProblemError} database-unavailable */
  check(): Promise<void>;
}

export interface ThresholdsOptions {
  readonly periods: Pick<PeriodStore, 'spending' | 'announce'>;
  /** All budgets, from memory. */
  readonly budgets: () => readonly Budget[];
  readonly clock: Clock;
  readonly random: Pick<Random, 'uuid'>;
}

export const checkEveryMs = 1_000;
/** How often all periods are checked: what a process reported last before it was killed is found then. */
const checkAllEveryMs = 60_000;

/**
 * Each threshold is announced once in a period, by any number of processes, because the event and the note that it was
 * announced are one conditional write. The relay's poll takes the event from there.
 */
export function createThresholds({ periods, budgets, clock, random }: ThresholdsOptions): Thresholds {
  let waiting = new Set<string>();
  let checkedAllAt = -Infinity;

  const announceIn = async (period: PeriodSpending, budget: Budget): Promise<void> => {
    const { id, limit, spent, since, resetsAt, announced } = period;
    for (const threshold of budget.thresholds) {
      const least = partOf(limit, threshold);
      if (spent < least || announced.includes(threshold)) continue;
      const { name, scope } = budget;
      const event = budgetThresholdReached(
        {
          budgetId: budget.id,
          name,
          scope,
          threshold,
          since,
          resetsAt,
          limit: showMoney(limit),
          spent: showMoney(spent),
        },
        { eventId: random.uuid(), at: clock.now(), traceparent: undefined },
      );
      await periods.announce(id, { threshold, limit, least }, event);
    }
  };

  return {
    changed(period) {
      waiting.add(period);
    },
    async check() {
      const checkedAt = clock.monotonic();
      const isForAll = checkedAt - checkedAllAt >= checkAllEveryMs;
      if (!isForAll && waiting.size === 0) return;
      const announcing = new Map(
        budgets().flatMap((one) => (one.thresholds.length > 0 ? [[one.id, one] as const] : [])),
      );
      const changed = waiting;
      waiting = new Set();
      const wanted = new Set([...changed].filter((period) => announcing.has(budgetIdOf(period))));
      if (isForAll)
        for (const budget of announcing.values()) for (const id of lastPeriods(budget, clock.now())) wanted.add(id);
      if (isForAll) checkedAllAt = checkedAt;
      try {
        const found = wanted.size === 0 ? [] : await periods.spending([...wanted]);
        await doForEach(found, async (period) => {
          const budget = announcing.get(budgetIdOf(period.id));
          if (budget !== undefined) await announceIn(period, budget);
        });
      } catch (error) {
        // After another error, the next check of all periods announces it.
        if (isOutage(error)) {
          for (const period of changed) waiting.add(period);
          if (isForAll) checkedAllAt = -Infinity;
        }
        throw error;
      }
    },
  };
}

/** The current period, and the one before: costs of calls can be reported after its end. */
function lastPeriods(budget: Budget, now: Date): string[] {
  const { id, since, resetsAt } = periodOf(budget, now);
  return resetsAt === undefined ? [id] : [id, periodOf(budget, new Date(since.getTime() - 1)).id];
}

/** The first part of the id of a period. */
function budgetIdOf(period: string): string {
  return period.slice(0, period.indexOf('|'));
}

/** What must be spent for it: at least something. */
function partOf(limit: bigint, percent: number): bigint {
  const part = (limit * BigInt(percent) + 99n) / 100n;
  return part > 0n ? part : 1n;
}
