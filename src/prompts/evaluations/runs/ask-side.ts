/** One answer to a case: asked, repeated where that can help, and checked. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { problems } from '../../../../generated/problems.ts';
import type { components } from '../../../../generated/types.ts';
import type { InvocationLog } from '../../../accounting/invocations/invocation-log.ts';
import { showCost } from '../../../accounting/prices/prices.ts';
import { ProblemError } from '../../../base/errors/problem-error.ts';
import type { AnswerChecker } from '../../../base/json-schema/answer-checker.ts';
import type { MemoryBudget } from '../../../base/limits/memory-budget.ts';
import type { Principal } from '../../../base/limits/principal.ts';
import { toJsonText, type JsonText } from '../../../base/runtime/json-text.ts';
import type { CallCost, NanoDollars } from '../../../base/runtime/money.ts';
import type { Turns } from '../../../base/runtime/turns.ts';
import { callsOf, textOf, type GenerateResult } from '../../../models/language-model.ts';
import { callPlan } from '../../generation/call-plan.ts';
import type { Generator } from '../../generation/generator.ts';
import { toInvocationResult } from '../../generation/invocation-result.ts';
import type { Plan } from '../../generation/plan.ts';
import type { Planner } from '../../generation/planner.ts';
import { bytesOf } from '../../generation/request-size.ts';
import { RunCutOffError } from '../../test-runs/active-runs.ts';
import { costOf, fieldsOf, toTestError } from '../../test-runs/call-targets.ts';
import { checkAnswer, type CheckResult } from '../checks/check-answer.ts';
import type { Case } from '../datasets/dataset.ts';
import type { Evaluation, Side } from './evaluation.ts';
import { consequenceOf, failureOf, type Failure } from './failing-answer.ts';
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

/** When and for whom calls are made. */
export interface AskTerms {
  /** Aborted when the evaluation no longer belongs to this process. */
  readonly signal: AbortSignal;
  /** How many cases are in progress, or wait for those before them. */
  readonly casesAtOnce: number;
  /**
   * Waits until a call of a provider may begin.
   * @returns a function that gives the place back
   */
  enter(provider: string): Promise<() => void>;
  /** Who pays. */
  principal(): Promise<Principal>;
}

export interface AskDependencies {
  readonly planner: Pick<Planner, 'fromPrompt'>;
  readonly generator: Pick<Generator, 'answer'>;
  readonly invocations: InvocationLog;
  readonly checker: Pick<AnswerChecker, 'check'>;
  readonly turns: Turns;
  readonly memory: Pick<MemoryBudget, 'forRequest'>;
  readonly log: Logger;
  /** Deadline of each invocation, in milliseconds. */
  readonly timeoutMs: number;
  /** Pauses before an answer is asked for again, in milliseconds. */
  readonly pausesMs: readonly number[];
}

/** A budget does not allow a call, so that the evaluation ends. */
export class BudgetStopError extends Error {
  readonly budget: string | undefined;

  constructor(cause: unknown) {
    super('A budget does not allow a call.', { cause });
    this.budget = cause instanceof ProblemError ? cause.extensions.budget : undefined;
  }
}

/** The largest answer that is kept, in bytes of JSON. The contract has the same number. */
const mostAnswerBytes = 256 * 1024;
/** Milliseconds until a call is tried again that could not begin. */
const busyMs = 1_000;
/** The longest wait that a provider can ask for, in milliseconds. */
const longestWaitMs = 60_000;
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
  const { pausesMs } = dependencies;
  let cost: NanoDollars | 'unknown' = 0n;
  for (let failed = 0; ;) {
    const tried = await askOnce(evaluation, side, about, terms, dependencies);
    cost = cost === 'unknown' || tried.cost === 'unknown' ? 'unknown' : cost + tried.cost;
    if (tried.result !== undefined) return { result: erasable(tried.result, about), cost };
    terms.signal.throwIfAborted();
    const pause = tried.isLater ? busyMs : pausesMs[failed];
    if (pause === undefined) return { result: erasable(tried.failed, about), cost };
    if (!tried.isLater) failed += 1;
    await sleep(Math.max(pause, tried.waitMs), undefined, { signal: terms.signal }).catch(() => {
      terms.signal.throwIfAborted();
    });
  }
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

type Tried = { readonly cost: NanoDollars | 'unknown' } & (
  | { readonly result: SideResult }
  /** It can be asked again. `failed` is the result if it is not. */
  | { readonly result?: never; readonly failed: SideResult; readonly isLater: boolean; readonly waitMs: number }
);

async function askOnce(
  evaluation: Evaluation,
  side: Side,
  about: Case,
  { signal, enter, principal: findPrincipal }: AskTerms,
  dependencies: AskDependencies,
): Promise<Tried> {
  const { planner, generator, invocations, memory, log, timeoutMs } = dependencies;
  const who = { provider: side.provider ?? '', model: side.model ?? '' };
  const leave = await enter(who.provider);
  const release: (() => void)[] = [leave];
  try {
    const principal = await findPrincipal();
    const { id, tags, requestId } = evaluation;
    const facts: Parameters<ReturnType<InvocationLog['begin']>['note']>[0][] = [];
    const plan = await planSide(evaluation, side, about, principal, planner, (known) => facts.push(known));
    const requestMemory = memory.forRequest(principal.family);
    release.push(() => {
      requestMemory.release();
    });
    await requestMemory.cover(bytesOf(plan), signal);

    const invoked = { principal, requestId, traceparent: undefined, isStreamed: false, tags, evaluation: id } as const;
    const record = invocations.begin({ ...invoked, operation: 'evaluation' });
    for (const fact of facts) record.note('prompt' in fact ? { ...fact, label: side.label } : fact);
    let refused: { result: GenerateResult; cost: CallCost | undefined } | undefined;
    const called = await callPlan(
      plan,
      record,
      {
        principal,
        requestId,
        signal,
        deadline: performance.now() + timeoutMs,
        onEnd: (end, cost) => {
          refused = end.refused && { result: end.refused, cost };
        },
      },
      generator,
    );
    const { spent, latencyMs } = called;
    const cost = spent?.cost ?? 'unknown';
    const made = { ...who, latency_ms: latencyMs, invocation_id: record.id, cost: showCost(costOf(spent)) };
    if ('generated' in called) {
      const { generated } = called;
      const answer = { ...made, ...kept(toJsonText(toInvocationResult(generated))) };
      return {
        cost,
        result: { ...answer, ...(await judge(evaluation, about, plan, generated, principal, signal, dependencies)) },
      };
    }
    const { error } = called;
    const consequence = consequenceOf(error, refused?.result);
    if (consequence === 'stop') throw new BudgetStopError(error);
    if (!signal.aborted && (consequence === 'again' || consequence === 'later' || consequence === 'error')) {
      const ids = { evaluation: id, invocation_id: record.id };
      log.warn({ ...ids, ...fieldsOf(error, who.provider, who.model) }, 'a call of an evaluation failed');
    }
    if (consequence === 'error') return { cost, result: { ...made, error: toTestError(error) } };
    if (consequence !== 'again' && consequence !== 'later') {
      const answer = refused && kept(toJsonText(toInvocationResult({ ...refused, attempts: [] })));
      return { cost, result: { ...made, passed: false, failure: consequence, ...answer, error: toTestError(error) } };
    }
    return {
      cost,
      failed: { ...made, error: toTestError(error) },
      isLater: consequence === 'later',
      waitMs: waitOf(error),
    };
  } catch (error) {
    signal.throwIfAborted();
    const isFault = !(error instanceof ProblemError);
    if (error instanceof BudgetStopError || error instanceof RunCutOffError) throw error;
    if (!isFault && (error.type === 'prompt-not-found' || error.type === 'unauthenticated')) throw error;
    const failed = { ...who, error: toTestError(error) };
    // Nothing was called.
    if (consequenceOf(error, undefined) === 'later') return { cost: 0n, failed, isLater: true, waitMs: 0 };
    // A fault of the service is that of this case, so that it is not asked again and again.
    if (isFault) log.error({ error, evaluation: evaluation.id, case: about.id }, 'a case of an evaluation failed');
    return { cost: isFault ? 'unknown' : 0n, result: failed };
  } finally {
    for (const one of release.toReversed()) one();
  }
}

/** Whether an answer passes, and why not. */
async function judge(
  { checks = [] }: Evaluation,
  about: Case,
  { targets: [target] }: Plan,
  { result, cost, latencyMs }: { result: GenerateResult; cost: CallCost | undefined; latencyMs: number },
  { family }: Principal,
  signal: AbortSignal,
  { checker, turns }: AskDependencies,
): Promise<Pick<SideResult, 'passed' | 'failure' | 'checks' | 'error'>> {
  const failure = failureOf(result.finishReason);
  if (failure !== undefined) return { passed: false, failure };
  const answer = {
    text: textOf(result),
    finishReason: result.finishReason,
    toolCalls: callsOf(result),
    tools: target?.request.tools ?? [],
    cost: cost && Number(cost.amount) / 1e9,
    latencyMs,
  };
  // The checks of a case were checked when the data set was set.
  const all = [...checks, ...((about.checks ?? []) as unknown as typeof checks)];
  for (let count = 1; ; count += 1) {
    const { pass, results } = await checkAnswer(all, answer, about, { checker, key: family, turns }, signal);
    if (results.every(({ isUndecided }) => isUndecided !== true)) return { passed: pass, checks: results };
    if (count === mostChecks) return { checks: results, error: undecided() };
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

/** How long the provider asks to wait, in milliseconds. */
function waitOf(error: unknown): number {
  const field = error instanceof ProblemError ? error.headers['Retry-After'] : undefined;
  return Math.min(longestWaitMs, Number(field ?? 0) * 1_000);
}
