import type { AttemptEnd, CallOptions, GenerateEvent, GenerateRequest } from '../language-model.ts';
import { AnswerContent } from './parts.ts';
import { failureContext, toFailure, type CalledProvider, type FailureContext } from './classify.ts';
import { endlessStream, timeout, toAttempt, toProblem } from './failures.ts';
import { prepareSdkCall } from './request.ts';
import { failedEnd, type AttemptResult, type Turn } from './retries.ts';
import type { StreamWatch } from './stream-watch.ts';
import { AnswerError, StreamedAnswer, type StreamForm } from './streamed-answer.ts';
import { MentionedUsage } from './usage.ts';

/** The rest of an answer that has begun. */
export interface Rest {
  readonly answer: StreamedAnswer;
  readonly end: Turn['end'];
}

/** The begin of an answer. Without a rest, the first event is the only one. */
export interface Begun {
  readonly first: GenerateEvent;
  readonly rest?: Rest;
}

/**
 * Gives a streamed answer from its first event on, while it comes.
 *
 * There is no deadline; `watch` ends a stream that hangs. Nothing is read from the provider, beyond some kilobytes, while
 * the caller does not ask for the next event.
 *
 * @throws ProblemError `provider-*` (502), with the usage so far, as far as it is known.
 * @throws The reason of `call.signal` when that is aborted; the call to the provider is canceled then, at once.
 */
export async function* readStream(
  { id }: Pick<CalledProvider, 'id'>,
  { model }: GenerateRequest,
  call: CallOptions,
  first: GenerateEvent,
  { answer, end }: Rest,
  watch: StreamWatch,
): AsyncGenerator<GenerateEvent, void, void> {
  const { signal } = call;
  const cancel = (): void => {
    answer.close();
  };
  signal.addEventListener('abort', cancel, { once: true });
  const watched = watch.begin((limit) => {
    answer.close(endlessStream(limit));
  });
  let ended: AttemptEnd | undefined = { outcome: 'canceled' };
  const settle = (): void => {
    if (ended === undefined) return;
    const { usage = answer.usage } = ended;
    end({ ...ended, usage, answer: answer.named, receivedBytes: answer.bytes });
    ended = undefined;
  };
  try {
    signal.throwIfAborted();
    let event = first;
    while (event.type !== 'finish') {
      yield event;
      signal.throwIfAborted();
      watched.wait();
      event = await answer.next();
      watched.rest();
    }
    ended = { outcome: 'succeeded', usage: event.result.usage };
    // Before the last event, which has the cost.
    settle();
    yield event;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AnswerError)) throw error;
    ended = failedEnd(error.failure, signal);
    call.onFailedAttempt?.(toAttempt(error.failure, id, model));
    throw toProblem(error.failure, id, model);
  } finally {
    settle();
    watched.end();
    signal.removeEventListener('abort', cancel);
    answer.close();
  }
}

/** Calls the provider once, up to the first event. */
export async function beginStream(
  provider: CalledProvider,
  request: GenerateRequest,
  turn: Turn,
  form: StreamForm,
): Promise<AttemptResult<Begun>> {
  const { signal, leave, traceFields, plausible, end } = turn;
  const upstream = new AbortController();
  const cancel = (): void => {
    upstream.abort(signal.reason);
  };
  signal.addEventListener('abort', cancel, { once: true });
  const usage = new MentionedUsage(plausible);
  let answer: StreamedAnswer | undefined;
  let isPrepared = false;
  const context = (): FailureContext => failureContext(provider, request);
  try {
    const { model, options } = await prepareSdkCall(provider, request, upstream.signal);
    signal.throwIfAborted();
    isPrepared = true;
    const { stream: parts } = await model.doStream({
      ...options,
      // For the usage of streams that break off.
      includeRawChunks: true,
      abortSignal: upstream.signal,
      ...(traceFields && { headers: traceFields }),
    });
    answer = new StreamedAnswer(parts, new AnswerContent(provider), usage, upstream, turn, context, form);
    return { result: { first: await answer.next(), rest: { answer, end } } };
  } catch (error) {
    upstream.abort();
    leave();
    const failure = signal.aborted
      ? { ...timeout('provider'), usage: usage.usage }
      : error instanceof AnswerError
        ? error.failure
        : toFailure(error, context(), isPrepared);
    end({ ...failedEnd(failure, signal), answer: answer?.named, receivedBytes: answer?.bytes });
    return { failure };
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
