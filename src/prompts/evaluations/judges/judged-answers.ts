/** The answers that a judge has judged, as people mark them: without its judgement, and without the version that answered. */
import { hash } from 'node:crypto';
import { ProblemError } from '../../../base/errors/problem-error.ts';
import type { Turns } from '../../../base/runtime/turns.ts';
import { renderValue } from '../checks/render-value.ts';
import { valueText } from '../checks/check-type.ts';
import type { Case } from '../datasets/dataset.ts';
import type { Datasets } from '../datasets/datasets.ts';
import { casesInOrder } from '../runs/case-order.ts';
import type { Evaluation } from '../runs/evaluation.ts';
import type { Entry } from '../runs/evaluation-store.ts';
import type { EvaluationResults } from '../runs/result-archive.ts';
import { isJudged, judgeKey, judgingOf, type JudgedCheck } from './judge-key.ts';

/** Where an answer is: the line of the results, one of both sides, and the check among those of the evaluation. */
export interface AnswerPlace {
  readonly line: number;
  /** Of two sides, which one is the candidate is drawn for each line. */
  readonly side: 'a' | 'b';
  readonly check: number;
}

export interface JudgedAnswer {
  readonly place: AnswerPlace;
  readonly judgeKey: string;
  readonly judgePasses: boolean;
  readonly check: JudgedCheck;
  readonly output: string;
}

/** An answer with the case that it is to. */
export interface ShownAnswer extends JudgedAnswer {
  readonly case: Case;
  readonly rubric: string;
}

/** A line of the results, as far as it is read here. */
interface Line {
  readonly candidate?: LineSide;
  readonly baseline?: LineSide;
}
interface LineSide {
  readonly answer?: { readonly text: string };
  readonly checks?: readonly { readonly type: string; readonly pass: boolean; readonly judged?: true }[];
}

type Archive = Pick<EvaluationResults, 'read'>;

/** Where answers are, and the cases that they are to. */
export interface AnswerSources {
  readonly results: Archive;
  readonly datasets: Pick<Datasets, 'part'>;
  /** A case can have a quarter of a megabyte, and its rubric, too. */
  readonly turns: Turns;
}

export function answerId({ line, side, check }: AnswerPlace): string {
  return `${line}.${side}.${check}`;
}

export function placeOf(id: string): AnswerPlace {
  const [line, side, check] = id.split('.');
  return { line: Number(line), side: side === 'a' ? 'a' : 'b', check: Number(check) };
}

/**
 * The places in each line: one for each side and each check with a judge. There are none in evaluations of earlier releases,
 * which do not say what their judges called.
 */
export function placesInLine({ checks = [], judges, baseline }: Evaluation): readonly Omit<AnswerPlace, 'line'>[] {
  const judged = checks.flatMap((check, index) =>
    isJudged(check) && judgingOf(judges, check) !== undefined ? [index] : [],
  );
  const sides = baseline === undefined ? (['a'] as const) : (['a', 'b'] as const);
  return sides.flatMap((side) => judged.map((check) => ({ side, check })));
}

/**
 * What is at each place, in the order of the results, which was drawn when the evaluation began; undefined where no answer
 * is kept.
 * @param from the first line
 * @throws {ProblemError} storage-unavailable
 */
export async function* judgedAnswers(
  evaluation: Evaluation,
  entries: readonly Entry[],
  from: number,
  { results, datasets, turns, signal }: AnswerSources & { readonly signal: AbortSignal },
): AsyncGenerator<ShownAnswer | undefined> {
  const places = placesInLine(evaluation);
  const cases = casesInOrder(evaluation, from, datasets, signal);
  let first = 0;
  for (const { name, outcomes } of entries) {
    const end = first + outcomes.length;
    if (end > from) {
      const lines = linesOf(await results.read(name, signal));
      for (let line = Math.max(first, from); line < end; line += 1) {
        const { value: one } = await cases.next();
        // Of one that was erased there is nothing to show.
        const found = one === undefined || one.erased === true ? [] : answersIn(evaluation, line, lines[line - first]);
        for (const place of places) {
          await turns();
          const answer = found.find(({ place: { side, check } }) => side === place.side && check === place.check);
          const shown = answer &&
            one && { ...answer, case: one, rubric: valueText(renderValue(answer.check.value, one)) };
          yield shown;
        }
      }
    }
    first = end;
  }
}

/** @returns undefined if there is none at this place */
export async function findJudgedAnswer(
  evaluation: Evaluation,
  entries: readonly Entry[],
  { line, side, check }: AnswerPlace,
  results: Archive,
  signal: AbortSignal,
): Promise<JudgedAnswer | undefined> {
  let first = 0;
  for (const { name, outcomes } of entries) {
    if (line < first + outcomes.length) {
      const text = linesOf(await results.read(name, signal))[line - first];
      return answersIn(evaluation, line, text).find(({ place }) => place.side === side && place.check === check);
    }
    first += outcomes.length;
  }
  return undefined;
}

export function answerNotFound(): ProblemError {
  return new ProblemError('judged-answer-not-found', { detail: 'The evaluation has no such answer that was judged.' });
}

function answersIn(
  { id, checks = [], judges, baseline: compared }: Evaluation,
  line: number,
  text = '{}',
): JudgedAnswer[] {
  const { candidate, baseline } = JSON.parse(text) as Line;
  const isSwapped =
    compared !== undefined && Number.parseInt(hash('sha256', `${id}/${line}`).slice(0, 1), 16) % 2 === 1;
  const sides = isSwapped ? [baseline, candidate] : [candidate, baseline];
  return (['a', 'b'] as const).flatMap((side, index) =>
    checks.flatMap((check, number): JudgedAnswer[] => {
      const { answer, checks: results } = sides[index] ?? {};
      const result = results?.[number];
      const judging = isJudged(check) ? judgingOf(judges, check) : undefined;
      if (!isJudged(check) || judging === undefined || answer === undefined || result?.judged !== true) return [];
      const judgePasses = result.pass === !check.type.startsWith('not-');
      const place = { line, side, check: number };
      return [{ place, judgeKey: judgeKey(judging, check), judgePasses, check, output: answer.text }];
    }),
  );
}

function linesOf(bytes: Buffer): string[] {
  return bytes.toString('utf8').split('\n').slice(0, -1);
}
