import { isObject, membersOf } from '../../base/runtime/objects.ts';
import type { AttemptEnd, GenerateRequest, GenerateResult, Usage } from '../language-model.ts';
import type { Unsupported } from '../provider.ts';
import { expectVectors, type ReadVectors } from '../transport/vectors.ts';
import { mistakeIn, textsIn, tokensIn, type EmbeddingRequest, type Vector } from '../vectors.ts';
import type { EmbeddingModels, VendorEmbeddings } from '../vendors/vendor.ts';
import { failureContext, toFailure, type CalledProvider } from './classify.ts';
import { badAnswer, timeout, unfitAnswer, type Failure } from './failures.ts';
import { failedEnd, type AttemptResult, type Turn } from './retries.ts';
import type { Begun } from './stream.ts';
import type { Plausible } from './usage.ts';

/** A provider with models of embeddings. */
export interface EmbeddingProvider extends Omit<CalledProvider, 'models' | 'dialect'> {
  /** Send by a `fetch` `withVectors`. */
  readonly models: () => Promise<EmbeddingModels>;
  readonly own: Omit<VendorEmbeddings, 'load'>;
}

/** Calls the provider once, for all vectors. */
export async function beginEmbedding(
  provider: EmbeddingProvider,
  request: GenerateRequest,
  embedding: EmbeddingRequest,
  { signal, leave, traceFields, plausible, end }: Turn,
): Promise<AttemptResult<Begun>> {
  const { isOpenAiCompatible = false, dimensionsOf } = provider.own;
  const { dimensions } = embedding;
  let named: AttemptEnd['answer'];
  const failed = (failure: Failure): AttemptResult<Begun> => {
    end({ ...failedEnd(failure, signal), answer: named });
    return { failure };
  };
  let reading: ReadVectors | undefined;
  let vectors: readonly Vector[] | undefined;
  let usage: Usage;
  try {
    const model = (await provider.models())(request.model);
    reading = expectVectors(signal, embedding, isOpenAiCompatible);
    const answer = await model.doEmbed({
      values: isOpenAiCompatible ? [''] : textsIn(embedding),
      ...(dimensions !== undefined &&
        !isOpenAiCompatible &&
        (dimensionsOf?.(dimensions, request.model) ?? { dimensions })),
      abortSignal: signal,
      ...(traceFields && { headers: traceFields }),
    });
    const { model: modelId } = membersOf(answer.response?.body);
    named = { modelId: typeof modelId === 'string' ? modelId : undefined };
    vectors = vectorsIn(answer.embeddings, reading, answer.response?.body);
    usage = usageOf(answer.usage?.tokens, plausible);
  } catch (error) {
    if (signal.aborted) return failed(timeout('provider'));
    return failed(reading?.failure ?? toFailure(error, failureContext(provider, request), reading !== undefined));
  } finally {
    leave();
  }
  if (vectors === undefined) return failed({ ...badAnswer(), usage });
  const result: GenerateResult = { content: [], finishReason: 'stop', usage };
  const mistake = mistakeIn(vectors, embedding);
  if (mistake !== undefined) return failed(unfitAnswer(mistake, result));
  end({ outcome: 'succeeded', usage, answer: named });
  return { result: { first: { type: 'finish', result: { ...result, vectors } } } };
}

/**
 * The vectors in the order of the inputs. OpenAI's answers say of each which input it is of.
 * @returns undefined if one is missing
 */
function vectorsIn(
  places: readonly (readonly number[])[],
  { vectors }: ReadVectors,
  body: unknown,
): readonly Vector[] | undefined {
  const { data } = membersOf(body);
  const ordered: Vector[] = [];
  for (const [at, [place = -1]] of places.entries()) {
    const item: unknown = Array.isArray(data) ? data[at] : undefined;
    const { index = at } = isObject(item) ? item : {};
    const vector = vectors[place];
    if (vector === undefined || !isPlace(index, places.length) || ordered[index] !== undefined) return undefined;
    ordered[index] = vector;
  }
  return ordered;
}

function isPlace(index: unknown, count: number): index is number {
  return Number.isInteger(index) && Number(index) >= 0 && Number(index) < count;
}

/** Some servers say 0 for what they do not count. */
function usageOf(tokens: number | undefined, plausible: Plausible): Usage {
  if (!Number.isSafeInteger(tokens) || tokens === undefined || tokens <= 0) return {};
  return plausible({ inputTokens: tokens, outputTokens: 0 }) ?? {};
}

/** What a provider cannot do of a request for vectors. */
export function unsupportedEmbedding(
  own: EmbeddingProvider['own'] | undefined,
  model: string,
  embedding: EmbeddingRequest,
): Unsupported[] {
  if (own === undefined) return [{ member: 'model', detail: 'The provider has no embeddings.' }];
  const { isOpenAiCompatible = false, dimensionsOf } = own;
  const { dimensions } = embedding;
  const hasTokens = !isOpenAiCompatible && tokensIn(embedding) > 0;
  const hasLength = dimensions === undefined || dimensionsOf === undefined || dimensionsOf(dimensions, model);
  return [
    ...(hasTokens ? [{ member: 'input', detail: 'The provider takes only texts.' }] : []),
    ...(hasLength ? [] : [{ member: 'dimensions', detail: 'The model has no vectors of this length.' }]),
  ];
}

/** The most inputs of a call. */
export async function mostInputs(provider: EmbeddingProvider | undefined, model: string): Promise<number> {
  try {
    return (await (await provider?.models())?.(model).maxEmbeddingsPerCall) ?? Infinity;
  } catch {
    // The call itself will say why there is no such model.
    return Infinity;
  }
}
