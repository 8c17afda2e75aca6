import { root, z, type Interval } from './interval.ts';

/** Cases that both sides answered. */
export interface Pairs {
  readonly cases: number;
  /** Cases that only the baseline passes. */
  readonly regressed: number;
  /** Cases that only the candidate passes. */
  readonly improved: number;
}

/**
 * The score interval (95 %) for the difference of two rates that were measured with the same cases. Unlike simpler ones, it
 * keeps its promise for few cases, and has a width if no case differs: z²/(n + z²) on both sides.
 *
 * Source: T. Tango, "Equivalence test and confidence interval for the difference in proportions for the paired-sample
 * design", Statistics in Medicine 17 (1998), https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B
 */
export function differenceInterval({ cases, regressed, improved }: Pairs): Interval {
  return { lower: lowerBound(regressed, improved, cases), upper: -lowerBound(improved, regressed, cases) };
}

function lowerBound(b: number, c: number, n: number): number {
  if (b >= n) return -1;
  const excess = (difference: number): number => {
    // The most likely rate of b, if this were the difference.
    const half = -b - c + (2 * n - c + b) * difference;
    const square = half ** 2 + 8 * n * b * difference * (1 - difference);
    const rate = (Math.sqrt(Math.max(square, 0)) - half) / (4 * n);
    const variance = n * (2 * rate + difference * (1 - difference));
    return c - b - n * difference - z * Math.sqrt(Math.max(variance, 0));
  };
  return root(excess, -1, (c - b) / n);
}
