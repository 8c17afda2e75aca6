import { doForEach, isOutage } from '../../base/errors/outage.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { showMoney } from '../../base/runtime/money.ts';
import type { Random } from '../../base/runtime/random.ts';
import { budgetRefusing } from '../../webhooks/events/announcements.ts';
import type { Budget } from './budget.ts';
import type { PeriodStore, PeriodTerms, Refused } from './period-store.ts';

/** Notes which budgets refuse calls, and announces the first refusal in a period. */
export interface Refusals {
  /** A budget has refused a call. @param began when its invocation did, so that a list since then has it */
  add(budget: Budget, terms: PeriodTerms, began: Date): void;
  /** Writes what is not written yet. Call it every second. @throws {ProblemError} database-unavailable */
  report(): Promise<void>;
}

export interface RefusalsOptions {
  readonly periods: Pick<PeriodStore, 'ensure' | 'refuse'>;
  readonly clock: Clock;
  readonly random: Pick<Random, 'uuid'>;
}

interface Noted extends Refused {
  readonly budget: Budget;
  readonly terms: PeriodTerms;
}

/**
 * Each process writes how many calls it has refused in a period since the budget was set, in all, so that a write can be
 * repeated.
 */
export function createRefusals({ periods, clock, random }: RefusalsOptions): Refusals {
  const reporter = random.uuid();
  const noted = new Map<string, Noted>();
  let waiting = new Set<string>();

  const write = async ({ budget, terms, ...refused }: Noted): Promise<void> => {
    const { name, scope, limit } = budget;
    const { since, resetsAt } = terms;
    const event = budgetRefusing(
      { budgetId: budget.id, name, scope, limit: showMoney(BigInt(limit)), since, resetsAt },
      { eventId: random.uuid(), at: clock.now(), traceparent: undefined },
    );
    // A call that is larger than the whole budget is refused before anything is taken.
    await periods.ensure(terms);
    await periods.refuse(terms, reporter, refused, event);
  };

  return {
    add(budget, terms, began) {
      const before = noted.get(terms.id);
      const { calls = 0, since = began } = before?.terms.revision === terms.revision ? before : {};
      const first = since < began ? since : began;
      noted.set(terms.id, { budget, terms, calls: calls + 1, since: first, last: clock.now() });
      waiting.add(terms.id);
    },
    async report() {
      const now = clock.now();
      const ids = waiting;
      waiting = new Set();
      try {
        await doForEach(ids, async (id) => {
          const found = noted.get(id);
          if (found !== undefined) await write(found);
        });
      } catch (error) {
        // After another error, the next refusal writes it.
        if (isOutage(error)) for (const id of ids) waiting.add(id);
        throw error;
      }
      for (const [id, { terms }] of noted) {
        if (terms.resetsAt !== undefined && terms.resetsAt <= now && !waiting.has(id)) noted.delete(id);
      }
    },
  };
}
