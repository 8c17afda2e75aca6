import type { LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import { textOf, type AttemptEnd, type GenerateRequest, type GenerateResult } from '../language-model.ts';
import { originalOf } from '../originals/original-answers.ts';
import { argumentsOf } from '../transport/tool-arguments.ts';
import { AnswerContent } from './parts.ts';
import type { Begun } from './stream.ts';
import { failureContext, toFailure, type CalledProvider } from './classify.ts';
import { badAnswer, failedAnswer, timeout, type Failure } from './failures.ts';
import { prepareSdkCall } from './request.ts';
import { failedEnd, type AttemptResult, type Turn } from './retries.ts';
import { MentionedUsage, type Plausible } from './usage.ts';
import { verdictOf } from './verdict.ts';

/** Calls the provider once, for a whole answer. */
export async function beginWhole(
  provider: CalledProvider,
  request: GenerateRequest,
  { signal, leave, traceFields, plausible, check, end }: Turn,
): Promise<AttemptResult<Begun>> {
  const failed = (failure: Failure, named?: AttemptEnd['answer']): AttemptResult<Begun> => {
    end({ ...failedEnd(failure, signal), answer: named });
    return { failure };
  };
  let named: AttemptEnd['answer'];
  let said: GenerateResult;
  try {
    const { model, options } = await prepareSdkCall(provider, request, signal);
    const answer = await model.doGenerate({
      ...options,
      abortSignal: signal,
      ...(traceFields && { headers: traceFields }),
    });
    // Some packages return an empty answer for a body that they do not understand.
    if (answer.content.length === 0 && answer.finishReason.raw === undefined) return failed(badAnswer());
    named = answer.response;
    said = toResult(provider, answer, plausible);
  } catch (error) {
    return failed(signal.aborted ? timeout('provider') : toFailure(error, failureContext(provider, request)), named);
  } finally {
    leave();
  }
  if (said.finishReason === 'error') return failed(failedAnswer(said.usage), named);
  const checked = await check(said, signal);
  if (!('result' in checked)) return failed(checked.failure, named);
  const { result } = checked;
  end({ outcome: 'succeeded', usage: result.usage, answer: named, receivedBytes: Buffer.byteLength(textOf(result)) });
  return { result: { first: { type: 'finish', result } } };
}

function toResult(
  provider: CalledProvider,
  answer: LanguageModelV4GenerateResult,
  plausible: Plausible,
): GenerateResult {
  const { content, finishReason, usage, response } = answer;
  const original = originalOf(answer);
  const said = new AnswerContent(provider);
  const mentioned = new MentionedUsage(plausible);
  // The package for Bedrock gives no body.
  mentioned.note(response?.body ?? { usage: usage.raw });
  for (const part of content) {
    if (part.type === 'text') said.addText(argumentsOf(part.text));
    else if (part.type === 'tool-call') said.addCall(said.readCall(part));
    else if (part.type === 'reasoning') said.think(undefined, part.text, part.providerMetadata);
  }
  return {
    content: said.parts,
    finishReason: provider.dialect.finishReasonOf?.(response?.body) ?? verdictOf(said.parts, finishReason),
    usage: mentioned.complete(usage),
    ...(original !== undefined && { original }),
  };
}
