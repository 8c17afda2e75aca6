import {
  ConnectionError,
  GatewayError,
  problemError,
  readProblem,
  TimeoutError,
  UnexpectedAnswerError,
  type CallFacts,
} from './errors.ts';
import type { InvocationEvent } from './invocation-stream.ts';
import { createEventParser, type ServerSentEvent } from './server-sent-events.ts';
import { withTimeLimit } from './time-limit.ts';

export interface ReadingOptions {
  /** Cancels the request, also while nobody reads. */
  signal: AbortSignal;
  /** Milliseconds that the stream can be silent. */
  idleTimeout: number;
  facts: CallFacts;
  /** The URL that was asked, for error messages. */
  url: string;
  /** Removes the key from a text of an answer. */
  withoutKey: (text: string) => string;
}

/** Milliseconds for the end of a body whose last event has arrived, so that the connection can be used again. */
const closingTime = 1_000;

/**
 * Reads the events of an answer, the last of which is `finish`. It asks for more bytes only when all events are taken.
 * The answer is canceled when the reader leaves.
 *
 * @throws ProblemError for an `error` event
 * @throws ConnectionError if the answer ends without `finish` or `error`
 * @throws TimeoutError, UnexpectedAnswerError, the reason of the signal
 */
export async function* readInvocationEvents(
  { status, headers, body }: Response,
  { signal, idleTimeout, facts, url, withoutKey }: ReadingOptions,
): AsyncGenerator<InvocationEvent, undefined> {
  const unexpected = (what: string, text: string): UnexpectedAnswerError => {
    const answer = { status, headers, text: withoutKey(text) };
    return new UnexpectedAnswerError(`the answer (status ${status}) of ${url} ${what}`, answer, facts);
  };
  if (body === null) throw unexpected('is empty.', '');
  const reader = body.getReader();
  const cancel = (): void => {
    reader.cancel().catch(() => undefined);
  };
  signal.addEventListener('abort', cancel);
  /** The next bytes; `undefined` at the end. */
  const read = async (limit = idleTimeout): Promise<Uint8Array | undefined> => {
    const late = (): Error => new TimeoutError(`the stream was silent for ${limit} ms.`, facts);
    try {
      return (await withTimeLimit(signal, limit, late, () => reader.read())).value;
    } catch (error) {
      if (signal.aborted || error instanceof GatewayError) throw error;
      throw new ConnectionError('the connection failed before the end of the stream.', facts, { cause: error });
    }
  };
  const parse = createEventParser();
  const parseEvents = (bytes: Uint8Array): ServerSentEvent[] => {
    try {
      return parse(bytes);
    } catch (error) {
      throw unexpected(`has an event that is too long: ${(error as RangeError).message}.`, '');
    }
  };
  try {
    if (headers.get('content-type')?.startsWith('text/event-stream') !== true) {
      const text = new TextDecoder().decode(await read());
      throw unexpected('is not a stream of events. Does baseUrl lead to the service?', text);
    }
    for (;;) {
      const bytes = await read();
      if (bytes === undefined) throw new ConnectionError('the stream ended before its last event.', facts);
      for (const { data } of parseEvents(bytes)) {
        const event = parseData(data);
        if (event === undefined) throw unexpected('has an event that does not come from the service.', data);
        if (event.type === 'error') {
          const problem = readProblem(event['problem']);
          if (problem === undefined) throw unexpected('has no error details of the service.', data);
          const { usage = problem.usage } = event as { usage?: typeof problem.usage };
          const failed = { ...problem, ...(usage !== undefined && { usage }) };
          throw problemError(failed, { status: problem.status, headers }, facts);
        }
        signal.throwIfAborted();
        yield event as unknown as InvocationEvent;
        if (event.type === 'finish') {
          await read(Math.min(idleTimeout, closingTime)).catch(() => undefined);
          return;
        }
      }
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

function parseData(data: string): { type: string; [member: string]: unknown } | undefined {
  try {
    const event = JSON.parse(data) as { type: string } | null;
    return typeof event?.type === 'string' ? event : undefined;
  } catch {
    return undefined;
  }
}
