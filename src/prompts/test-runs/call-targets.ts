import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { components } from '../../../generated/types.ts';
import { problems } from '../../../generated/problems.ts';
import { noCost, type CallCost, type NanoDollars } from '../../base/runtime/money.ts';
import { showCost } from '../../accounting/prices/prices.ts';
import { ProblemError, saidByProvider } from '../../base/errors/problem-error.ts';
import type { Generator } from '../generation/generator.ts';
import { callPlan } from '../generation/call-plan.ts';
import type { Plan, Target } from '../generation/plan.ts';
import { toInvocationResult } from '../generation/invocation-result.ts';
import type { InvocationRecord, Spent } from '../../accounting/invocations/invocation-record.ts';
import { scrub } from '../../base/runtime/scrub.ts';
import { failureTypes } from '../../models/call/failures.ts';
import type { CallOptions } from '../../models/language-model.ts';

/** The result of one call in the form of the contract, in which it is stored and answered. */
export type TestResult = components['schemas']['TestResult'];

export interface CallTargetsDependencies {
  readonly generator: Pick<Generator, 'answer'>;
  readonly log: Logger;
}

/**
 * Calls the targets of all plans at the same time and waits for all of them. A failed call becomes a result with an
 * error.
 *
 * @param call.signal cancels all calls
 * @param call.deadline of every call, on the clock of `performance.now`
 * @param plans each with one target
 * @param begin begins the record of a call
 * @returns one result for each plan, in their order, and what all calls cost; `cost` is undefined if that is unknown
 * @throws The reason of `signal` when that is aborted, after all calls have ended.
 */
export async function callTargets(
  plans: readonly Plan[],
  call: Omit<CallOptions, 'background' | 'attemptLog'>,
  begin: (plan: Plan) => InvocationRecord,
  { generator, log }: CallTargetsDependencies,
): Promise<{ results: TestResult[]; cost: NanoDollars | undefined }> {
  let total: NanoDollars | undefined = 0n;
  const perform = async (plan: Plan, { provider, request }: Target): Promise<TestResult> => {
    const { model } = request;
    const record = begin(plan);
    const called = await callPlan(plan, record, call, generator);
    const { spent, latencyMs } = called;
    const { cost: amount } = spent ?? {};
    total = total === undefined || (spent !== undefined && amount === undefined) ? undefined : total + (amount ?? 0n);
    const about = { provider: provider.id, model, latency_ms: latencyMs, invocation_id: record.id };
    if ('generated' in called) {
      return { status: 'succeeded', ...about, result: toInvocationResult(called.generated) };
    }
    const { error } = called;
    if (!call.signal.aborted) {
      const ids = { request_id: call.requestId, invocation_id: record.id };
      log.warn({ ...ids, ...fieldsOf(error, provider.id, model) }, 'a call of a test run failed');
    }
    return { status: 'failed', ...about, cost: showCost(costOf(spent)), error: toTestError(error) };
  };
  const calls: Promise<TestResult>[] = [];
  for (const plan of plans) {
    for (const target of plan.targets) calls.push(perform(plan, target));
    // It takes some milliseconds to make a request of a large prompt. Other work runs in between.
    await nextTurn();
  }
  const results = await Promise.all(calls);
  call.signal.throwIfAborted();
  return { results, cost: total };
}

/** What a call cost that failed. */
export function costOf({ cost, isCeiling }: Partial<Spent> = {}): CallCost | undefined {
  return cost === undefined ? undefined : { ...noCost, amount: cost, basis: isCeiling ? 'ceiling' : 'usage' };
}

/** The same fields as in the log line of a failed invocation. */
export function fieldsOf(error: unknown, provider: string, model: string): Record<string, unknown> {
  const problem = error instanceof ProblemError ? error : undefined;
  return {
    problem: problem?.type ?? 'internal-error',
    provider,
    // Callers choose the names of models.
    model: scrub(model),
    ...saidByProvider(problem),
    ...(problem === undefined || problem.cause !== undefined ? { error } : {}),
  };
}

const errorTypes = [...failureTypes, 'budget-exceeded', 'cost-unknown'] as const;

/** Why a call failed, in the form of the contract. */
export function toTestError(error: unknown): components['schemas']['TestError'] {
  const problem = error instanceof ProblemError ? error : undefined;
  const type = errorTypes.find((known) => known === problem?.type) ?? 'internal-error';
  return {
    type: `urn:prompt-gateway:problem:${type}`,
    title: problems[type].title,
    detail: problem?.message ?? 'The call failed inside the service.',
    ...saidByProvider(problem),
    retryable: problem?.extensions.retryable ?? false,
  };
}
