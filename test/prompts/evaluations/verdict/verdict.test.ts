import { describe, expect, it } from '@jest/globals';
import {
  fewestCases,
  smallestMargin,
  verdict,
  type Counts,
  type Rule,
  type Verdict,
} from '../../../../src/prompts/evaluations/verdict/verdict.ts';

const counts = (some: Partial<Counts>): Counts => ({
  cases: 100,
  errors: 0,
  passed: 0,
  regressed: 0,
  improved: 0,
  ...some,
});
const judge = (rule: Rule, some: Partial<Counts>): Verdict => verdict(rule, counts(some));
const within: Rule = { not_worse_by: 0.05 };

describe('not_worse_by', () => {
  it.each<[number, number, number, Omit<Verdict, 'interval'>]>([
    [0, 0, 73, { outcome: 'passed' }],
    [2, 9, 100, { outcome: 'passed', also: 'better' }],
    [9, 2, 100, { outcome: 'failed', also: 'worse' }],
    [14, 2, 1_000, { outcome: 'passed', also: 'worse' }],
    [0, 0, 72, { outcome: 'inconclusive', needed: 73 }],
    [6, 6, 60, { outcome: 'inconclusive', needed: 628 }],
    // 7.85 (p - d²) / (d + margin)², with p = 0.1 and d = -0.01.
    [11, 9, 200, { outcome: 'inconclusive', needed: 491 }],
    // The formula says 49, with which the interval would be too wide.
    [1, 0, 100, { outcome: 'inconclusive', needed: 116 }],
    // At these rates no number of cases shows it.
    [5, 0, 100, { outcome: 'failed', also: 'worse' }],
    [3, 0, 60, { outcome: 'inconclusive' }],
  ])('%i regressed, %i improved of %i: %j', (regressed, improved, cases, expected) => {
    const { interval, ...rest } = judge(within, { regressed, improved, cases });
    expect(rest).toEqual(expected);
    expect(interval.lower).toBeLessThan((improved - regressed) / cases + 1e-9);
    expect(interval.upper).toBeGreaterThan((improved - regressed) / cases - 1e-9);
  });

  it('counts what has no answer for the worse and for the better', () => {
    const { outcome, interval, ...rest } = judge(within, { errors: 10 });
    expect([outcome, rest]).toEqual(['inconclusive', {}]);
    expect(interval.lower).toBeCloseTo(judge(within, { regressed: 10 }).interval.lower, 12);
    expect(interval.upper).toBeCloseTo(judge(within, { improved: 10 }).interval.upper, 12);
    expect(judge(within, { regressed: 9, improved: 2, errors: 1 }).outcome).toBe('inconclusive');
    expect(judge(within, { errors: 2, cases: 200 }).outcome).toBe('passed');
  });

  it('decides nothing without cases', () => {
    expect(judge(within, { cases: 0 })).toEqual({ outcome: 'inconclusive', interval: { lower: -1, upper: 1 } });
    expect(judge(within, { cases: 3, errors: 3 })).toEqual({
      outcome: 'inconclusive',
      interval: { lower: -1, upper: 1 },
    });
  });
});

describe('min_pass_rate', () => {
  const rule: Rule = { min_pass_rate: 0.9 };

  it.each<[number, number, Omit<Verdict, 'interval'>]>([
    [36, 36, { outcome: 'passed' }],
    [35, 35, { outcome: 'inconclusive', needed: 36 }],
    [96, 100, { outcome: 'passed' }],
    [95, 100, { outcome: 'inconclusive', needed: 239 }],
    [83, 100, { outcome: 'failed' }],
    [84, 100, { outcome: 'inconclusive', needed: 224 }],
    [90, 100, { outcome: 'inconclusive' }],
    [0, 1, { outcome: 'inconclusive', needed: 2 }],
    [0, 2, { outcome: 'failed' }],
    [0, 0, { outcome: 'inconclusive' }],
  ])('%i of %i: %j', (passed, cases, expected) => {
    const { interval, ...rest } = judge(rule, { passed, cases });
    expect(rest).toEqual(expected);
    expect(interval.lower >= 0.9).toBe(expected.outcome === 'passed');
    expect(interval.upper < 0.9).toBe(expected.outcome === 'failed');
  });

  it('counts what has no answer for the worse and for the better', () => {
    const { outcome, interval } = judge(rule, { passed: 80, errors: 16 });
    expect(outcome).toBe('inconclusive');
    expect(interval.lower).toBeCloseTo(judge(rule, { passed: 80 }).interval.lower, 12);
    expect(interval.upper).toBeCloseTo(judge(rule, { passed: 96 }).interval.upper, 12);
    expect(judge(rule, { passed: 96, errors: 4 }).outcome).toBe('passed');
  });
});

describe('all-pass', () => {
  it.each<[Partial<Counts>, Verdict['outcome']]>([
    [{ cases: 10, passed: 10 }, 'passed'],
    [{ cases: 10, passed: 9 }, 'failed'],
    [{ cases: 10, passed: 9, errors: 1 }, 'inconclusive'],
    [{ cases: 10, passed: 8, errors: 1 }, 'failed'],
    [{ cases: 0 }, 'inconclusive'],
  ])('%j: %s', (some, outcome) => {
    expect(judge('all-pass', some)).toEqual({ outcome, interval: judge({ min_pass_rate: 0.5 }, some).interval });
  });
});

describe('what cases can show', () => {
  it.each([
    [50, 0.071],
    [74, 0.049],
  ])('of %i cases', (cases, margin) => {
    expect(smallestMargin(cases)).toBeCloseTo(margin, 3);
    expect(judge({ not_worse_by: smallestMargin(cases) + 1e-9 }, { cases }).outcome).toBe('passed');
    expect(judge({ not_worse_by: smallestMargin(cases) - 1e-9 }, { cases }).outcome).toBe('inconclusive');
  });

  it.each<[Rule, number]>([
    [within, 73],
    [{ not_worse_by: 0.01 }, 381],
    [{ not_worse_by: 1 }, 1],
    [{ min_pass_rate: 0.9 }, 36],
    [{ min_pass_rate: 0.99 }, 368],
    [{ min_pass_rate: 0 }, 1],
    ['all-pass', 1],
  ])('%j needs %i cases', (rule, cases) => {
    expect(fewestCases(rule)).toBe(cases);
    expect(judge(rule, { cases, passed: cases }).outcome).toBe('passed');
    if (cases > 1) expect(judge(rule, { cases: cases - 1, passed: cases - 1 }).outcome).toBe('inconclusive');
  });

  it.each<Rule>([{ not_worse_by: 0 }, { min_pass_rate: 1 }])('%j cannot be shown', (rule) => {
    expect(fewestCases(rule)).toBe(Infinity);
  });
});
