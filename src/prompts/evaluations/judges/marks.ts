import type { components } from '../../../../generated/types.ts';
import { createFairQueue } from '../../../base/limits/fair-queue.ts';
import { authorOf, type Principal } from '../../../base/limits/principal.ts';
import { totalOf, withLookUp, type Listing } from '../../../base/lists/listing.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import { createTurns } from '../../../base/runtime/turns.ts';
import type { ProviderRegistry } from '../../../models/provider.ts';
import { selectModel } from '../../generation/select-targets.ts';
import type { Prompts } from '../../prompts.ts';
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
  /** The same for checks, with the models that would be called now. @throws {ProblemError} as for an invocation */
  ofChecks(checks: readonly Check[]): Promise<readonly CalibratedJudge[]>;
}

export interface MarksDependencies extends Omit<AnswerSources, 'turns'> {
  readonly store: MarkStore;
  readonly evaluations: Pick<Evaluations, 'get' | 'entries'>;
  readonly prompts: Pick<Prompts, 'resolve'>;
  readonly providers: Pick<ProviderRegistry, 'get'>;
  readonly clock: Pick<Clock, 'now'>;
}

export function createMarks(dependencies: MarksDependencies): Marks {
  const { store, evaluations, results, prompts, providers, clock } = dependencies;
  const sources = { ...dependencies, turns: createTurns() };
  // Each mark reads an object of a megabyte or more.
  const reading = createFairQueue({ places: 1 });
  const calibrated = async (
    checks: readonly Check[],
    judges: readonly Judging[] | undefined,
  ): Promise<readonly CalibratedJudge[]> => {
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
      return await calibrated(checks, judges);
    },
    async ofChecks(checks) {
      const judges = await Promise.all(
        checks.filter(isJudged).map(({ judge }) => judgingNow(judge, prompts, providers)),
      );
      return await calibrated(checks, judges);
    },
  };
}

/** What a judge calls now, by whoever may call everything. @throws {ProblemError} prompt-not-found, version-not-found, and as `selectModel` */
async function judgingNow(
  { prompt, version }: Pick<Judging, 'prompt' | 'version'>,
  prompts: Pick<Prompts, 'resolve'>,
  providers: Pick<ProviderRegistry, 'get'>,
): Promise<Judging> {
  const { id: promptId, content } = await prompts.resolve(prompt, { version });
  const { provider, model } = selectModel(providers, content, {}, undefined);
  return { prompt, version, promptId, provider: provider.id, model };
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
