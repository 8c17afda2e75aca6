import type { Usage } from '../../models/language-model.ts';
import { roundUp, type NanoDollars } from '../../base/runtime/money.ts';

/** What the tokens of a model cost, as far as the conditions of the rate hold. Amounts are in 10^-15 dollars a token. */
export interface Rate {
  /** Holds from then on. */
  readonly from?: Date;
  /** Holds every day in these hours, in seconds from midnight UTC. The end can be smaller: then it is the next day's. */
  readonly daily?: { readonly start: number; readonly end: number };
  /** Holds for all tokens of calls with more input tokens. */
  readonly aboveInputTokens?: number;
  readonly input: bigint;
  readonly cachedInput: bigint;
  readonly cacheWrite: bigint;
  readonly cacheWrite1h: bigint;
  readonly output: bigint;
  /** In addition for each call, in 10^-15 dollars. */
  readonly call: bigint;
}

/**
 * What a call costs.
 *
 * @param rates of the model. Of those whose conditions hold, the last one counts.
 * @param at when the call began
 * @returns undefined if no rate applies, if the provider did not give the numbers of input and output tokens, or if its
 *   numbers contradict each other
 */
export function costOf<R extends Rate>(
  rates: readonly R[],
  usage: Usage,
  at: Date,
): { readonly amount: NanoDollars; readonly rate: R } | undefined {
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWrite1hInputTokens: hour = 0 } = usage;
  const { cacheWriteInputTokens: written = hour } = usage;
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const rate = rateOf(rates, inputTokens, at);
  const plain = inputTokens - cachedInputTokens - written;
  if (rate === undefined || plain < 0 || hour > written) return undefined;
  const sum =
    BigInt(plain) * rate.input +
    BigInt(cachedInputTokens) * rate.cachedInput +
    BigInt(written - hour) * rate.cacheWrite +
    BigInt(hour) * rate.cacheWrite1h +
    BigInt(outputTokens) * rate.output +
    rate.call;
  return { amount: roundUp(sum), rate };
}

/**
 * The most that a call with so many tokens costs: at the dearest rate that may hold at some hour and length, with all of
 * the input at its dearest.
 *
 * @param rates as for {@link costOf}
 * @returns undefined if no rate may apply
 */
export function ceilingOf<R extends Rate>(
  rates: readonly R[],
  { inputTokens, outputTokens }: { readonly inputTokens: number; readonly outputTokens: number },
  at: Date,
): { readonly amount: NanoDollars; readonly rate: R } | undefined {
  const possible = rates.filter(
    ({ from, aboveInputTokens: above = -1 }) => (from === undefined || at >= from) && inputTokens > above,
  );
  // What precedes a rate that holds at every hour and length never counts.
  const first = possible.findLastIndex(
    ({ daily, aboveInputTokens }) => daily === undefined && aboveInputTokens === undefined,
  );
  return possible.slice(Math.max(0, first)).reduce<{ amount: NanoDollars; rate: R } | undefined>((dearest, rate) => {
    const { cachedInput, cacheWrite, cacheWrite1h } = rate;
    const input = [cachedInput, cacheWrite, cacheWrite1h].reduce((most, one) => (one > most ? one : most), rate.input);
    const amount = roundUp(BigInt(inputTokens) * input + BigInt(outputTokens) * rate.output + rate.call);
    return dearest !== undefined && dearest.amount >= amount ? dearest : { amount, rate };
  }, undefined);
}

/** The rate for a call with so many input tokens that begins then. */
export function rateOf<R extends Rate>(rates: readonly R[], inputTokens: number, at: Date): R | undefined {
  return rates.findLast((rate) => applies(rate, inputTokens, at));
}

function applies({ from, daily, aboveInputTokens }: Rate, inputTokens: number, at: Date): boolean {
  if (aboveInputTokens !== undefined && inputTokens <= aboveInputTokens) return false;
  if (from !== undefined && at < from) return false;
  if (daily === undefined) return true;
  const { start, end } = daily;
  const second = (at.getTime() / 1_000) % secondsOfDay;
  return start <= end ? second >= start && second < end : second >= start || second < end;
}

const secondsOfDay = 86_400;
