/** Failures while a share of the requests ran another version. */
export interface Stage {
  /** The probability with which a request was given to the other version; more than 0 and less than 1. */
  readonly share: number;
  /** Failures of the other version. */
  readonly canary: number;
  /** Failures of the version that the label names. */
  readonly stable: number;
}

/** How many times more often the other version may fail. The evidence is the mean of the evidence for each. */
const ratios = [1.25, 1.5, 2, 3, 5, 10];

/** Evidence from which a canary is ended. At most one in so many canaries of an equal version ever has it. */
export const enoughEvidence = 100;

/** Below the logarithm of the largest number. */
const mostLogarithm = 700;

/**
 * The evidence that the other version fails more often: how much more probable the failures are, in their order, if that is
 * so. If both fail alike, a failure is one of the other version with the probability of its share, however often there are
 * failures. Then no later failure is expected to add to the evidence, which can be looked at after each one.
 *
 * Source: A. Ramdas and others, "Game-theoretic statistics and safe anytime-valid inference", Statistical Science 38 (2023),
 * https://doi.org/10.1214/23-STS894
 *
 * @param stages in any order; several can have the same share
 */
export function evidence(stages: readonly Stage[]): number {
  const logarithms = ratios.map((ratio) => stages.reduce((sum, stage) => sum + gain(stage, ratio), 0));
  const largest = Math.max(...logarithms);
  const sum = logarithms.reduce((total, logarithm) => total + Math.exp(logarithm - largest), 0);
  return Math.exp(Math.min(largest + Math.log(sum / ratios.length), mostLogarithm));
}

/**
 * From which ratio on the failures speak as strongly for "no difference" as {@link enoughEvidence} does against it: at most
 * one in so many versions that fail so many times more often ever looks like this. Undefined if they exclude none.
 */
export function excludedRatio(stages: readonly Stage[]): number | undefined {
  const excluded = ratios.map(
    (ratio) => stages.reduce((sum, stage) => sum - gain(stage, ratio), 0) >= Math.log(enoughEvidence),
  );
  const first = excluded.lastIndexOf(false) + 1;
  return ratios[first];
}

/** The logarithm of how much more probable the failures of a stage are with a ratio than without a difference. */
function gain({ share, canary, stable }: Stage, ratio: number): number {
  // The probability that a failure is one of the other version is share × ratio / all.
  const all = 1 - share + share * ratio;
  return canary * Math.log(ratio) - (canary + stable) * Math.log(all);
}
