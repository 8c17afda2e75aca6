import createClient, { type Client } from 'openapi-fetch';
import type { Answer } from './call.ts';
import type { AnyCallOptions } from './call-options.ts';
import {
  AnswerError,
  ConnectionError,
  GatewayError,
  isForeignPath,
  problemError,
  readProblem,
  systemCode,
  TimeoutError,
  UnexpectedAnswerError,
  type CallFacts,
  type Problem,
} from './errors.ts';
import { checkOptions, isBrowser, type GatewayOptions, type RequestEvent } from './gateway-options.ts';
import type { OperationName, OperationRow } from './generated/operations.ts';
import type { paths } from './generated/types.ts';
import { version } from './generated/version.ts';
import { readInvocationEvents } from './invocation-events.ts';
import type { InvocationEvent, OpenedStream } from './invocation-stream.ts';
import { isInProgress, mayHaveBeenApplied, retryDelay } from './retries.ts';
import { withTimeLimit } from './time-limit.ts';
import type { Timing } from './timing.ts';

/** The content of a call, without its headers. */
export interface Parameters {
  path: Record<string, unknown>;
  query?: object | undefined;
  body?: unknown;
}

/** Sends a call, with its retries. */
export type Send = (
  name: OperationName,
  row: OperationRow,
  parameters: Parameters,
  options: AnyCallOptions,
) => Promise<Answer<unknown>>;

/** Sends a call that is answered with a stream, with its retries until the first event. */
export type Open = (
  name: OperationName,
  row: OperationRow,
  parameters: Parameters,
  options: AnyCallOptions,
  signal: AbortSignal,
) => Promise<OpenedStream>;

/** An answer as openapi-fetch returns it. */
interface Received {
  data?: unknown;
  error?: unknown;
  response: Response;
}

/** An answer with the URL that was asked, without its query. */
interface ReceivedFrom extends Received {
  url: string;
}

/** A call before its answer is read. */
interface Outgoing {
  name: OperationName;
  row: OperationRow;
  parameters: Parameters;
  options: AnyCallOptions;
  idempotencyKey: string | undefined;
}

/** `request` of the openapi-fetch client, for paths that are known only at run time. */
type Request = (method: string, path: string, init: object) => Promise<Received>;

type Transport = (request: globalThis.Request) => Promise<Response>;

/**
 * Creates the openapi-fetch client of a gateway, and the functions that send the calls of its methods.
 *
 * @throws TypeError if an option is invalid
 */
export function createSend(options: GatewayOptions, timing: Timing): { raw: Client<paths>; send: Send; open: Open } {
  const baseUrl = checkOptions(options);
  const { apiKey, hooks = {}, fetch: chosenFetch } = options;
  // Passes the URL instead of the `Request`, because the `fetch` of another library does not accept a `Request`.
  const transport: Transport = async (request) => {
    const { method, headers, redirect, signal } = request;
    const text = method === 'GET' || method === 'HEAD' ? '' : await request.text();
    const init: RequestInit = { method, headers, redirect, signal, ...(text !== '' && { body: text }) };
    return await (chosenFetch ?? globalThis.fetch)(request.url, init);
  };
  const raw = createClient<paths>({
    baseUrl,
    fetch: transport,
    // A redirect could send the key to another server.
    redirect: 'manual',
    headers: {
      ...(!isBrowser() && { 'User-Agent': `prompt-gateway-client/${version}` }),
      ...options.headers,
      ...(apiKey !== null && { Authorization: `Bearer ${apiKey}` }),
    },
  });
  const request = raw.request as unknown as Request;
  const withoutKey = (text: string): string => (apiKey === null ? text : text.replaceAll(apiKey, '********'));

  /** Makes the attempts of a call. @param read the content of an answer; what it throws is a failure of the attempt */
  const attempts = async <T>(
    { name, row, parameters, options: callOptions, idempotencyKey }: Outgoing,
    read: (received: ReceivedFrom, facts: CallFacts) => T | Promise<T>,
  ): Promise<T> => {
    const { signal, timeout, totalTimeout, maxRetries } = withDefaults(callOptions, options);
    const headers = {
      ...callOptions.headers,
      'Idempotency-Key': idempotencyKey,
      'If-Match': callOptions.ifMatch,
      'If-None-Match': callOptions.ifNoneMatch,
      ...(row.lines === true && { 'Content-Type': 'application/x-ndjson' }),
    };
    const end = timing.monotonic() + totalTimeout;
    let isUncertain = false;
    let failures = 0;

    for (let attempt = 1; ; attempt += 1) {
      const facts: CallFacts = { operation: name, attempts: attempt, mayHaveBeenApplied: isUncertain, idempotencyKey };
      const event: RequestEvent = { operation: name, method: row.method, url: baseUrl + row.path, attempt };
      const started = timing.monotonic();
      const limit = Math.min(timeout, end - started);
      let sent = false;
      let isStreaming = false;
      const report = (answer: { status?: number; headers?: Headers }, error?: unknown, retryInMs?: number): void => {
        const requestId = answer.headers?.get('x-request-id') ?? undefined;
        const durationMs = timing.monotonic() - started;
        quietly(hooks.onAttempt, { ...event, durationMs, status: answer.status, requestId, error, retryInMs });
      };
      try {
        const late = (): Error => new TimeoutError(`no answer within ${Math.round(limit)} ms.`, facts);
        const received = await withTimeLimit(signal, limit, late, async (attemptSignal) => {
          return await request(row.method, row.path, {
            params: { path: parameters.path, query: parameters.query },
            body: parameters.body,
            headers,
            ...(row.lines === true && { bodySerializer: String }),
            signal: attemptSignal,
            parseAs: row.events === true ? 'stream' : 'text',
            fetch: (toSend: globalThis.Request) => {
              sent = true;
              event.url = toSend.url;
              quietly(hooks.onRequest, event);
              return transport(toSend);
            },
          });
        });
        isStreaming = row.events === true && received.response.ok;
        const content = await read({ ...received, url: withoutQuery(event.url) }, facts);
        report(received.response);
        return content;
      } catch (thrown) {
        // An error before the request is sent, or a call that the caller canceled, is not a failure of the service.
        if (!sent) throw thrown;
        if (signal?.aborted === true && !(thrown instanceof GatewayError)) {
          report({}, thrown);
          throw thrown;
        }
        const error = thrown instanceof GatewayError ? thrown : connectionError(thrown, event.url, facts);
        const isOwnAttempt = isUncertain && isInProgress(error);
        isUncertain ||= isStreaming || mayHaveBeenApplied(row, error);
        Object.assign(error, { mayHaveBeenApplied: isUncertain });
        // Waiting for an attempt that is in progress is no failure. The time of the call limits it.
        if (!isInProgress(error) || maxRetries === 0) failures += 1;
        const chance = { retry: Math.max(failures, 1), now: timing.now(), random: timing.random() };
        const delay = retryDelay({ row, hasKey: idempotencyKey !== undefined, isStreaming, error }, chance);
        const isLast = delay === undefined || failures > maxRetries || timing.monotonic() + delay >= end;
        report(error instanceof AnswerError ? error : {}, error, isLast ? undefined : delay);
        if (isLast && isOwnAttempt) {
          const message = `no answer within ${Math.round(totalTimeout)} ms. An attempt of the call is still in progress.`;
          throw new TimeoutError(message, { ...facts, mayHaveBeenApplied: true }, { cause: error });
        }
        if (isLast) throw error;
        await timing.sleep(delay, signal);
      }
    }
  };

  const send: Send = async (name, row, parameters, callOptions) => {
    const idempotencyKey = row.key === true ? chooseKey(row, callOptions) : undefined;
    return await attempts({ name, row, parameters, options: callOptions, idempotencyKey }, (received, facts) => {
      const { response } = received;
      const requestId = response.headers.get('x-request-id') ?? undefined;
      return { data: readAnswer(row, received, facts, withoutKey), response, requestId };
    });
  };

  const open: Open = async (name, row, parameters, callOptions, canceling) => {
    const signal = callOptions.signal === undefined ? canceling : AbortSignal.any([callOptions.signal, canceling]);
    // With a key the service does not stop the provider's call when the caller leaves, so there is none by default.
    const idempotencyKey = callOptions.idempotencyKey ?? undefined;
    const idleTimeout = callOptions.idleTimeout ?? options.idleTimeout ?? 30_000;
    const call = { name, row, parameters, options: { ...callOptions, signal }, idempotencyKey };
    return await attempts(call, async (received, attempt) => {
      const { response, url } = received;
      if (!response.ok) readAnswer(row, received, attempt, withoutKey);
      const facts = { ...attempt, mayHaveBeenApplied: true };
      const events = readInvocationEvents(response, { signal, idleTimeout, facts, url, withoutKey });
      const first = await events.next();
      return { headers: response.headers, events: startingWith(first, events) };
    });
  };
  return { raw, send, open };
}

/** The events, of which the first has been read. */
async function* startingWith(
  first: IteratorResult<InvocationEvent, undefined>,
  others: AsyncGenerator<InvocationEvent, undefined>,
): AsyncGenerator<InvocationEvent, undefined> {
  try {
    if (first.done !== true) yield first.value;
    yield* others;
  } finally {
    await others.return(undefined);
  }
}

function withDefaults(call: AnyCallOptions, { timeout, totalTimeout, maxRetries }: GatewayOptions) {
  return {
    signal: call.signal,
    timeout: call.timeout ?? timeout ?? 75_000,
    totalTimeout: call.totalTimeout ?? totalTimeout ?? 180_000,
    maxRetries: call.maxRetries ?? maxRetries ?? 2,
  };
}

/**
 * The key that the caller chose, or none, or a new one. The service does not stop work that has a key when the caller
 * leaves. So there is no new one if the caller can abort a call that the service would then stop.
 */
function chooseKey({ stops }: OperationRow, { idempotencyKey, signal }: AnyCallOptions): string | undefined {
  if (idempotencyKey !== undefined) return idempotencyKey ?? undefined;
  if (stops === true && signal !== undefined) return undefined;
  // `crypto.randomUUID` does not exist in pages without https.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function connectionError(cause: unknown, url: string, facts: CallFacts): ConnectionError {
  const code = systemCode(cause);
  const reason = `the connection failed${code === undefined ? '' : ` (${code})`}`;
  return new ConnectionError(`no answer from ${withoutQuery(url)}, ${reason}.`, facts, { cause });
}

/** A query can contain data. */
function withoutQuery(url: string): string {
  return url.replace(/\?.*/s, '');
}

/**
 * The content of an answer.
 * @throws ProblemError, UnexpectedAnswerError
 */
function readAnswer(
  row: OperationRow,
  { data = '', error, response, url }: ReceivedFrom,
  facts: CallFacts,
  withoutKey: (text: string) => string,
): unknown {
  const { status, headers } = response;
  const [mediaType = ''] = headers.get('content-type')?.split(';') ?? [];
  const unexpected = (what: string, content: unknown, problem?: Problem): UnexpectedAnswerError => {
    const text = withoutKey(typeof content === 'string' ? content : (JSON.stringify(content) ?? ''));
    const answer = { status, headers, text, problem };
    return new UnexpectedAnswerError(`the answer (status ${status}) of ${url} ${what}`, answer, facts);
  };
  const other = `is ${withoutKey(mediaType.slice(0, 100)) || 'without content type'}`;
  if (response.ok) {
    if (row.text === true && mediaType !== 'text/html') return data;
    try {
      return JSON.parse(data as string) as unknown;
    } catch {
      throw unexpected(`${other}, not what the service answers. Does baseUrl lead to the service?`, data);
    }
  }
  if (status === 304) return undefined;
  // In a page, an unfollowed redirect has the status 0.
  if (status < 400) throw unexpected('is a redirect, which the client does not follow. Check baseUrl.', error);
  const problem = readProblem(error);
  if (problem === undefined) {
    throw unexpected(
      `${other}, not error details of the service. Check baseUrl; it may also come from a proxy.`,
      error,
    );
  }
  if (isForeignPath(problem)) {
    const advice = 'Check baseUrl, and that the service is not older than this client.';
    throw unexpected(`says that the service has no such operation. ${advice}`, error, problem);
  }
  throw problemError(problem, response, facts);
}

/** A failing log must not make the call fail. */
function quietly<Event>(hook: ((event: Event) => void) | undefined, event: Event): void {
  try {
    hook?.({ ...event });
  } catch {
    // Ignored, as described for `hooks`.
  }
}
