import type { LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import type { FairQueue } from '../../limits/fair-queue.ts';
import { outcomeOf, repeat, type AttemptDependencies } from './retries.ts';
import { createConceal } from './conceal.ts';
import { badAnswer, timeout, toFailure, type Failure, type FailureContext } from './failures.ts';
import type { CallOptions, GenerateRequest, GenerateResult, ToolCall } from '../language-model.ts';
import { argumentsOf } from '../transport/tool-arguments.ts';
import { prepareSdkCall, ToolCallReader, toFinishReason, toUsage, type SdkProvider } from './request.ts';

/** A provider that can be called, and what its failures are described with. */
export interface CalledProvider extends SdkProvider, Pick<FailureContext, 'credentials'> {
  /** Spellings of the configured secrets of all providers. */
  readonly secrets: readonly string[];
}

/** The description of failures of a call. */
export function failureContext({ credentials, secrets }: CalledProvider, request: GenerateRequest): FailureContext {
  return { now: Date.now(), credentials, conceal: createConceal(secrets, request) };
}

/** A provider that is called over the network, with everything that a call needs. */
export interface RemoteTarget extends CalledProvider {
  /** Limits how many calls to the provider are in progress at the same time. */
  readonly queue: FairQueue;
}

/**
 * Runs a prompt on a remote provider, with at most two retries.
 *
 * @throws ProblemError `provider-*` (502).
 * @throws The reason of `call.signal` when that is aborted; the call to the provider is canceled then.
 */
export async function generate(
  target: RemoteTarget,
  request: GenerateRequest,
  call: CallOptions,
  dependencies: AttemptDependencies,
): Promise<GenerateResult> {
  call.signal.throwIfAborted();
  return repeat({ provider: target.id, model: request.model }, call, dependencies, (signal) =>
    tryOnce(target, { ...call, signal }, request, dependencies),
  );
}

async function tryOnce(
  target: RemoteTarget,
  { keyId, traceparent, background = false, signal }: Omit<CallOptions, 'deadline'>,
  request: GenerateRequest,
  { onAttempt }: AttemptDependencies,
): Promise<{ result: GenerateResult } | { failure: Failure }> {
  let leave: () => void;
  try {
    leave = await target.queue.enter({ key: keyId, background, signal });
  } catch {
    return { failure: timeout('turn') };
  }
  const outcome = await callOnce(target, traceparent, signal, request).finally(leave);
  onAttempt?.(target.id, 'result' in outcome ? 'ok' : outcomeOf(outcome.failure, signal));
  return outcome;
}

async function callOnce(
  target: RemoteTarget,
  traceparent: string | undefined,
  signal: AbortSignal,
  request: GenerateRequest,
): Promise<{ result: GenerateResult } | { failure: Failure }> {
  try {
    const { model, options } = await prepareSdkCall(target, request, signal);
    const answer = await model.doGenerate({
      ...options,
      abortSignal: signal,
      ...(traceparent !== undefined && { headers: { traceparent } }),
    });
    // Some packages return an empty answer for a body that they do not understand.
    if (answer.content.length === 0 && answer.finishReason.raw === undefined) return { failure: badAnswer() };
    return { result: toResult(target, answer) };
  } catch (error) {
    return { failure: signal.aborted ? timeout('provider') : toFailure(error, failureContext(target, request)) };
  }
}

function toResult(
  provider: RemoteTarget,
  { content, finishReason, usage, response }: LanguageModelV4GenerateResult,
): GenerateResult {
  const reader = new ToolCallReader(provider);
  const toolCalls: ToolCall[] = [];
  let text = '';
  for (const part of content) {
    if (part.type === 'text') text += argumentsOf(part.text);
    else if (part.type === 'reasoning') reader.addReasoning(part.text, part.providerMetadata);
    else if (part.type === 'tool-call') toolCalls.push(reader.read(part));
  }
  return {
    text,
    finishReason: provider.dialect.finishReasonOf?.(response?.body) ?? toFinishReason(finishReason),
    usage: toUsage(usage),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}
