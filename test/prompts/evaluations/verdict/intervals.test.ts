import { expect, it } from '@jest/globals';
import { differenceInterval } from '../../../../src/prompts/evaluations/verdict/difference.ts';
import { rateInterval } from '../../../../src/prompts/evaluations/verdict/rate.ts';

it.each([
  [0, 0, 20, -0.1611, 0.1611],
  [0, 0, 100, -0.037, 0.037],
  [3, 3, 100, -0.0592, 0.0592],
  [2, 9, 100, 0.006, 0.1459],
  // Published: https://contingencytables.com, chapter 8 (airway hyper-responsiveness).
  [7, 1, 21, -0.5172, -0.026],
  [20, 0, 20, -1, -0.6777],
  [0, 20, 20, 0.6777, 1],
])('score interval of %i regressed and %i improved of %i', (regressed, improved, cases, lower, upper) => {
  const interval = differenceInterval({ regressed, improved, cases });
  expect(interval.lower).toBeCloseTo(lower, 4);
  expect(interval.upper).toBeCloseTo(upper, 4);
});

it.each([
  [0, 10, 0, 0.3085],
  [8, 10, 0.4439, 0.9748],
  [10, 10, 0.6915, 1],
  [3, 20, 0.0321, 0.3789],
  [9_000, 10_000, 0.894, 0.9058],
])('exact interval of %i of %i', (passed, cases, lower, upper) => {
  const interval = rateInterval(passed, cases);
  expect(interval.lower).toBeCloseTo(lower, 4);
  expect(interval.upper).toBeCloseTo(upper, 4);
});

it('contains the rate that it is for in 95 % of all samples', () => {
  const cases = 30;
  for (const rate of [0.1, 0.5, 0.87]) {
    let [probability, covered] = [(1 - rate) ** cases, 0];
    for (let passed = 0; passed <= cases; passed += 1) {
      const { lower, upper } = rateInterval(passed, cases);
      if (lower <= rate && rate <= upper) covered += probability;
      probability *= ((cases - passed) / (passed + 1)) * (rate / (1 - rate));
    }
    expect(covered).toBeGreaterThanOrEqual(0.95);
  }
});
