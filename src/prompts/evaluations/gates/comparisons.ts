/** What a gate asks about a version, and what evaluations have shown of it. */
import { hash } from 'node:crypto';
import type { components } from '../../../../generated/types.ts';
import type { ProviderRegistry } from '../../../models/provider.ts';
import { ProblemError } from '../../../base/errors/problem-error.ts';
import { canonicalJson } from '../../../base/runtime/canonical-json.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import { selectModel } from '../../generation/select-targets.ts';
import type { Candidacy, ContentVersion } from '../../labels/candidacy.ts';
import type { Gate } from '../../labels/gate.ts';
import { sameContent } from '../../prompt-changes.ts';
import { contentFields, type PromptContent } from '../../prompt.ts';
import { seenMargin } from '../judges/calibration.ts';
import type { Judging } from '../judges/judge-key.ts';
import { toRule, type Evaluation, type GateTrial, type SentRule, type Side } from '../runs/evaluation.ts';
import type { EvaluationStore } from '../runs/evaluation-store.ts';
import { sumsOf } from '../runs/outcomes.ts';
import { verdict, type Counts, type Rule } from '../verdict/verdict.ts';

type Verdict = NonNullable<Evaluation['verdict']>;
export type ComparisonStatus = components['schemas']['GateComparisonStatus'];

/** An evaluation of the candidate's content for the gate. */
export interface Trial {
  readonly evaluation: Evaluation;
  /** Why it says nothing about the question any more: sentences. */
  readonly stale: readonly string[];
}

/** A question that a gate asks about a version, and the answer. */
export interface Comparison {
  readonly against: GateTrial['against'];
  readonly rule: SentRule;
  readonly baseline: ContentVersion | undefined;
  readonly status: ComparisonStatus;
  /** Of all evaluations that count, together. */
  readonly verdict: Verdict | undefined;
  readonly isEvaluable: boolean;
  /** Those that count. */
  readonly counted: readonly Evaluation[];
  /** All, the earliest first. */
  readonly trials: readonly Trial[];
  /** For the next evaluation of it. */
  readonly next: { readonly gate: GateTrial; readonly gateTry: string };
}

export interface ComparisonDependencies {
  readonly store: Pick<EvaluationStore, 'ofGate' | 'entries'>;
  readonly providers: Pick<ProviderRegistry, 'get'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Those of one question that count: after an inconclusive one, one more. */
const mostTries = 2;
const day = 24 * 3_600_000;

/**
 * The questions of a gate about a version. Empty if there is nothing to compare it with: the label has never named a
 * version, the rule compares, and the gate has no anchor.
 */
export async function comparisonsOf(
  candidacy: Candidacy,
  dependencies: ComparisonDependencies,
): Promise<readonly Comparison[]> {
  const { promptId, gate, candidate, named, anchor } = candidacy;
  const rule = seenRule(gate);
  const margin = rule.not_worse_by;
  const questions: Pick<Comparison, 'against' | 'rule' | 'baseline'>[] = [];
  if (margin === undefined) questions.push({ against: 'label', rule, baseline: undefined });
  else {
    const baseline = named ?? anchor;
    if (baseline !== undefined) questions.push({ against: 'label', rule, baseline });
    const isOther = (one: ContentVersion | undefined): boolean =>
      one !== undefined && anchor !== undefined && !sameContent(one.content, anchor.content);
    // Not worse by the margin is not worse by twice the margin either.
    if (isOther(baseline) && isOther(candidate)) {
      questions.push({ against: 'anchor', rule: { not_worse_by: 2 * margin }, baseline: anchor });
    }
  }
  const content = digest(contentOf(candidate.content));
  const found = await dependencies.store.ofGate(`${promptId}:${gate.label}:${content}`);
  return await Promise.all(
    questions.map((question) => answered(question, candidacy, { content, found }, dependencies)),
  );
}

async function answered(
  question: Pick<Comparison, 'against' | 'rule' | 'baseline'>,
  { promptId, gate, candidate }: Candidacy,
  { content, found }: { readonly content: string; readonly found: readonly Evaluation[] },
  { store, providers, clock }: ComparisonDependencies,
): Promise<Comparison> {
  const { against, rule, baseline } = question;
  const models = [candidate, baseline].map((side) => side && modelOf(providers, side.content));
  const measure = digest({ datasetVersionId: gate.datasetVersionId, checks: gate.checks ?? [], rule });
  const before = baseline === undefined ? '' : digest(contentOf(baseline.content));
  const asked: GateTrial = { label: gate.label, against, measure, baseline: before };
  const key = `${promptId}:${gate.label}:${content}:${digest({ ...asked, models })}`;
  const oldest = clock.now().getTime() - gate.maxAgeDays * day;

  const staleness = ({ gate: of, candidate: one, baseline: other, judges, createdAt }: Evaluation): string[] => [
    ...(of?.measure === measure ? [] : ['The gate has changed since.']),
    ...(of?.baseline === before ? [] : ['The label names another version since.']),
    ...([one, other].every((side, index) => ranOn(side, models[index])) ? [] : ['Another model would be called now.']),
    // While it is not planned, nobody knows.
    ...(judges === undefined || otherJudge(gate, judges) === undefined
      ? []
      : ['A judge called another model than the one whose answers were marked.']),
    ...(createdAt.getTime() >= oldest ? [] : [`It is older than ${gate.maxAgeDays} days.`]),
  ];
  const trials = found
    .filter((evaluation) => evaluation.gate?.against === against)
    .map((evaluation): Trial => ({ evaluation, stale: staleness(evaluation) }));
  const current = trials.filter(({ stale }) => stale.length === 0).map(({ evaluation }) => evaluation);
  const tries = current.filter(isTry);
  const isRunning = current.some(({ status }) => ['planning', 'queued', 'running'].includes(status));
  const counted = tries.slice(0, mostTries);
  const shown = await pooled(toRule(rule), counted, store);
  const outcome = shown?.outcome ?? (counted.length > 0 ? 'inconclusive' : undefined);
  const isLeft = outcome === undefined || (outcome === 'inconclusive' && counted.length < mostTries);
  const number = found.filter(({ gateTry }) => gateTry?.startsWith(`${key}:`)).length;
  return {
    ...question,
    status: isRunning ? 'running' : (outcome ?? (trials.some(isStaleTry) ? 'stale' : 'not-evaluated')),
    verdict: shown,
    isEvaluable: isLeft && !isRunning,
    ...{ counted, trials },
    // Of two requests at the same time, one gets the number.
    next: { gate: asked, gateTry: `${key}:${number + 1}` },
  };
}

/** Whether an evaluation counts. Whoever cancels one may have seen how it goes, in the log of invocations. */
function isTry({ status, startedAt }: Evaluation): boolean {
  return status === 'ended' || (status === 'canceled' && startedAt !== undefined);
}

function isStaleTry({ evaluation, stale }: Trial): boolean {
  return stale.length > 0 && isTry(evaluation);
}

/** The verdict of the first conclusive evaluation; else that of both together. */
async function pooled(
  rule: Rule,
  [first, second]: readonly Evaluation[],
  store: Pick<EvaluationStore, 'entries'>,
): Promise<Verdict | undefined> {
  if (first === undefined) return undefined;
  if (second === undefined || (first.verdict !== undefined && first.verdict.outcome !== 'inconclusive'))
    return first.verdict;
  // Nobody decides by the moment at which it is canceled.
  if (second.verdict === undefined) return first.verdict;
  const [one, other] = [await countsOf(first, store), toCounts(second.verdict)];
  // A case that had no answer at first has to pass the second time.
  const isMended = rule === 'all-pass' && one.passed + one.errors === one.cases;
  const counts = isMended ? other : plus(one, other);
  const { cases: units, errors, passed, regressed, improved } = counts;
  const hasBaseline = second.baseline !== undefined;
  return { ...verdict(rule, counts), units, errors, passed, ...(hasBaseline && { regressed, improved }) };
}

async function countsOf(evaluation: Evaluation, store: Pick<EvaluationStore, 'entries'>): Promise<Counts> {
  const { id, verdict: shown, baseline } = evaluation;
  return shown === undefined ? sumsOf(await store.entries(id)).counts(baseline !== undefined) : toCounts(shown);
}

function toCounts({ units: cases, errors, passed, regressed = 0, improved = 0 }: Verdict): Counts {
  return { cases, errors, passed, regressed, improved };
}

function plus(one: Counts, other: Counts): Counts {
  return {
    cases: one.cases + other.cases,
    errors: one.errors + other.errors,
    passed: one.passed + other.passed,
    regressed: one.regressed + other.regressed,
    improved: one.improved + other.improved,
  };
}

/** What an invocation of a version calls, by whoever may call everything; `''` if nothing can be called. */
function modelOf(providers: Pick<ProviderRegistry, 'get'>, content: PromptContent): string {
  try {
    const { provider, model } = selectModel(providers, content, {}, undefined);
    return `${provider.id}/${model}`;
  } catch (error) {
    if (error instanceof ProblemError) return '';
    throw error;
  }
}

/** The rule for what checks see: a judge sees a smaller difference than there is. */
export function seenRule({ rule, calibration = [] }: Pick<Gate, 'rule' | 'calibration'>): SentRule {
  if (rule.not_worse_by === undefined || calibration.length === 0) return rule;
  return { not_worse_by: seenMargin(rule.not_worse_by, Math.min(...calibration.map(({ j }) => j))) };
}

/** The first judge of a gate that calls another model than the one whose answers were marked. */
export function otherJudge(
  { calibration = [] }: Pick<Gate, 'calibration'>,
  judges: readonly Judging[],
): NonNullable<Gate['calibration']>[number] | undefined {
  return calibration.find(
    ({ prompt, version, provider, model }) =>
      !judges.some(
        (one) => one.prompt === prompt && one.version === version && one.provider === provider && one.model === model,
      ),
  );
}

/** Whether a side was asked of this model; true while it is not planned. */
function ranOn(side: Side | undefined, model: string | undefined): boolean {
  return side?.model === undefined || `${side.provider}/${side.model}` === model;
}

function contentOf(content: PromptContent): object {
  return contentFields.show({ ...contentFields.pick(content), variables: content.variables ?? {} });
}

function digest(value: unknown): string {
  return hash('sha256', canonicalJson(value), 'hex').slice(0, 32);
}
