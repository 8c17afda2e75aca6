import type { LanguageModelV4StreamPart, LanguageModelV4ToolCall, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { FairQueue } from '../../limits/fair-queue.ts';
import { outcomeOf, repeat, type AttemptDependencies } from './retries.ts';
import {
  endlessStream,
  incompleteAnswer,
  timeout,
  toAttempt,
  toFailure,
  tooLarge,
  toProblem,
  toStreamFailure,
  type Failure,
  type FailureContext,
} from './failures.ts';
import { failureContext, type CalledProvider } from './whole.ts';
import type { CallOptions, GenerateEvent, GenerateRequest, ToolCall, Usage } from '../language-model.ts';
import { prepareSdkCall, ToolCallReader, toFinishReason, toUsage } from './request.ts';
import { UsageSoFar } from './usage.ts';
import type { StreamWatch } from './stream-watch.ts';
import { argumentsOf } from '../transport/tool-arguments.ts';

export interface StreamDependencies extends AttemptDependencies {
  /** Limits how many streams are open at the same time, of all providers. */
  readonly streamQueue: FairQueue;
  readonly watch: StreamWatch;
}

/** How many streams are open in a process at the same time; further ones wait. */
export const mostStreams = 2_000;

/** The longest answer, in bytes of text, reasoning and arguments; like that of a whole answer. */
const mostBytes = 4 * 1024 * 1024;

/** How long the provider has to end its response after the format's own end, in milliseconds. */
const endingMs = 1_000;

/**
 * Runs a prompt on a remote provider and gives the answer while it comes.
 *
 * Until the first content (text or a whole tool call, no reasoning) it behaves like `generate`, with the same retries.
 * From then on there is no deadline; `watch` ends a stream that hangs. Nothing is read from the provider, beyond some
 * kilobytes, while the caller does not ask for the next event.
 *
 * @param provider Its models use `ProviderHttp.streamFetch`.
 * @throws ProblemError `provider-*` (502). After the first content it has the usage so far, as far as it is known.
 * @throws The reason of `call.signal` when that is aborted; the call to the provider is canceled then, at once.
 */
export async function* stream(
  provider: CalledProvider,
  request: GenerateRequest,
  call: CallOptions,
  dependencies: StreamDependencies,
): AsyncGenerator<GenerateEvent, void, undefined> {
  const { id } = provider;
  const { model } = request;
  const { signal } = call;
  signal.throwIfAborted();
  const { answer, first } = await repeat({ provider: id, model }, call, dependencies, (attempt) =>
    begin(provider, { ...call, signal: attempt }, request, dependencies),
  );

  const cancel = (): void => {
    answer.close();
  };
  signal.addEventListener('abort', cancel, { once: true });
  const watched = dependencies.watch.begin((limit) => {
    answer.close(endlessStream(limit));
  });
  let isLeft = true;
  let outcome = 'cancelled';
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
    isLeft = false;
    outcome = 'ok';
    yield event;
  } catch (error) {
    signal.throwIfAborted();
    isLeft = false;
    if (!(error instanceof AnswerError)) throw error;
    outcome = error.failure.type;
    call.onFailedAttempt?.(toAttempt(error.failure, id, model));
    throw toProblem(error.failure, id, model);
  } finally {
    dependencies.onAttempt?.(id, outcome);
    watched.end();
    signal.removeEventListener('abort', cancel);
    answer.close();
    if (isLeft && answer.usage) call.onLeft?.(answer.usage);
  }
}

/** Calls the provider once, up to the first event. */
async function begin(
  provider: CalledProvider,
  { keyId, traceparent, background = false, signal }: Omit<CallOptions, 'deadline'>,
  request: GenerateRequest,
  { streamQueue: queue, onAttempt }: StreamDependencies,
): Promise<{ result: { answer: Answer; first: GenerateEvent } } | { failure: Failure }> {
  let leave: () => void;
  try {
    leave = await queue.enter({ key: keyId, background, signal });
  } catch {
    return { failure: timeout('turn') };
  }
  const upstream = new AbortController();
  const cancel = (): void => {
    upstream.abort(signal.reason);
  };
  signal.addEventListener('abort', cancel, { once: true });
  const usage = new UsageSoFar();
  const context = (): FailureContext => failureContext(provider, request);
  try {
    const { model, options } = await prepareSdkCall(provider, request, upstream.signal);
    signal.throwIfAborted();
    const { stream: parts } = await model.doStream({
      ...options,
      // For the usage of streams that break off.
      includeRawChunks: true,
      abortSignal: upstream.signal,
      ...(traceparent !== undefined && { headers: { traceparent } }),
    });
    const answer = new Answer(parts, new ToolCallReader(provider), usage, upstream, leave, context);
    return { result: { answer, first: await answer.next() } };
  } catch (error) {
    upstream.abort();
    leave();
    const failure = signal.aborted
      ? { ...timeout('provider'), ...known(usage) }
      : error instanceof AnswerError
        ? error.failure
        : toFailure(error, context());
    onAttempt?.(provider.id, outcomeOf(failure, signal));
    return { failure };
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

class AnswerError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.detail);
    this.name = 'AnswerError';
    this.failure = failure;
  }
}

/** An answer that is being streamed. */
class Answer {
  readonly #reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>;
  readonly #toolCallReader: ToolCallReader;
  readonly #usage: UsageSoFar;
  readonly #upstream: AbortController;
  readonly #leave: () => void;
  readonly #context: () => FailureContext;
  #ready: GenerateEvent[] = [];
  #text = '';
  readonly #toolCalls: ToolCall[] = [];
  /**
   * Calls that are given when something else follows. When a stream breaks off, some packages report the beginning of a
   * call as a whole call before they report the end.
   */
  #held: ToolCall[] = [];
  readonly #reasoning = new Map<string, { text: string; metadata: SharedV4ProviderMetadata }>();
  /** The calls whose arguments came in pieces. */
  readonly #piecemeal = new Set<string>();
  #bytes = 0;
  #isFinished = false;
  #isClosed = false;
  #reason: Failure | undefined;

  constructor(
    parts: ReadableStream<LanguageModelV4StreamPart>,
    toolCallReader: ToolCallReader,
    usage: UsageSoFar,
    upstream: AbortController,
    leave: () => void,
    context: () => FailureContext,
  ) {
    this.#reader = parts.getReader();
    this.#toolCallReader = toolCallReader;
    this.#usage = usage;
    this.#upstream = upstream;
    this.#leave = leave;
    this.#context = context;
  }

  /** The tokens that the provider has mentioned. */
  get usage(): Usage | undefined {
    return this.#usage.usage;
  }

  /** @throws AnswerError */
  async next(): Promise<GenerateEvent> {
    for (;;) {
      const event = this.#ready.shift();
      if (event !== undefined) return event;
      if (this.#reason) throw this.#error(this.#reason);
      const part = await this.#read();
      if (part === undefined) throw this.#error(this.#reason ?? incompleteAnswer());
      try {
        this.#take(part);
      } catch (error) {
        throw error instanceof AnswerError ? error : this.#error(toStreamFailure(error, this.#context()));
      }
    }
  }

  /** Ends the call to the provider. @param reason what `next` throws from then on */
  close(reason?: Failure): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#reason = reason;
    if (this.#isFinished) {
      void this.#drain();
      return;
    }
    this.#upstream.abort();
    this.#reader.cancel().catch(() => {});
    this.#leave();
  }

  /** Lets the connection be used again: the response usually ends right after the format's own end. */
  async #drain(): Promise<void> {
    const timer = setTimeout(() => {
      this.#upstream.abort();
    }, endingMs);
    try {
      while (!(await this.#reader.read()).done);
    } catch {
      // The answer was complete before.
    } finally {
      clearTimeout(timer);
      this.#leave();
    }
  }

  async #read(): Promise<LanguageModelV4StreamPart | undefined> {
    try {
      const { value } = await this.#reader.read();
      return value;
    } catch (error) {
      throw this.#error(this.#reason ?? toStreamFailure(error, this.#context()));
    }
  }

  #take(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'raw':
        this.#release();
        this.#usage.note(part.rawValue);
        return;
      case 'text-delta': {
        if (part.delta === '') return;
        // Some formats of JSON are calls of a tool, whose arguments are the text.
        const delta = argumentsOf(part.delta);
        this.#count(delta);
        this.#release();
        this.#text += delta;
        this.#ready.push({ type: 'text', delta });
        return;
      }
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        this.#think(part.id, part.type === 'reasoning-delta' ? part.delta : '', part.providerMetadata);
        if (part.type === 'reasoning-end') this.#concludeReasoning(part.id);
        return;
      case 'tool-input-delta':
        this.#piecemeal.add(part.id);
        this.#count(part.delta);
        return;
      case 'tool-call':
        this.#hold(part);
        return;
      case 'error':
        throw this.#error(toStreamFailure(part.error, this.#context()));
      case 'finish': {
        const { finishReason, usage } = part;
        // Without the format's own end the packages have no reason of the provider.
        if (finishReason.raw === undefined) throw this.#error(incompleteAnswer());
        this.#release();
        this.#isFinished = true;
        const toolCalls = this.#toolCalls.length > 0 ? { toolCalls: this.#toolCalls } : {};
        const result = { text: this.#text, finishReason: toFinishReason(finishReason), usage: toUsage(usage) };
        this.#ready.push({ type: 'finish', result: { ...result, ...toolCalls } });
        return;
      }
      default:
        return;
    }
  }

  #think(id: string, delta: string, metadata: SharedV4ProviderMetadata = {}): void {
    this.#count(delta);
    const thought = this.#reasoning.get(id) ?? { text: '', metadata: {} };
    thought.text += delta;
    for (const [name, members] of Object.entries(metadata)) {
      this.#count(JSON.stringify(members));
      thought.metadata[name] = { ...thought.metadata[name], ...members };
    }
    this.#reasoning.set(id, thought);
  }

  #concludeReasoning(id: string): void {
    const thought = this.#reasoning.get(id);
    if (thought) this.#toolCallReader.addReasoning(thought.text, thought.metadata);
    this.#reasoning.delete(id);
  }

  #hold(part: LanguageModelV4ToolCall): void {
    if (!this.#piecemeal.delete(part.toolCallId)) this.#count(part.input);
    for (const id of this.#reasoning.keys()) this.#concludeReasoning(id);
    const toolCall = this.#toolCallReader.read(part);
    if (toolCall.provider_metadata) this.#count(JSON.stringify(toolCall.provider_metadata));
    this.#held.push(toolCall);
  }

  #release(): void {
    for (const toolCall of this.#held) this.#ready.push({ type: 'tool-call', toolCall });
    this.#toolCalls.push(...this.#held);
    this.#held = [];
  }

  #count(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > mostBytes) throw this.#error(tooLarge());
  }

  /** What the provider generated it may charge for, so such a call is not repeated. */
  #error(failure: Failure): AnswerError {
    const billed = this.#bytes > 0 ? { mayBeBilled: true } : {};
    return new AnswerError({ ...failure, ...billed, ...known(this.#usage) });
  }
}

function known({ usage }: UsageSoFar): Pick<Failure, 'usage'> {
  return usage === undefined ? {} : { usage };
}
