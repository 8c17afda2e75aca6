import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { components } from '../../generated/types.ts';
import { problems } from '../../generated/problems.ts';
import { fromAmount, showMoney, type NanoDollars } from '../costs/money.ts';
import { ProblemError, saidByProvider } from '../errors/problem-error.ts';
import type { Generator } from '../generation/generator.ts';
import type { Plan, Target } from '../generation/plan.ts';
import { answered } from '../generation/invocations.ts';
import { toInvocationResult } from '../generation/invocation-result.ts';
import type { InvocationRecord } from '../invocations/invocation-record.ts';
import { scrub } from '../runtime/scrub.ts';
import { failureTypes } from '../providers/call/failures.ts';
import type { CallOptions } from '../providers/language-model.ts';

/** The result of one call in the form of the contract, in which it is stored and answered. */
export type TestResult = components['schemas']['TestResult'];

export interface CallTargetsDependencies {
  readonly generator: Pick<Generator, 'generate'>;
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
 * @returns one result for each plan, in their order
 * @throws The reason of `signal` when that is aborted, after all calls have ended.
 */
export async function callTargets(
  plans: readonly Plan[],
  call: Omit<CallOptions, 'background' | 'attemptLog'>,
  begin: () => InvocationRecord,
  { generator, log }: CallTargetsDependencies,
): Promise<TestResult[]> {
  const background = { ...call, background: true };
  const perform = async (plan: Plan, { provider, request: { model } }: Target): Promise<TestResult> => {
    const started = performance.now();
    const record = begin();
    record.note({ provider: provider.id, model });
    try {
      const generated = await generator.generate(plan, { ...background, attemptLog: record });
      record.end(answered(generated));
      return {
        status: 'succeeded',
        provider: provider.id,
        model,
        latency_ms: generated.latencyMs,
        invocation_id: record.id,
        result: toInvocationResult(generated),
      };
    } catch (error) {
      record.end({ error, isCancelled: call.signal.aborted });
      if (!call.signal.aborted) log.warn(fieldsOf(error, provider.id, model), 'a call of a test run failed');
      const latency = Math.round(performance.now() - started);
      return {
        status: 'failed',
        provider: provider.id,
        model,
        latency_ms: latency,
        invocation_id: record.id,
        cost: costOfFailure(error),
        error: toTestError(error),
      };
    }
  };
  const calls: Promise<TestResult>[] = [];
  for (const plan of plans) {
    for (const target of plan.targets) calls.push(perform(plan, target));
    // It takes some milliseconds to make a request of a large prompt. Other work runs in between.
    await nextTurn();
  }
  const results = await Promise.all(calls);
  call.signal.throwIfAborted();
  return results;
}

/** What all calls cost together; undefined if that is unknown for one of them. */
export function totalCost(results: readonly TestResult[]): NanoDollars | undefined {
  let total = 0n;
  for (const one of results) {
    const { cost, attempts = [] } = one.status === 'succeeded' ? one.result : { cost: one.cost };
    if (cost === undefined || cost === null || attempts.some(mayBeBilled)) return undefined;
    total += fromAmount(cost.amount);
  }
  return total;
}

/** 0 if no provider can charge for a call that failed. */
function costOfFailure(error: unknown): components['schemas']['CallCost'] {
  const attempts = error instanceof ProblemError ? error.extensions.attempts : undefined;
  return attempts === undefined || attempts.some(mayBeBilled) ? null : showMoney(0n);
}

function mayBeBilled({ may_be_billed }: components['schemas']['FailedAttempt']): boolean {
  return may_be_billed;
}

/** The same fields as in the log line of a failed invocation. */
function fieldsOf(error: unknown, provider: string, model: string): Record<string, unknown> {
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

function toTestError(error: unknown): components['schemas']['TestError'] {
  const problem = error instanceof ProblemError ? error : undefined;
  const type = failureTypes.find((known) => known === problem?.type) ?? 'internal-error';
  return {
    type: `urn:prompt-gateway:problem:${type}`,
    title: problems[type].title,
    detail: problem?.message ?? 'The call failed inside the service.',
    ...saidByProvider(problem),
    retryable: problem?.extensions.retryable ?? false,
  };
}
