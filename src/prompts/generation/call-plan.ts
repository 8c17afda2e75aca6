import type { InvocationRecord, Spent } from '../../accounting/invocations/invocation-record.ts';
import { finishOf, type CallOptions } from '../../models/language-model.ts';
import type { Generated, Generator } from './generator.ts';
import { withAssumedOutput } from './output-limit.ts';
import type { Plan } from './plan.ts';
import { answered } from './prepare-invocation.ts';

/** How a call in the background ended. */
export type Called = ({ readonly generated: Generated } | { readonly error: unknown }) & {
  /** Undefined if its calls go on. */
  readonly spent: Spent | undefined;
  /** Until the answer or the failure, in whole milliseconds. */
  readonly latencyMs: number;
};

/**
 * Calls the one target of a plan, after the calls that a caller waits for, and ends the record. Nothing is cached. It
 * never rejects.
 *
 * @param record which was begun for it
 */
export async function callPlan(
  plan: Plan,
  record: InvocationRecord,
  call: Omit<CallOptions, 'background' | 'attemptLog'>,
  generator: Pick<Generator, 'answer'>,
): Promise<Called> {
  const [target] = plan.targets;
  const started = performance.now();
  let spent: Spent | undefined;
  const onFinal = (all: Spent): void => {
    spent = all;
  };
  if (target !== undefined) record.note({ provider: target.provider.id, model: target.request.model });
  record.asked(target?.request, plan.variables, plan.promptMessages);
  try {
    const assumed = await withAssumedOutput(plan, record.assumedOutputTokens);
    record.assumed(assumed.assumedOutputTokens);
    const options = { ...call, background: true, attemptLog: record };
    const { generated } = await finishOf(generator.answer(assumed, options, { isStreamed: false }));
    record.end(answered(generated), onFinal);
    return { generated, spent, latencyMs: generated.latencyMs };
  } catch (error) {
    record.end({ error, isCanceled: call.signal.aborted }, onFinal);
    return { error, spent, latencyMs: Math.round(performance.now() - started) };
  }
}
