/**
 * How well a judge agrees with people. If the errors of a judge do not depend on the version that answered, it sees a
 * difference between two versions smaller than it is, by the factor J of Youden: sensitivity + specificity - 1.
 *
 * Source: W. J. Youden, "Index for rating diagnostic tests", Cancer 3 (1950),
 * https://doi.org/10.1002/1097-0142(1950)3:1<32::AID-CNCR2820030106>3.0.CO;2-3
 */
import { rateInterval } from '../verdict/rate.ts';

/** Answers by what a person said, and how many of these the judge passed. */
export interface Agreement {
  readonly passed: { readonly marks: number; readonly judgedPassed: number };
  readonly failed: { readonly marks: number; readonly judgedPassed: number };
}

export interface Calibration {
  readonly marks: number;
  /** The rate of answers passed by people that the judge passes, and its lower bound; the rate is absent without one. */
  readonly sensitivity: Bounded;
  /** The rate of answers failed by people that the judge fails. */
  readonly specificity: Bounded;
  /** J by both lower bounds, so that it is at least this with 95 %; 0 if it could be less. Rounded down. */
  readonly j: number;
}
export interface Bounded {
  readonly rate?: number;
  readonly lower: number;
}

/** What a judge needs before it decides about releases. The contract has the same numbers. */
const fewestMarks = 50;
const leastJ = 0.5;

export function calibrationOf({ passed, failed }: Agreement): Calibration {
  const sensitivity = bounded(passed.judgedPassed, passed.marks);
  const specificity = bounded(failed.marks - failed.judgedPassed, failed.marks);
  const j = roundedDown(Math.max(0, sensitivity.lower + specificity.lower - 1));
  return { marks: passed.marks + failed.marks, sensitivity, specificity, j };
}

/** @returns why these are not enough; undefined if they are */
export function shortfall({ marks, j }: Pick<Calibration, 'marks' | 'j'>): string | undefined {
  if (marks < fewestMarks) return `has ${marks} marks of the ${fewestMarks} that it needs`;
  return j < leastJ ? `agrees too little with people: J is ${j}, and has to be ${leastJ}` : undefined;
}

/** A margin for what a judge sees, of one for what is. */
export function seenMargin(margin: number, j: number): number {
  return roundedDown(margin * j);
}

function bounded(agreeing: number, marks: number): Bounded {
  if (marks === 0) return { lower: 0 };
  return { rate: agreeing / marks, lower: roundedDown(rateInterval(agreeing, marks).lower) };
}

function roundedDown(number: number): number {
  return Math.floor(number * 10_000) / 10_000;
}
