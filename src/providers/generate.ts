import { setTimeout as sleep } from 'node:timers/promises';
import type { LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import type { FairQueue } from '../limits/fair-queue.ts';
import { badAnswer, timeout, toFailure, toProblem, type Failure } from './failures.ts';
import type { LanguageModels } from './language-models.ts';
import type { CallOptions, GenerateRequest, GenerateResult, ToolCall } from './generation.ts';
import { ToolCallReader, toFinishReason, toSdkCall, toUsage, type Dialect, type SdkCall } from './sdk-call.ts';
import type { Random } from '../runtime/random.ts';

/** A provider that is called over the network, with everything that a call needs. */
export interface RemoteTarget {
  readonly id: string;
  /** The provider's models, loaded on first use. */
  readonly models: () => Promise<LanguageModels>;
  readonly dialect: Dialect;
  /** Limits how many calls to the provider are in progress at the same time. */
  readonly queue: FairQueue;
}

/** A failed attempt that is followed by another. */
export interface RetryNotice {
  readonly provider: string;
  readonly model: string;
  /** The number of the failed attempt, from 1. */
  readonly attempt: number;
  readonly problem: Failure['type'];
  readonly status?: number;
  /** The pause before the next attempt, in milliseconds. */
  readonly delay: number;
}

export interface GenerateDependencies {
  /** At least 0, below 1. */
  readonly random: Random;
  readonly onRetry?: (notice: RetryNotice) => void;
}

/** Attempts of one call, including the first. */
const maxAttempts = 3;

/** The pause before the first retry, in milliseconds; it is twice as long before the second. */
const firstBackoff = 250;

/** The longest delay of a timer, in milliseconds. */
const longestTimer = 2 ** 31 - 1;

/**
 * Runs a prompt on a remote provider.
 *
 * Repeats a call at most twice: after rate limits, server errors, and connections that failed before an answer began.
 * After an incomplete or invalid answer the call is not repeated, because it was probably charged for. The pause
 * between attempts is what `Retry-After` asks for, else 250 and 500 ms, shortened by a random part of up to a half. If
 * a pause would reach the deadline, the call fails at once. One deadline covers everything: waiting in the queue,
 * attempts and pauses.
 *
 * @throws ProblemError `provider-*` (502).
 * @throws The reason of `call.signal` when that is aborted; the call to the provider is canceled then.
 */
export async function generate(
  target: RemoteTarget,
  request: GenerateRequest,
  call: CallOptions,
  dependencies: GenerateDependencies,
): Promise<GenerateResult> {
  const { onRetry } = dependencies;
  const { model } = request;
  const { signal } = call;
  signal.throwIfAborted();

  // One controller for the caller's signal and the deadline costs less than AbortSignal.any with AbortSignal.timeout.
  const ending = new AbortController();
  const cancel = (): void => {
    ending.abort(signal.reason);
  };
  signal.addEventListener('abort', cancel, { once: true });
  const expire = (): void => {
    const left = call.deadline - performance.now();
    if (left > 0) timer = setTimeout(expire, Math.min(left, longestTimer));
    else ending.abort(new DOMException('The deadline passed.', 'TimeoutError'));
  };
  let timer = setTimeout(expire, Math.min(Math.max(call.deadline - performance.now(), 0), longestTimer));

  try {
    const sdkCall = toSdkCall(target.id, target.dialect, request);
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await tryOnce(target, { ...call, signal: ending.signal }, model, sdkCall);
      if ('result' in outcome) return outcome.result;

      signal.throwIfAborted();
      const { failure } = outcome;
      const delay = pause(failure, attempt, dependencies);
      if (delay === undefined || performance.now() + delay >= call.deadline) throw toProblem(failure, target.id, model);
      const status = failure.status === undefined ? {} : { status: failure.status };
      onRetry?.({ provider: target.id, model, attempt, problem: failure.type, ...status, delay });
      await sleep(delay, undefined, { signal: ending.signal }).catch(() => {
        signal.throwIfAborted();
        throw toProblem(failure, target.id, model);
      });
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

async function tryOnce(
  target: RemoteTarget,
  { keyId, traceparent, background = false, signal }: Omit<CallOptions, 'deadline'>,
  model: string,
  sdkCall: SdkCall,
): Promise<{ result: GenerateResult } | { failure: Failure }> {
  let leave: () => void;
  try {
    leave = await target.queue.enter({ key: keyId, background, signal });
  } catch {
    return { failure: timeout('turn') };
  }
  try {
    const languageModel = (await target.models())(model);
    const answer = await languageModel.doGenerate({
      ...sdkCall,
      abortSignal: signal,
      ...(traceparent !== undefined && { headers: { traceparent } }),
    });
    // Some packages return an empty answer for a body that they do not understand.
    if (answer.content.length === 0 && answer.finishReason.raw === undefined) return { failure: badAnswer() };
    return { result: toResult(target, answer) };
  } catch (error) {
    return { failure: signal.aborted ? timeout('provider') : toFailure(error, Date.now()) };
  } finally {
    leave();
  }
}

/** How long to wait before the next attempt, in milliseconds; undefined when there is none. */
function pause(failure: Failure, attempt: number, { random }: GenerateDependencies): number | undefined {
  if (!failure.tryAgain || attempt >= maxAttempts) return undefined;
  const backoff = firstBackoff * 2 ** (attempt - 1) * (1 - random.fraction() / 2);
  return Math.max(backoff, failure.retryAfter ?? 0);
}

function toResult(
  { id, dialect }: RemoteTarget,
  { content, finishReason, usage }: LanguageModelV4GenerateResult,
): GenerateResult {
  const reader = new ToolCallReader(id, dialect);
  const toolCalls: ToolCall[] = [];
  let text = '';
  for (const part of content) {
    if (part.type === 'text') text += part.text;
    else if (part.type === 'reasoning') reader.addReasoning(part.text, part.providerMetadata);
    else if (part.type === 'tool-call') toolCalls.push(reader.read(part));
  }
  return {
    text,
    finishReason: toFinishReason(finishReason),
    usage: toUsage(usage),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}
