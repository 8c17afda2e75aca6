import type { LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import { textOf, type AttemptEnd, type GenerateRequest, type GenerateResult } from '../language-model.ts';
import { originalOf } from '../originals/original-answers.ts';
import { argumentsOf } from '../transport/tool-arguments.ts';
import { AnswerContent } from './parts.ts';
import type { Begun } from './stream.ts';
import { failureContext, toAnswerFailure, toFailure, type CalledProvider } from './classify.ts';
import { badAnswer, timeout, type Failure } from './failures.ts';
import { prepareSdkCall } from './request.ts';
import { failedEnd, type AttemptResult, type Turn } from './retries.ts';
import { AnswerSigns } from './signs.ts';
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
  let isPrepared = false;
  const signs = new AnswerSigns();
  try {
    const { model, options } = await prepareSdkCall(provider, request, signal);
    isPrepared = true;
    const answer = await model.doGenerate({
      ...options,
      abortSignal: signal,
      ...(traceFields && { headers: traceFields }),
    });
    named = answer.response;
    said = toResult(provider, answer, signs, plausible);
    // Some packages return an empty answer for a body that they do not understand.
    const isEmpty = said.content.length === 0 && said.refusal === undefined && answer.finishReason.raw === undefined;
    if (isEmpty && said.finishReason !== 'error') return failed(badAnswer(), named);
  } catch (error) {
    if (signal.aborted) return failed(timeout('provider'), named);
    return failed(toFailure(error, failureContext(provider, request), isPrepared), named);
  } finally {
    leave();
  }
  if (said.finishReason === 'error') {
    const failure = toAnswerFailure(signs.error, said.usage, failureContext(provider, request));
    return failed({ ...failure, mayBeBilled: failure.mayBeBilled || said.content.length > 0 }, named);
  }
  const checked = await check(said, signal);
  if (!('result' in checked)) return failed(checked.failure, named);
  const { result } = checked;
  end({ outcome: 'succeeded', usage: result.usage, answer: named, receivedBytes: Buffer.byteLength(textOf(result)) });
  return { result: { first: { type: 'finish', result } } };
}

function toResult(
  provider: CalledProvider,
  answer: LanguageModelV4GenerateResult,
  signs: AnswerSigns,
  plausible: Plausible,
): GenerateResult {
  const { content, finishReason, usage, response } = answer;
  const original = originalOf(answer);
  const said = new AnswerContent(provider);
  const mentioned = new MentionedUsage(plausible);
  // The package for Bedrock gives no body.
  mentioned.note(response?.body ?? { usage: usage.raw });
  signs.note(response?.body);
  for (const part of content) {
    if (part.type === 'text' && !signs.isRefusal(part.text)) said.addText(argumentsOf(part.text));
    else if (part.type === 'tool-call') said.addCall(said.readCall(part));
    else if (part.type === 'reasoning') said.think(undefined, part.text, part.providerMetadata);
  }
  const call = signs.callIn(said.parts, response?.id);
  if (call !== undefined) said.addCall(said.readCall(call));
  const { refusal } = signs;
  return {
    content: said.parts,
    finishReason: verdictOf(said.parts, finishReason, signs),
    ...(refusal !== undefined && { refusal }),
    usage: mentioned.complete(usage),
    ...(original !== undefined && { original }),
  };
}
