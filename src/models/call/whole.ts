import type { LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import { textOf, type AttemptEnd, type GenerateRequest, type GenerateResult } from '../language-model.ts';
import { argumentsOf } from '../transport/tool-arguments.ts';
import { AnswerContent } from './parts.ts';
import type { Begun } from './stream.ts';
import { failureContext, toFailure, type CalledProvider } from './classify.ts';
import { badAnswer, timeout, type Failure } from './failures.ts';
import { prepareSdkCall } from './request.ts';
import { failedEnd, type AttemptResult, type Turn } from './retries.ts';
import { MentionedUsage, toFinishReason, type Plausible } from './usage.ts';

/** Calls the provider once, for a whole answer. */
export async function beginWhole(
  provider: CalledProvider,
  request: GenerateRequest,
  { signal, leave, traceFields, plausible, check, end }: Turn,
): Promise<AttemptResult<Begun>> {
  let failure: Failure;
  let named: AttemptEnd['answer'];
  try {
    const { model, options } = await prepareSdkCall(provider, request, signal);
    const answer = await model.doGenerate({
      ...options,
      abortSignal: signal,
      ...(traceFields && { headers: traceFields }),
    });
    // Some packages return an empty answer for a body that they do not understand.
    if (answer.content.length > 0 || answer.finishReason.raw !== undefined) {
      leave();
      named = answer.response;
      const checked = await check(toResult(provider, answer, plausible));
      if ('result' in checked) {
        const { result } = checked;
        end({
          outcome: 'succeeded',
          usage: result.usage,
          answer: named,
          receivedBytes: Buffer.byteLength(textOf(result)),
        });
        return { result: { first: { type: 'finish', result } } };
      }
      ({ failure } = checked);
    } else failure = badAnswer();
  } catch (error) {
    failure = signal.aborted ? timeout('provider') : toFailure(error, failureContext(provider, request));
  } finally {
    leave();
  }
  end({ ...failedEnd(failure, signal), answer: named });
  return { failure };
}

function toResult(
  provider: CalledProvider,
  { content, finishReason, usage, response }: LanguageModelV4GenerateResult,
  plausible: Plausible,
): GenerateResult {
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
    finishReason: provider.dialect.finishReasonOf?.(response?.body) ?? toFinishReason(finishReason),
    usage: mentioned.complete(usage),
  };
}
