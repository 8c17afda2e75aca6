import { showMoney } from '../../base/runtime/money.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { PeriodTerms } from './period-store.ts';

/** What a call may cost, in each of the periods that it belongs to. */
export interface Claim {
  readonly periods: readonly PeriodTerms[];
  /** In nano-dollars. */
  readonly amount: number;
  /** The API key whose calls count together, with those of the keys that it led to. */
  readonly payer: string;
}

/**
 * What the calls in progress of each key hold of budgets that others share: at most a quarter of the limit. So nobody
 * empties a budget with calls that hang, or with one that could cost nearly all of it. Each process counts for itself.
 */
export interface Shares {
  /**
   * Adds a call to what its key holds of each of its periods. It waits, once, for calls of this key that end.
   * @throws {ProblemError} budget-exceeded
   */
  take(claim: Claim): Promise<void>;
  /** @param amount of the claim, or a part of it */
  release(claim: Pick<Claim, 'payer' | 'periods'>, amount: number): void;
}

/** The part of a budget that a key can hold: one of these. */
const partsOfBudget = 4;

/** @param wait how long a call waits for others of its key */
export function createShares(wait: () => Promise<unknown>): Shares {
  const held = new Map<string, number>();
  let freed = Promise.withResolvers<false>();

  const nameOf = ({ id }: PeriodTerms, payer: string): string => `${id} ${payer}`;
  const heldOf = (terms: PeriodTerms, payer: string): number => held.get(nameOf(terms, payer)) ?? 0;

  return {
    async take({ periods, amount, payer }) {
      const shared = periods.filter(({ isShared }) => isShared);
      const tooMuch = shared.find(({ limit }) => amount > limit / partsOfBudget);
      if (tooMuch !== undefined) throw aboveShare(tooMuch);
      let waited: Promise<boolean> | undefined;
      for (let isLast = false; ;) {
        const full = shared.find((terms) => heldOf(terms, payer) + amount > terms.limit / partsOfBudget);
        if (full === undefined) break;
        if (isLast) throw shareHeld(full, heldOf(full, payer));
        waited ??= wait().then(() => true);
        isLast = await Promise.race([waited, freed.promise]);
      }
      for (const terms of shared) held.set(nameOf(terms, payer), heldOf(terms, payer) + amount);
    },
    release({ periods, payer }, amount) {
      for (const terms of periods) {
        if (!terms.isShared) continue;
        const left = heldOf(terms, payer) - amount;
        if (left > 0) held.set(nameOf(terms, payer), left);
        else held.delete(nameOf(terms, payer));
      }
      freed.resolve(false);
      freed = Promise.withResolvers();
    },
  };
}

function aboveShare({ budget, limit }: PeriodTerms): ProblemError {
  return refused(
    budget,
    'call-above-share',
    `The call alone could cost more than a quarter of the budget "${budget}", which is the most that one caller can hold of it at a time. Use a smaller max_output_tokens.`,
    limit / partsOfBudget,
  );
}

function shareHeld({ budget, limit }: PeriodTerms, holds: number): ProblemError {
  return refused(
    budget,
    'share-in-use',
    `The calls in progress of this caller could cost a quarter of the budget "${budget}", which is the most that one caller can hold of it at a time. Try again when some have ended.`,
    limit / partsOfBudget - holds,
  );
}

/** @param left of the share, in nano-dollars */
function refused(
  budget: string,
  cause: 'call-above-share' | 'share-in-use',
  detail: string,
  left: number,
): ProblemError {
  return new ProblemError('budget-exceeded', {
    detail,
    headers: { 'x-should-retry': 'false' },
    extensions: { budget, cause, left: showMoney(BigInt(Math.max(0, Math.trunc(left)))) },
  });
}
