import type { components } from '../../../../generated/types.ts';
import { createFairQueue } from '../../../base/limits/fair-queue.ts';
import { authorOf, type Principal } from '../../../base/limits/principal.ts';
import type { Reach } from '../../../base/limits/reach.ts';
import { totalOf, withLookUp, type Listing } from '../../../base/lists/listing.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import { createTurns } from '../../../base/runtime/turns.ts';
import type { Planner } from '../../generation/planner.ts';
import type { Check } from '../checks/check-answer.ts';
import type { Evaluations } from '../runs/evaluations.ts';
import { calibrationOf, type Calibration } from './calibration.ts';
import { isJudged, judgeKey, judgingOf, type Judging } from './judge-key.ts';
import {
  answerId,
  answerNotFound,
  findJudgedAnswer,
  judgedAnswers,
  placeOf,
  placesInLine,
  type AnswerSources,
  type ShownAnswer,
} from './judged-answers.ts';
import { findJudging } from './judges.ts';
import type { Mark, MarkStore } from './mark-store.ts';

type Schemas = components['schemas'];

/** A judge among checks, and how well it agrees with people. */
export interface CalibratedJudge extends Calibration {
  /** Index of its check. */
  readonly check: number;
  readonly judging: Judging;
}

/** Marks of answers by people. Every method can throw `database-unavailable` and `storage-unavailable`. */
export interface Marks {
  /**
   * The answers that were judged, with their marks.
   * @param signal ends the wait for the storage
   * @throws {ProblemError} evaluation-not-found, evaluation-running, evaluation-results-deleted
   */
  answers(id: string, signal: AbortSignal): Promise<Listing<{ answer: ShownAnswer; mark: Mark | undefined }>>;
  /** @throws {ProblemError} judged-answer-not-found, and as `answers` */
  set(
    id: string,
    answer: string,
    pass: boolean,
    by: Pick<Principal, 'kind' | 'id' | 'name' | 'family'>,
    signal: AbortSignal,
  ): Promise<Mark>;
  /** How well the judges of an evaluation agree with all marks of them. @throws {ProblemError} evaluation-not-found */
  ofEvaluation(id: string): Promise<readonly CalibratedJudge[]>;
  /** How well these judges of checks agree with all marks of them. */
  ofJudges(checks: readonly Check[], judges: readonly Judging[] | undefined): Promise<readonly CalibratedJudge[]>;
  /**
   * The judges of checks, with the models that they call now; without those that cannot judge.
   * @param reach of who asks; undefined for whoever may call everything
   * @throws {ProblemError} what an invocation throws
   */
  judging(checks: readonly Check[], reach: Reach | undefined): Promise<readonly Judging[]>;
}

export interface MarksDependencies extends Omit<AnswerSources, 'turns'> {
  readonly store: MarkStore;
  readonly evaluations: Pick<Evaluations, 'get' | 'entries'>;
  readonly planner: Pick<Planner, 'fromPrompt'>;
  readonly clock: Pick<Clock, 'now'>;
}

export function createMarks(dependencies: MarksDependencies): Marks {
  const { store, evaluations, results, planner, clock } = dependencies;
  const sources = { ...dependencies, turns: createTurns() };
  // Each mark reads an object of a megabyte or more.
  const reading = createFairQueue({ places: 1 });
  const ofJudges: Marks['ofJudges'] = async (checks, judges) => {
    const found = checks.map(async (check, index): Promise<CalibratedJudge[]> => {
      const judging = isJudged(check) ? judgingOf(judges, check) : undefined;
      if (judging === undefined) return [];
      return [{ check: index, judging, ...calibrationOf(await store.agreement(judgeKey(judging, check))) }];
    });
    return (await Promise.all(found)).flat();
  };

  return {
    async answers(id, signal) {
      const { evaluation, entries } = await evaluations.entries(id);
      const places = placesInLine(evaluation).length;
      const lines = entries.reduce((sum, { outcomes }) => sum + outcomes.length, 0);
      const listing: Listing<ShownAnswer> = {
        async *entries(start, most) {
          // In a list by place, a position is a number.
          const skipped = 'after' in start ? start.after.at + 1 : start.offset;
          if (places === 0) return;
          const from = Math.floor(skipped / places);
          let at = from * places;
          for await (const answer of judgedAnswers(evaluation, entries, from, { ...sources, signal })) {
            if (at >= skipped + most) return;
            if (at >= skipped) yield [{ at, id: '' }, answer];
            at += 1;
          }
        },
        // Those that are not kept count, too.
        total: () => Promise.resolve(totalOf(places * lines)),
      };
      return withLookUp(listing, async (answers) => {
        const found = await store.find(answers.map(({ place }) => markId(id, answerId(place))));
        return (answer) => ({ answer, mark: found.get(markId(id, answerId(answer.place))) });
      });
    },
    async set(id, answer, pass, by, signal) {
      const { evaluation, entries } = await evaluations.entries(id);
      const leave = await reading.enter({ key: by.family, signal });
      const judged = await findJudgedAnswer(evaluation, entries, placeOf(answer), results, signal).finally(leave);
      if (judged === undefined) throw answerNotFound();
      const said = { judgeKey: judged.judgeKey, judgePasses: judged.judgePasses };
      const mark = { id: markId(id, answer), ...said, pass, author: authorOf(by), markedAt: clock.now() };
      await store.set(mark);
      return mark;
    },
    async ofEvaluation(id) {
      const { checks = [], judges } = await evaluations.get(id);
      return await ofJudges(checks, judges);
    },
    ofJudges,
    async judging(checks, reach) {
      const found = checks.filter(isJudged).map(({ judge }) => findJudging(judge, reach, planner));
      return (await Promise.all(found)).filter((one) => one !== undefined);
    },
  };
}

export function showCalibration({
  check,
  judging: { prompt, version, provider, model },
  ...calibration
}: CalibratedJudge): Schemas['JudgeCalibration'] {
  const { marks, sensitivity, specificity, j } = calibration;
  return { check, prompt, version, provider, model, marks, sensitivity, specificity, j };
}

function markId(evaluation: string, answer: string): string {
  return `${evaluation}.${answer}`;
}
