import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { evidence, excludedRatio, type Stage } from '../../../../src/prompts/evaluations/canaries/evidence.ts';

const stage = (share: number, canary: number, stable: number): Stage => ({ share, canary, stable });

describe('evidence', () => {
  it.each([
    [0.1, 0, 0, 1],
    [0.1, 8, 20, 16.71],
    [0.1, 6, 20, 3.25],
    [0.1, 5, 5, 54.96],
    [0.5, 15, 3, 35.69],
  ])('with share %d, %i failures of the other version and %i of the stable one', (share, canary, stable, expected) => {
    expect(evidence([stage(share, canary, stable)])).toBeCloseTo(expected, 2);
  });

  it('multiplies stages for each ratio, before the mean', () => {
    expect(evidence([stage(0.1, 3, 5), stage(0.1, 5, 15)])).toBeCloseTo(16.71, 2);
    const [first, second] = [stage(0.1, 5, 5), stage(0.5, 15, 3)];
    const both = evidence([first, second]);
    expect(both).toBeCloseTo(evidence([second, first]), 6);
    // Both point to the same ratios, so that they say more together than by themselves.
    expect(both).toBeGreaterThan(evidence([first]) * evidence([second]));
  });

  it('stays a number for any counts', () => {
    expect(evidence([stage(0.05, 1_000_000, 0)])).toBe(Math.exp(700));
    expect(evidence([stage(0.5, 0, 1_000_000)])).toBe(0);
  });

  it('is not expected to change by a failure if both versions fail alike', () => {
    const count = fc.nat(30);
    const share = fc.double({ min: 0.01, max: 0.5, noNaN: true });
    fc.assert(
      fc.property(share, share, count, count, count, count, (before, now, ...counts) => {
        const [canary = 0, stable = 0, newCanary = 0, newStable = 0] = counts;
        const of = (more: number, others: number): number =>
          evidence([stage(before, canary, stable), stage(now, newCanary + more, newStable + others)]);
        expect((now * of(1, 0) + (1 - now) * of(0, 1)) / of(0, 0)).toBeCloseTo(1, 9);
      }),
    );
  });
});

// Natural logarithms: with a share of a half, 12 failures of the stable version alone speak against twice as many with
// 12 ln(3/2) = 4.87 > ln 100 = 4.61, and against 1.5 times as many with 12 ln(5/4) = 2.68.
describe('what failures exclude', () => {
  it.each([
    [0.5, 0, 12, 2],
    [0.5, 0, 1_000, 1.25],
    [0.5, 10, 10, 5],
    [0.5, 0, 0, undefined],
    [0.5, 15, 3, undefined],
  ])('with share %d, %i failures of the other version and %i of the stable one', (share, canary, stable, expected) => {
    expect(excludedRatio([stage(share, canary, stable)])).toBe(expected);
  });
});
