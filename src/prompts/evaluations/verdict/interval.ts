/** Bounds of a rate, or of a difference of rates. */
export interface Interval {
  readonly lower: number;
  readonly upper: number;
}

/** The probability that the truth is above an interval, and that it is below. */
export const tail = 0.025;
/** The quantile of the normal distribution that belongs to it. */
export const z = 1.959963984540054;

/** Where a function that falls from a positive value to a negative one is 0. */
export function root(falling: (at: number) => number, from: number, to: number): number {
  let [low, high] = [from, to];
  // Each step finds one more digit of a double.
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (falling(middle) > 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
