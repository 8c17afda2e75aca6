import type { FairQueue } from '../../base/limits/fair-queue.ts';
import type { AnswerForm, CallOptions, GenerateEvent, GenerateRequest } from '../language-model.ts';
import type { CalledProvider } from './classify.ts';
import { beginEmbedding, type EmbeddingProvider } from './embedding.ts';
import { repeat, type AttemptDependencies } from './retries.ts';
import { beginStream, readStream } from './stream.ts';
import type { StreamWatch } from './stream-watch.ts';
import { beginWhole } from './whole.ts';

/** A provider that is called over the network. */
export interface RemoteProvider {
  /** Its models give whole answers. */
  readonly whole: CalledProvider;
  /** Limits how many calls for whole answers are in progress at the same time. */
  readonly queue: FairQueue;
  /** Its models use `ProviderHttp.streamFetch`. */
  readonly streamed: CalledProvider;
  /** Its models make vectors; undefined if it has none. */
  readonly embeddings: EmbeddingProvider | undefined;
}

export interface AnswerDependencies extends AttemptDependencies {
  /** Limits how many streams are open at the same time, of all providers. */
  readonly streamQueue: FairQueue;
  readonly watch: StreamWatch;
}

/** How many streams are open in a process at the same time; further ones wait. */
export const mostStreams = 2_000;

/** Runs a request on a remote provider, as `Provider.answer`: repeats the call until an answer begins, and reads the rest. */
export async function* answer(
  { whole, queue, streamed, embeddings }: RemoteProvider,
  request: GenerateRequest,
  call: CallOptions,
  form: AnswerForm,
  dependencies: AnswerDependencies,
): AsyncGenerator<GenerateEvent, void, void> {
  const { streamQueue, watch } = dependencies;
  const { embedding } = request;
  if (embedding !== undefined && embeddings !== undefined) {
    const begun = await repeat(embeddings, request, call, queue, dependencies, (turn) =>
      beginEmbedding(embeddings, request, embedding, turn),
    );
    yield begun.first;
    return;
  }
  const { first, rest } = form.isStreamed
    ? await repeat(streamed, request, call, streamQueue, dependencies, (turn) =>
        beginStream(streamed, request, turn, form),
      )
    : await repeat(whole, request, call, queue, dependencies, (turn) => beginWhole(whole, request, turn));
  if (rest === undefined) yield first;
  else yield* readStream(streamed, request, call, first, rest, watch);
}
