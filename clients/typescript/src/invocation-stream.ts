/// <reference lib="esnext.disposable" preserve="true" />
import type { Schemas } from './generated/resources.ts';

/** The events that this release of the package knows, with the one that is thrown. */
type KnownEvent = Schemas['InvocationEvent'];

declare const otherType: unique symbol;

/**
 * A type that this release of the package does not know. The value is the received text; `String(event.type)` returns
 * it as a string. (If this were `string`, the compiler could not narrow the known types by `event.type`.)
 */
export interface OtherInvocationEventType {
  readonly [otherType]: true;
  toString(): string;
}

/** An event of a type that a later release of the service added. Ignore it. */
export interface OtherInvocationEvent {
  readonly type: OtherInvocationEventType;
  readonly [member: string]: unknown;
}

/**
 * An event of a streamed invocation, narrowed by `type`: `start`, `text`, `thinking`, `thinking-end`, `tool-call`, and
 * `finish` at the end. An `error` event is thrown instead.
 */
export type InvocationEvent = Exclude<KnownEvent, { type: 'error' }> | OtherInvocationEvent;

type Start = Extract<KnownEvent, { type: 'start' }>;
type Finish = Extract<KnownEvent, { type: 'finish' }>;

type InvocationResult = Schemas['InvocationResult'];
type AnswerPart = NonNullable<InvocationResult['content']>[number];

/** The whole answer of a stream: what `prompts.invoke` returns, and what it says in headers. */
export interface StreamedInvocation<Object = unknown>
  extends Omit<InvocationResult, 'object'>, Pick<Start, 'provider' | 'model' | 'cached'> {
  /** The parsed text of a JSON answer that ended with `stop`. */
  object?: Object;
  latencyMs: Finish['latency_ms'];
  /** Id of the prompt. */
  promptId: string;
  /** Number of the version that ran. */
  version: number;
  /** `X-Request-Id` of the answer. The log of the service contains the call under this id. */
  requestId: string | undefined;
}

/**
 * A streamed invocation. The request is sent when you begin to read, in one of these ways: `for await` over the events,
 * `textStream()`, `text()` or `final()`. It is read once, and as fast as you read: what you do not read stays at the
 * service.
 *
 * If you leave the loop, or leave the block of an `await using`, the request is canceled. The service then stops the
 * call to the provider, unless the call has an `idempotencyKey`.
 *
 * A stream that fails throws what `prompts.invoke` throws, also after its first events: the tokens used so far are in
 * `problem.usage`. A stream that is cut throws a `ConnectionError`, so a stream that ends is whole.
 */
export interface InvocationStream<Object = unknown> extends AsyncIterable<InvocationEvent>, AsyncDisposable {
  /** The pieces of the text, for `for await`. */
  textStream(): AsyncIterable<string>;
  /** The whole text. */
  text(): Promise<string>;
  /** The whole answer. If you read the events yourself, use it after the loop. */
  final(): Promise<StreamedInvocation<Object>>;
  /** Cancels the request. Reading that has not ended fails with an `AbortError`, also while it waits for an event. */
  cancel(): Promise<void>;
}

/** An answer that has begun: its headers and its events. */
export interface OpenedStream {
  headers: Headers;
  /** Its last event is `finish`. Leaving it cancels the request. */
  events: AsyncIterable<InvocationEvent>;
}

/** Creates a stream. @param open sends the request; the signal cancels it */
export function invocationStream(open: (signal: AbortSignal) => Promise<OpenedStream>): InvocationStream {
  const canceling = new AbortController();
  let isBegun = false;
  let resolveWhole: (whole: StreamedInvocation) => void;
  let rejectWhole: (error: unknown) => void;
  const whole = new Promise<StreamedInvocation>((resolve, reject) => {
    [resolveWhole, rejectWhole] = [resolve, reject];
  });
  // The loop throws the failure, so it must not also be an unhandled rejection.
  whole.catch(() => undefined);

  async function* read(): AsyncGenerator<InvocationEvent, undefined> {
    try {
      canceling.signal.throwIfAborted();
      const { headers, events } = await open(canceling.signal);
      let start: Start | undefined;
      const content = new GatheredContent();
      for await (const event of events) {
        if (event.type === 'start') start = event;
        content.take(event);
        if (event.type === 'finish') resolveWhole(summarize(headers, start, content.parts, event));
        yield event;
      }
    } catch (error) {
      rejectWhole(error);
      throw error;
    } finally {
      rejectWhole(canceled());
    }
  }
  const leave = (): void => {
    canceling.abort(canceled());
  };
  const begin = (): AsyncIterableIterator<InvocationEvent, undefined> => {
    if (isBegun) throw new TypeError('A stream can be read only once.');
    isBegun = true;
    return leavable(read(), leave);
  };
  const final = (): Promise<StreamedInvocation> => {
    if (!isBegun) void drain(begin());
    return whole;
  };
  const cancel = (): Promise<void> => {
    leave();
    rejectWhole(canceling.signal.reason);
    return Promise.resolve();
  };
  return {
    [Symbol.asyncIterator]: begin,
    textStream: () => leavable(textOf(begin()), leave),
    text: async () => (await final()).text,
    final,
    cancel,
    [Symbol.asyncDispose]: cancel,
  };
}

/** Ends a `next()` that waits, too. A generator's own `return()` would wait for it. */
function leavable<T>(generator: AsyncGenerator<T, undefined>, leave: () => void): AsyncIterableIterator<T, undefined> {
  return {
    next: () => generator.next(),
    return: () => {
      leave();
      return generator.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* textOf(events: AsyncIterable<InvocationEvent>): AsyncGenerator<string, undefined> {
  for await (const event of events) if (event.type === 'text') yield event.delta;
}

async function drain(events: AsyncIterable<unknown>): Promise<void> {
  try {
    for await (const _ of events);
  } catch {
    // `final` throws it.
  }
}

function canceled(): DOMException {
  return new DOMException('The stream was canceled.', 'AbortError');
}

type OpenPart = Omit<AnswerPart, 'type' | 'text'> & { type: 'text' | 'thinking'; text: string };

/** Joins the pieces of an answer to the parts of its `content`. */
class GatheredContent {
  readonly parts: AnswerPart[] = [];
  #open: OpenPart | undefined;

  take(event: InvocationEvent): void {
    if (event.type === 'text' || event.type === 'thinking') {
      this.#opened(event.type).text += event.delta;
    } else if (event.type === 'thinking-end') {
      const { provider_metadata } = event;
      const thinking = this.#opened('thinking');
      if (provider_metadata !== undefined) thinking.provider_metadata = provider_metadata;
      this.#open = undefined;
    } else if (event.type === 'tool-call') {
      // The reasoning before the call is a part of its own.
      const { provider_metadata: { reasoning: _reasoning, ...metadata } = {}, ...call } = event.tool_call;
      const isNeeded = Object.keys(metadata).some((name) => name !== 'provider');
      this.parts.push({ type: 'tool-call', ...call, ...(isNeeded && { provider_metadata: metadata }) });
      this.#open = undefined;
    }
  }

  #opened(type: OpenPart['type']): OpenPart {
    if (this.#open?.type !== type) this.parts.push((this.#open = { type, text: '' }));
    return this.#open;
  }
}

function summarize(
  headers: Headers,
  start: Start | undefined,
  content: AnswerPart[],
  { type: _type, latency_ms: latencyMs, ...finish }: Finish,
): StreamedInvocation {
  const isOneText = content.length < 2 && (content[0]?.type ?? 'text') === 'text';
  return {
    text: content.map(({ type, text = '' }) => (type === 'text' ? text : '')).join(''),
    ...finish,
    ...(!isOneText && { content }),
    provider: start?.provider ?? headers.get('x-provider') ?? '',
    model: start?.model ?? headers.get('x-model') ?? '',
    cached: start?.cached === true,
    latencyMs,
    promptId: headers.get('x-prompt-id') ?? '',
    version: Number(headers.get('x-served-version')),
    requestId: headers.get('x-request-id') ?? undefined,
  };
}
