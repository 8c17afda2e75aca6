import { beyondLimits } from '../../../base/errors/beyond-limits.ts';
import type { Reach } from '../../../base/limits/reach.ts';
import { ProblemError, type ProblemDetail } from '../../../base/errors/problem-error.ts';
import type { Candidacy } from '../../labels/candidacy.ts';
import type { Gate } from '../../labels/gate.ts';
import type { CheckGate, GateSettings } from '../../labels/gate-settings.ts';
import { versionNotFound } from '../../prompts.ts';
import type { Check } from '../checks/check-answer.ts';
import { checkMistakes } from '../checks/check-mistakes.ts';
import type { DatasetVersion } from '../datasets/dataset.ts';
import type { Datasets } from '../datasets/datasets.ts';
import { shortfall } from '../judges/calibration.ts';
import { isJudged } from '../judges/judge-key.ts';
import { showCalibration, type Marks } from '../judges/marks.ts';
import { toRule, type Evaluation, type GateTrial } from '../runs/evaluation.ts';
import type { Asker, EvaluationRequest, Evaluations } from '../runs/evaluations.ts';
import { inconsistent, notEvaluated, tooFewCases } from '../runs/problems.ts';
import { fewestCases } from '../verdict/verdict.ts';
import { comparisonsOf, otherJudge, seenRule, type Comparison, type ComparisonDependencies } from './comparisons.ts';
import { decisionOf } from './decisions.ts';

/** A version before the gate of a label. */
export interface GatedVersion {
  readonly reasons: readonly string[];
  readonly comparisons: readonly Comparison[];
  readonly changes: Candidacy['changes'];
}

export interface GateRequest {
  readonly version: number;
  readonly against: GateTrial['against'];
  /** Of the invocations, as `name=value`. */
  readonly tags: readonly string[];
}

/** What gates ask. Every method throws `gate-not-found`, `prompt-not-found` and `version-not-found`. */
export interface Gates {
  /**
   * What a new gate refers to.
   * @param reach of who sets it: a judge that it may not call is not found
   * @throws {ProblemError} dataset-not-found, inconsistent-content, too-few-cases
   */
  checkFor(reach: Reach | undefined): CheckGate;
  /** Whether the gate lets a version in, and what was shown of it. */
  version(slugOrId: string, label: string, version: number): Promise<GatedVersion>;
  /**
   * Starts the only kind of evaluation that lets a version in: everything that decides comes from the gate.
   * @param isRepeatable whether an earlier attempt of the same request may have started it already
   * @throws {ProblemError} gate-evaluation-refused, beyond-limits, and as `create` of evaluations
   */
  evaluate(
    slugOrId: string,
    label: string,
    request: GateRequest,
    asker: Asker,
    isRepeatable: boolean,
  ): Promise<Evaluation>;
}

export interface GatesDependencies extends ComparisonDependencies {
  readonly settings: Pick<GateSettings, 'candidacy'>;
  readonly datasets: Pick<Datasets, 'version' | 'extended' | 'part'>;
  readonly evaluations: Pick<Evaluations, 'create'>;
  readonly judges: Pick<Marks, 'judging' | 'ofJudges'>;
}

/** Each invocation reads the gates with the prompt. The contract has the same number. */
const mostBytes = 16 * 1024;

/**
 * Cases that are added to a data set are asked up to so many times the cases that the gate names: with many that always
 * pass, whoever may add them would make every loss look small. The contract has the same number.
 */
const mostGrowth = 2;

export function createGates(dependencies: GatesDependencies): Gates {
  const { settings, datasets, evaluations, judges } = dependencies;
  const hasJudges = async (version: DatasetVersion): Promise<boolean> => {
    for (const part of version.parts.keys()) {
      const cases = await datasets.part(version, part);
      if (cases.some((one) => one.checks?.some(isJudge) === true)) return true;
    }
    return false;
  };

  /** @throws {ProblemError} inconsistent-content if a judge cannot be asked, or agrees too little with people */
  const calibrate = async (checks: readonly Check[], reach: Reach | undefined): Promise<Gate['calibration']> => {
    if (!checks.some(isJudged)) return undefined;
    const judging = await judges.judging(checks, reach).catch((error: unknown) => {
      if (!(error instanceof ProblemError) || error.status === 404 || error.status >= 500) throw error;
      throw inconsistent([{ detail: error.message, pointer: '#/checks' }]);
    });
    const found = await judges.ofJudges(checks, judging);
    const errors = checks.flatMap((check, index): ProblemDetail[] => {
      const calibration = found.find((one) => one.check === index);
      const detail = calibration === undefined ? isJudged(check) && cannotJudge : shortfall(calibration);
      return detail === undefined || detail === false ? [] : [{ detail, pointer: `#/checks/${index}/judge` }];
    });
    if (errors.length > 0) throw inconsistent(errors);
    return found.map(showCalibration);
  };
  const requireSameJudges = async (gate: Gate): Promise<void> => {
    if (gate.calibration === undefined) return;
    const other = otherJudge(gate, await judges.judging(gate.checks ?? [], undefined));
    if (other === undefined) return;
    const { prompt, version, provider, model } = other;
    const remedy = 'Mark answers that the other one has judged, and set the gate again.';
    throw notEvaluated(`The judge "${prompt}", version ${version}, no longer calls ${provider}/${model}. ${remedy}`);
  };

  return {
    checkFor:
      (reach) =>
      async (prompt, { dataset, checks = [], rule, anchor }) => {
        const errors: ProblemDetail[] = checkMistakes(checks).map(({ detail, pointer }) => ({
          detail,
          pointer: `#/checks${pointer}`,
        }));
        if (Buffer.byteLength(JSON.stringify(checks)) > mostBytes) {
          errors.push({ detail: 'are more than 16 KiB of JSON', pointer: '#/checks' });
        }
        if (anchor !== undefined && rule.not_worse_by === undefined) {
          errors.push({ detail: 'needs not_worse_by', pointer: '#/anchor' });
        }
        if (rule.not_worse_by === undefined) {
          for (const [index, check] of checks.entries()) {
            // Of a rate, nobody knows how much of it are errors of the judge.
            if (isJudged(check)) errors.push({ detail: 'needs not_worse_by', pointer: `#/checks/${index}/judge` });
          }
        }
        if (errors.length > 0) throw inconsistent(errors);
        const calibration = await calibrate(checks, reach);
        if (anchor !== undefined && anchor > prompt.version) throw versionNotFound(prompt.slug, anchor);
        const named = await datasets.version(dataset.name, dataset.version);
        if (await hasJudges(named)) throw inconsistent([{ detail: `has cases with ${judged}`, pointer: '#/dataset' }]);
        const { id: datasetVersionId, datasetId, cases } = named;
        const fewest = fewestCases(toRule(seenRule({ rule, calibration })));
        if (cases < fewest) throw tooFewCases(cases, fewest);
        return { datasetId, datasetVersionId, calibration };
      },
    async version(slugOrId, label, number) {
      const { candidacy } = await settings.candidacy(slugOrId, label, number);
      if (candidacy === undefined) return { reasons: [], comparisons: [], changes: [] };
      const comparisons = await comparisonsOf(candidacy, dependencies);
      return { ...decisionOf(candidacy, comparisons), comparisons, changes: candidacy.changes };
    },
    async evaluate(slugOrId, label, { version, against, tags }, asker, isRepeatable) {
      if (asker.principal.reach?.maxOutputTokens !== undefined) {
        // Answers that are cut fail on both sides, so that no version would be worse.
        throw beyondLimits('This key is limited to answers of some tokens, so it cannot evaluate for a gate.');
      }
      const request = async (): Promise<EvaluationRequest> => {
        const { gate, candidacy } = await settings.candidacy(slugOrId, label, version);
        if (candidacy === undefined) throw notEvaluated(`The gate always lets version ${version} in.`);
        const comparisons = await comparisonsOf(candidacy, dependencies);
        const comparison = comparisons.find((one) => one.against === against);
        if (comparison === undefined) throw notEvaluated(noComparison(against));
        if (!comparison.isEvaluable) throw notEvaluated(evaluated(version, comparison));
        await requireSameJudges(gate);
        const { baseline, rule, next } = comparison;
        const { name, version: number } = gate.dataset;
        const { named, current } = await datasets.extended(name, number, gate.datasetVersionId);
        if (current.cases > mostGrowth * named.cases) throw notEvaluated(grown(named, current));
        const isTaken = current === named || !(await hasJudges(current));
        return {
          ...{ slugOrId: candidacy.promptId, candidate: { version }, rule, tags, next, checks: gate.checks },
          baseline: baseline && { version: baseline.version },
          dataset: { name, version: isTaken ? current.number : number },
        };
      };
      return await evaluations.create(request, asker, isRepeatable);
    },
  };
}

/** Each would need marks of its own. */
const judged = 'an llm-rubric of their own, which gates do not take';

function isJudge({ type }: { readonly type?: string }): boolean {
  return type === 'llm-rubric' || type === 'not-llm-rubric';
}

const cannotJudge = 'has no JSON format whose schema requires a boolean "pass"';

function noComparison(against: GateTrial['against']): string {
  if (against === 'anchor') return 'The gate does not compare this version with an anchor.';
  return 'The label has never named a version to compare with, and the gate has no anchor.';
}

function grown(named: DatasetVersion, current: DatasetVersion): string {
  const sizes = `The data set has ${current.cases} cases, more than twice the ${named.cases} that the gate names`;
  return `${sizes}. Set the gate with version ${current.number} of it.`;
}

function evaluated(version: number, { status, trials }: Comparison): string {
  const ids = trials.filter(({ stale }) => stale.length === 0).map(({ evaluation }) => evaluation.id);
  const done = status === 'running' ? 'is being evaluated' : `was evaluated, and is ${status}`;
  return `The content of version ${version} ${done}: ${ids.join(', ')}.`;
}
