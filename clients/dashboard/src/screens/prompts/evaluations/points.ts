/**
 * A share as points of 100, rounded to one digit, or to as many as it takes that it does not look like the margin, which
 * it is above or below.
 */
export function pointsOf(share: number, margin?: number): number {
  for (const digits of [1, 2, 3, 4]) {
    const rounded = Number((share * 100).toFixed(digits));
    if (margin === undefined || share === margin || rounded !== Number((margin * 100).toFixed(4))) return rounded;
  }
  return share * 100;
}
