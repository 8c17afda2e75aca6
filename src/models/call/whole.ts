import type { LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import type { GenerateRequest, GenerateResult, ToolCall } from '../language-model.ts';
import { argumentsOf } from '../transport/tool-arguments.ts';
import type { Begun } from './stream.ts';
import { failureContext, toFailure, type CalledProvider } from './classify.ts';
import { badAnswer, timeout, type Failure } from './failures.ts';
import { prepareSdkCall } from './request.ts';
import { failedEnd, type AttemptResult, type Turn } from './retries.ts';
import { ToolCallReader } from './tool-calls.ts';
import { MentionedUsage, toFinishReason, type Plausible } from './usage.ts';

/** Calls the provider once, for a whole answer. */
export async function beginWhole(
  provider: CalledProvider,
  request: GenerateRequest,
  { signal, leave, traceFields, plausible, end }: Turn,
): Promise<AttemptResult<Begun>> {
  let failure: Failure;
  try {
    const { model, options } = await prepareSdkCall(provider, request, signal);
    const answer = await model.doGenerate({
      ...options,
      abortSignal: signal,
      ...(traceFields && { headers: traceFields }),
    });
    // Some packages return an empty answer for a body that they do not understand.
    if (answer.content.length > 0 || answer.finishReason.raw !== undefined) {
      const result = toResult(provider, answer, plausible);
      const receivedBytes = Buffer.byteLength(result.text);
      end({ outcome: 'ok', usage: result.usage, answer: answer.response, receivedBytes });
      return { result: { first: { type: 'finish', result } } };
    }
    failure = badAnswer();
  } catch (error) {
    failure = signal.aborted ? timeout('provider') : toFailure(error, failureContext(provider, request));
  } finally {
    leave();
  }
  end(failedEnd(failure, signal));
  return { failure };
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
