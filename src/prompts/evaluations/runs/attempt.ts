/** One call of an evaluation: it waits for a place, is an invocation of its own, and is repeated where that can help. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { components } from '../../../../generated/types.ts';
import type { InvocationLog } from '../../../accounting/invocations/invocation-log.ts';
import type { InvocationRecord } from '../../../accounting/invocations/invocation-record.ts';
import { ProblemError } from '../../../base/errors/problem-error.ts';
import type { AnswerChecker } from '../../../base/json-schema/answer-checker.ts';
import type { MemoryBudget } from '../../../base/limits/memory-budget.ts';
import type { Principal } from '../../../base/limits/principal.ts';
import type { CallCost, NanoDollars } from '../../../base/runtime/money.ts';
import type { Turns } from '../../../base/runtime/turns.ts';
import type { GenerateResult } from '../../../models/language-model.ts';
import { callPlan, type Called } from '../../generation/call-plan.ts';
import type { Generator } from '../../generation/generator.ts';
import type { Known, Plan } from '../../generation/plan.ts';
import type { Planner } from '../../generation/planner.ts';
import { bytesOf } from '../../generation/request-size.ts';
import { RunCutOffError } from '../../test-runs/active-runs.ts';
import { fieldsOf, toTestError } from '../../test-runs/call-targets.ts';
import type { Evaluation } from './evaluation.ts';
import { consequenceOf, type Consequence } from './failing-answer.ts';

type TestError = components['schemas']['TestError'];

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

/** Milliseconds until a call is tried again that could not begin. */
const busyMs = 1_000;
/** The longest wait that a provider can ask for, in milliseconds. */
const longestWaitMs = 60_000;

/** What became of one attempt, and what it cost. */
export type Tried<Result> = { readonly cost: NanoDollars | 'unknown' } & (
  | { readonly result: Result }
  /** It can be tried again. `failed` is the result if it is not. */
  | { readonly failed: Result; readonly isLater: boolean; readonly waitMs: number }
);

/**
 * Tries it again where that can help.
 * @returns with what all attempts cost
 * @throws The reason of the signal when that is aborted
 */
export async function repeatedly<Result>(
  attempt: () => Promise<Tried<Result>>,
  { signal }: Pick<AskTerms, 'signal'>,
  { pausesMs }: Pick<AskDependencies, 'pausesMs'>,
): Promise<{ result: Result; cost: NanoDollars | 'unknown' }> {
  let cost: NanoDollars | 'unknown' = 0n;
  for (let failed = 0; ;) {
    const tried = await attempt();
    cost = plus(cost, tried.cost);
    if ('result' in tried) return { result: tried.result, cost };
    signal.throwIfAborted();
    const pause = tried.isLater ? busyMs : pausesMs[failed];
    if (pause === undefined) return { result: tried.failed, cost };
    if (!tried.isLater) failed += 1;
    await sleep(Math.max(pause, tried.waitMs), undefined, { signal }).catch(() => {
      signal.throwIfAborted();
    });
  }
}

/** What is invoked, and who waits for it. */
export interface Invocation {
  readonly provider: string;
  readonly label?: string | undefined;
  readonly plan: (principal: Principal, note: (known: Known) => void) => Promise<Plan>;
}

/** An invocation that has ended. */
export interface Invoked {
  readonly principal: Principal;
  readonly plan: Plan;
  readonly record: InvocationRecord;
  readonly called: Called;
  /** The whole answer of the last call, if it broke its format. */
  readonly refused: { readonly result: GenerateResult; readonly cost: CallCost | undefined } | undefined;
}

/** @throws {ProblemError} What an invocation throws before its first call */
export async function invokeOnce(
  { id, tags, requestId }: Evaluation,
  { provider, label, plan: makePlan }: Invocation,
  { signal, enter, principal: findPrincipal }: AskTerms,
  { generator, invocations, memory, timeoutMs }: AskDependencies,
): Promise<Invoked> {
  const leave = await enter(provider);
  const release: (() => void)[] = [leave];
  try {
    const principal = await findPrincipal();
    const facts: Known[] = [];
    const plan = await makePlan(principal, (known) => facts.push(known));
    const requestMemory = memory.forRequest(principal.family);
    release.push(() => {
      requestMemory.release();
    });
    await requestMemory.cover(bytesOf(plan), signal);
    const invoked = { principal, requestId, traceparent: undefined, isStreamed: false, tags, evaluation: id } as const;
    const record = invocations.begin({ ...invoked, operation: 'evaluation' });
    for (const fact of facts) record.note('prompt' in fact ? { ...fact, label } : fact);
    let refused: Invoked['refused'];
    const onEnd: Parameters<typeof callPlan>[2]['onEnd'] = (end, cost) => {
      refused = end.refused && { result: end.refused, cost };
    };
    const call = { principal, requestId, signal, deadline: performance.now() + timeoutMs, onEnd };
    const called = await callPlan(plan, record, call, generator);
    return { principal, plan, record, called, refused };
  } finally {
    for (const one of release.toReversed()) one();
  }
}

/**
 * What follows from an invocation that failed. What can be repeated, and what never will succeed, is in the log.
 * @throws {BudgetStopError}
 */
export function consequenceOfCall(
  error: unknown,
  { plan, record, refused }: Pick<Invoked, 'plan' | 'record' | 'refused'>,
  evaluation: Evaluation,
  { signal }: Pick<AskTerms, 'signal'>,
  { log }: Pick<AskDependencies, 'log'>,
): Exclude<Consequence, 'stop'> {
  const consequence = consequenceOf(error, refused?.result);
  if (consequence === 'stop') throw new BudgetStopError(error);
  if (!signal.aborted && (consequence === 'again' || consequence === 'later' || consequence === 'error')) {
    const ids = { evaluation: evaluation.id, invocation_id: record.id };
    const { provider, request } = plan.targets[0] ?? {};
    log.warn(
      { ...ids, ...fieldsOf(error, provider?.id ?? '', request?.model ?? '') },
      'a call of an evaluation failed',
    );
  }
  return consequence;
}

/**
 * What follows from an error before the first call.
 * @throws The error if it ends the evaluation; the reason of the signal when that is aborted
 */
export function triedWithout(
  error: unknown,
  evaluation: Evaluation,
  caseId: string,
  { signal }: Pick<AskTerms, 'signal'>,
  { log }: Pick<AskDependencies, 'log'>,
): Tried<TestError> {
  signal.throwIfAborted();
  const isFault = !(error instanceof ProblemError);
  if (error instanceof BudgetStopError || error instanceof RunCutOffError) throw error;
  if (!isFault && error.type === 'unauthenticated') throw error;
  const failed = toTestError(error);
  if (consequenceOf(error, undefined) === 'later') return { cost: 0n, failed, isLater: true, waitMs: 0 };
  // A fault of the service is that of this case, so that it is not asked again and again.
  if (isFault) log.error({ error, evaluation: evaluation.id, case: caseId }, 'a case of an evaluation failed');
  return { cost: isFault ? 'unknown' : 0n, result: failed };
}

/** A sum of costs, which is unknown if one of them is. */
export function plus(one: NanoDollars | 'unknown', other: NanoDollars | 'unknown'): NanoDollars | 'unknown' {
  return one === 'unknown' || other === 'unknown' ? 'unknown' : one + other;
}

/** How long the provider asks to wait, in milliseconds. */
export function waitOf(error: unknown): number {
  const field = error instanceof ProblemError ? error.headers['Retry-After'] : undefined;
  return Math.min(longestWaitMs, Number(field ?? 0) * 1_000);
}
