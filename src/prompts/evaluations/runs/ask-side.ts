/** One answer to a case: asked, repeated where that can help, and checked. */
import { problems } from '../../../../generated/problems.ts';
import type { components } from '../../../../generated/types.ts';
import { showCost } from '../../../accounting/prices/prices.ts';
import { ProblemError } from '../../../base/errors/problem-error.ts';
import { toJsonText, type JsonText } from '../../../base/runtime/json-text.ts';
import type { NanoDollars } from '../../../base/runtime/money.ts';
import { callsOf, textOf } from '../../../models/language-model.ts';
import type { Generated } from '../../generation/generator.ts';
import { toInvocationResult } from '../../generation/invocation-result.ts';
import { costOf, toTestError } from '../../test-runs/call-targets.ts';
import { checkAnswer, type CheckResult, type CheckRuntime } from '../checks/check-answer.ts';
import type { Case } from '../datasets/dataset.ts';
import { createJudges } from '../judges/judges.ts';
import {
  consequenceOfCall,
  invokeOnce,
  plus,
  repeatedly,
  triedWithout,
  waitOf,
  type AskDependencies,
  type AskTerms,
  type Invocation,
  type Invoked,
  type Tried,
} from './attempt.ts';
import type { Evaluation, Side } from './evaluation.ts';
import { failureOf, type Failure } from './failing-answer.ts';
import { planSide } from './plan-evaluation.ts';

type Schemas = components['schemas'];

/** What one side answered to a case, as a line of the results has it. */
export interface SideResult {
  /** Absent for an error. */
  readonly passed?: boolean;
  readonly provider: string;
  readonly model: string;
  readonly latency_ms?: number;
  readonly invocation_id?: string;
  readonly cost?: Schemas['CallCost'];
  /** Absent if it is longer than the most that is kept. */
  readonly answer?: JsonText<Schemas['InvocationResult']>;
  readonly checks?: readonly (Omit<CheckResult, 'reason'> & Partial<CheckResult>)[];
  readonly failure?: Failure;
  readonly error?: Schemas['TestError'];
}

/** The result, and what all calls for it cost. */
export interface AskedSide {
  readonly result: SideResult;
  readonly cost: NanoDollars | 'unknown';
}

/** The largest answer that is kept, in bytes of JSON. The contract has the same number. */
const mostAnswerBytes = 256 * 1024;
/** How often checks run that could not be decided in time. */
const mostChecks = 3;

/**
 * Asks one side about a case.
 * @throws {BudgetStopError}
 * @throws The reason of `terms.signal` when that is aborted.
 */
export async function askSide(
  evaluation: Evaluation,
  side: Side,
  about: Case,
  terms: AskTerms,
  dependencies: AskDependencies,
): Promise<AskedSide> {
  const attempt = (): Promise<Tried<SideResult>> => askOnce(evaluation, side, about, terms, dependencies);
  const { result, cost } = await repeatedly(attempt, terms, dependencies);
  return { result: erasable(result, about), cost };
}

/**
 * The result of a case that was made of an invocation has nothing that a model said about it: it could not be erased with
 * the content of that invocation.
 */
function erasable(result: SideResult, { invocation_id: madeOf }: Case): SideResult {
  if (madeOf === undefined) return result;
  const { answer: _, checks, error, ...rest } = result;
  return {
    ...rest,
    ...(checks !== undefined && { checks: checks.map(({ reason: __, ...check }) => check) }),
    ...(error !== undefined && { error: withoutWords(error) }),
  };
}

function withoutWords({ type, title, provider_status, retryable }: Schemas['TestError']): Schemas['TestError'] {
  return { type, title, detail: title, ...(provider_status !== undefined && { provider_status }), retryable };
}

async function askOnce(
  evaluation: Evaluation,
  side: Side,
  about: Case,
  terms: AskTerms,
  dependencies: AskDependencies,
): Promise<Tried<SideResult>> {
  const who = { provider: side.provider ?? '', model: side.model ?? '' };
  const asked = {
    ...{ provider: who.provider, label: side.label },
    plan: ((principal, note) =>
      planSide(evaluation, side, about, principal, dependencies.planner, note)) satisfies Invocation['plan'],
  };
  try {
    const invoked = await invokeOnce(evaluation, asked, terms, dependencies);
    const { called, record, refused } = invoked;
    const { spent, latencyMs } = called;
    const cost = spent?.cost ?? 'unknown';
    const made = { ...who, latency_ms: latencyMs, invocation_id: record.id, cost: showCost(costOf(spent)) };
    if ('generated' in called) {
      const { generated } = called;
      const answer = { ...made, ...kept(toJsonText(toInvocationResult(generated))) };
      const judged = await judge(evaluation, about, invoked, generated, terms, dependencies);
      return { cost: plus(cost, judged.cost), result: { ...answer, ...judged.result } };
    }
    const { error } = called;
    const consequence = consequenceOfCall(error, invoked, evaluation, terms, dependencies);
    if (consequence === 'error') return { cost, result: { ...made, error: toTestError(error) } };
    if (consequence !== 'again' && consequence !== 'later') {
      const answer = refused && kept(toJsonText(toInvocationResult({ ...refused, attempts: [] })));
      return { cost, result: { ...made, passed: false, failure: consequence, ...answer, error: toTestError(error) } };
    }
    const failed = { ...made, error: toTestError(error) };
    return { cost, failed, isLater: consequence === 'later', waitMs: waitOf(error) };
  } catch (error) {
    if (error instanceof ProblemError && error.type === 'prompt-not-found') throw error;
    const tried = triedWithout(error, evaluation, about.id, terms, dependencies);
    if ('result' in tried) return { ...tried, result: { ...who, error: tried.result } };
    return { ...tried, failed: { ...who, error: tried.failed } };
  }
}

/** Whether an answer passes, why not, and what its judges cost. */
async function judge(
  evaluation: Evaluation,
  about: Case,
  { plan, principal }: Invoked,
  { result, cost, latencyMs }: Generated,
  terms: AskTerms,
  dependencies: AskDependencies,
): Promise<{
  readonly result: Pick<SideResult, 'passed' | 'failure' | 'checks' | 'error'>;
  readonly cost: NanoDollars | 'unknown';
}> {
  const failure = failureOf(result.finishReason);
  if (failure !== undefined) return { result: { passed: false, failure }, cost: 0n };
  const { checker, turns } = dependencies;
  const whose = { key: principal.family, background: true, signal: terms.signal };
  const check: CheckRuntime['check'] = (job) => checker.check(job, whose);
  const judges = createJudges(evaluation, about.id, terms, dependencies);
  const answer = {
    text: textOf(result),
    finishReason: result.finishReason,
    toolCalls: callsOf(result),
    tools: plan.targets[0]?.request.tools ?? [],
    cost: cost && Number(cost.amount) / 1e9,
    latencyMs,
  };
  // The checks of a case were checked when the data set was set.
  const all = [...(evaluation.checks ?? []), ...((about.checks ?? []) as unknown as NonNullable<Evaluation['checks']>)];
  for (let count = 1; ; count += 1) {
    const runtime = { check, turns, askJudge: judges.ask };
    const { pass, results } = await checkAnswer(all, answer, about, runtime, terms.signal);
    const spent = judges.cost();
    if (results.every(({ isUndecided }) => isUndecided !== true)) {
      return { result: { passed: pass, checks: results }, cost: spent };
    }
    const error = judges.error();
    if (error !== undefined || count === mostChecks) {
      return { result: { checks: results, error: error ?? undecided() }, cost: spent };
    }
  }
}

function undecided(): Schemas['TestError'] {
  const type = 'internal-error';
  const detail = 'A check could not be decided in time.';
  return { type: `urn:prompt-gateway:problem:${type}`, title: problems[type].title, detail, retryable: true };
}

function kept(answer: JsonText<Schemas['InvocationResult']>): Pick<SideResult, 'answer'> {
  return Buffer.byteLength(answer.text) > mostAnswerBytes ? {} : { answer };
}
