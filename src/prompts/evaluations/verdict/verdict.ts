/**
 * The verdict of an evaluation, by one test that its rule names. It has three outcomes: what the cases cannot decide is
 * neither passed nor failed. Cases without an answer count for the worse in the lower bound, and for the better in the
 * upper one.
 */
import { differenceInterval } from './difference.ts';
import { tail, z, type Interval } from './interval.ts';
import { rateInterval } from './rate.ts';

/** What a candidate has to show, as the contract has it. */
export type Rule =
  /** Its rate of passed cases is at most this much below that of the baseline. */
  { readonly not_worse_by: number } | { readonly min_pass_rate: number } | 'all-pass';

/** Counts of cases, or of groups of them. */
export interface Counts {
  /** All. */
  readonly cases: number;
  /** Those that a side has no answer to. They are in no other number. */
  readonly errors: number;
  /** Of the candidate. */
  readonly passed: number;
  /** Those that only the baseline passes; 0 without one. */
  readonly regressed: number;
  /** Those that only the candidate passes; 0 without a baseline. */
  readonly improved: number;
}

export interface Verdict {
  readonly outcome: 'passed' | 'failed' | 'inconclusive';
  /**
   * 95 %. Of the difference between the rates of candidate and baseline if the rule compares them, else of the candidate's
   * rate.
   */
  readonly interval: Interval;
  /**
   * Of an inconclusive one: how many cases would probably decide at the rates seen. Absent if none would, or if too many
   * have no answer.
   */
  readonly needed?: number;
  /** Whether the candidate is measurably worse or better than the baseline. */
  readonly also?: 'worse' | 'better';
}

export function verdict(rule: Rule, counts: Counts): Verdict {
  if (rule === 'all-pass') return allPass(counts);
  return 'not_worse_by' in rule ? notWorse(rule, counts) : rate(rule, counts);
}

/** The smallest margin that so many cases can show, if no case differs. */
export function smallestMargin(cases: number): number {
  return z ** 2 / (cases + z ** 2);
}

/** The fewest cases with which a candidate can pass; Infinity if it never can. */
export function fewestCases(rule: Rule): number {
  if (rule === 'all-pass') return 1;
  if ('min_pass_rate' in rule) return Math.max(1, Math.ceil(Math.log(1 / tail) / Math.log(1 / rule.min_pass_rate)));
  return Math.floor(z ** 2 / rule.not_worse_by - z ** 2) + 1;
}

function allPass({ cases, errors, passed }: Counts): Verdict {
  const interval = rateOf({ cases, errors, passed });
  if (passed + errors < cases) return { outcome: 'failed', interval };
  return { outcome: errors === 0 && cases > 0 ? 'passed' : 'inconclusive', interval };
}

function notWorse({ not_worse_by: margin }: { readonly not_worse_by: number }, counts: Counts): Verdict {
  const { cases, errors, regressed, improved } = counts;
  const { lower } = differenceInterval({ cases, regressed: regressed + errors, improved });
  const { upper } = differenceInterval({ cases, regressed, improved: improved + errors });
  const interval = { lower, upper };
  const also = upper < 0 ? 'worse' : lower > 0 ? 'better' : undefined;
  if (lower > -margin) return { outcome: 'passed', interval, ...(also && { also }) };
  if (upper < 0) return { outcome: 'failed', interval, also: 'worse' };
  return inconclusive(interval, counts, casesForMargin(margin, counts));
}

function rate(rule: { readonly min_pass_rate: number }, counts: Counts): Verdict {
  const interval = rateOf(counts);
  if (interval.lower >= rule.min_pass_rate) return { outcome: 'passed', interval };
  if (interval.upper < rule.min_pass_rate) return { outcome: 'failed', interval };
  return inconclusive(interval, counts, casesForRate(rule, counts));
}

function rateOf({ cases, errors, passed }: Pick<Counts, 'cases' | 'errors' | 'passed'>): Interval {
  return { lower: rateInterval(passed, cases).lower, upper: rateInterval(passed + errors, cases).upper };
}

/** Of the normal distribution: the probability that a version as good as this one passes is 80 %. */
const zOfPower = 0.8416212335729143;

/** Cases with which the candidate passes at the rates seen; Infinity if it never does. */
function casesForMargin(margin: number, { cases, errors, regressed, improved }: Counts): number {
  const seen = cases - errors;
  const difference = (improved - regressed) / seen;
  if (!(difference > -margin)) return Infinity;
  const variance = (improved + regressed) / seen - difference ** 2;
  let needed = ((z + zOfPower) ** 2 * variance) / (difference + margin) ** 2;
  const passes = (): boolean => {
    const scale = needed / seen;
    const counts = { cases: needed, regressed: regressed * scale, improved: improved * scale };
    return differenceInterval(counts).lower > -margin;
  };
  // With few differences, the interval is wider than the formula expects.
  needed = Math.max(needed, fewestCases({ not_worse_by: margin }));
  while (!passes()) needed *= 1.02;
  return needed;
}

/** Cases that decide at the rate seen, in one direction or the other; Infinity if none do. */
function casesForRate(rule: { readonly min_pass_rate: number }, { cases, errors, passed }: Counts): number {
  const [wanted, seen] = [rule.min_pass_rate, passed / (cases - errors)];
  const deviation = (of: number): number => Math.sqrt(of * (1 - of));
  const needed = ((z * deviation(wanted) + zOfPower * deviation(seen)) / (seen - wanted)) ** 2;
  const fewest = fewestCases({ min_pass_rate: seen > wanted ? wanted : 1 - wanted });
  return Math.max(needed, fewest);
}

function inconclusive(interval: Interval, { cases, errors }: Counts, casesNeeded: number): Verdict {
  const needed = Math.ceil(casesNeeded);
  // As many would have decided, if they had answers.
  const isNeeded = Number.isFinite(needed) && needed > cases - errors;
  return { outcome: 'inconclusive', interval, ...(isNeeded && { needed }) };
}
