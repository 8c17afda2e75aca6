import { root, tail, type Interval } from './interval.ts';

/**
 * The exact interval (95 %) for a rate: a bound is the rate at which what was seen, or more of it, has a probability of 2.5 %.
 *
 * Source: C. Clopper and E. Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
 * Biometrika 26 (1934), https://doi.org/10.1093/biomet/26.4.404
 */
export function rateInterval(passed: number, cases: number): Interval {
  return { lower: lowerBound(passed, cases), upper: 1 - lowerBound(cases - passed, cases) };
}

function lowerBound(passed: number, cases: number): number {
  if (passed <= 0) return 0;
  /** The logarithm of the number of ways to choose what passed. */
  let ways = 0;
  for (let chosen = 1; chosen <= passed; chosen += 1) ways += Math.log((cases - passed + chosen) / chosen);
  /** That this many or more pass, for a rate below the one seen: each number is less probable than the one before it. */
  const probability = (rate: number): number => {
    let term = Math.exp(ways + passed * Math.log(rate) + (cases - passed) * Math.log1p(-rate));
    let sum = 0;
    for (let count = passed; term > sum * Number.EPSILON; count += 1) {
      sum += term;
      term *= ((cases - count) / (count + 1)) * (rate / (1 - rate));
    }
    return sum;
  };
  return root((rate) => tail - probability(rate), 0, passed / cases);
}
