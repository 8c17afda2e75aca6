import type { LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import type { FairQueue } from '../../base/limits/fair-queue.ts';
import type { CallOptions, GenerateRequest, GenerateResult, ToolCall } from '../language-model.ts';
import { argumentsOf } from '../transport/tool-arguments.ts';
import { failureContext, toFailure, type CalledProvider } from './classify.ts';
import { badAnswer, timeout } from './failures.ts';
import { prepareSdkCall } from './request.ts';
import { failedEnd, repeat, type AttemptDependencies, type AttemptResult, type Turn } from './retries.ts';
import { ToolCallReader } from './tool-calls.ts';
import { MentionedUsage, toFinishReason, type Plausible } from './usage.ts';

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
export function generate(
  target: RemoteTarget,
  request: GenerateRequest,
  call: CallOptions,
  dependencies: AttemptDependencies,
): Promise<GenerateResult> {
  return repeat(target, request, call, target.queue, dependencies, async (turn) => {
    const outcome = await callOnce(target, turn, request).finally(turn.leave);
    if ('failure' in outcome) turn.end(failedEnd(outcome.failure, turn.signal));
    return outcome;
  });
}

async function callOnce(
  target: RemoteTarget,
  { signal, traceFields, plausible, end }: Turn,
  request: GenerateRequest,
): Promise<AttemptResult<GenerateResult>> {
  try {
    const { model, options } = await prepareSdkCall(target, request, signal);
    const answer = await model.doGenerate({
      ...options,
      abortSignal: signal,
      ...(traceFields && { headers: traceFields }),
    });
    // Some packages return an empty answer for a body that they do not understand.
    if (answer.content.length === 0 && answer.finishReason.raw === undefined) return { failure: badAnswer() };
    const result = toResult(target, answer, plausible);
    const receivedBytes = Buffer.byteLength(result.text);
    end({ outcome: 'ok', usage: result.usage, answer: answer.response, receivedBytes });
    return { result };
  } catch (error) {
    return { failure: signal.aborted ? timeout('provider') : toFailure(error, failureContext(target, request)) };
  }
}

function toResult(
  provider: CalledProvider,
  { content, finishReason, usage, response }: LanguageModelV4GenerateResult,
  plausible: Plausible,
): GenerateResult {
  const reader = new ToolCallReader(provider);
  const mentioned = new MentionedUsage(plausible);
  // The package for Bedrock gives no body.
  mentioned.note(response?.body ?? { usage: usage.raw });
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
    usage: mentioned.complete(usage),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}
