import createClient, { type Client } from 'openapi-fetch';
import type { Answer } from './call.ts';
import type { AnyCallOptions } from './call-options.ts';
import {
  AnswerError,
  ConnectionError,
  GatewayError,
  problemError,
  readProblem,
  TimeoutError,
  UnexpectedAnswerError,
  type CallFacts,
} from './errors.ts';
import { checkOptions, isBrowser, type GatewayOptions, type RequestEvent } from './gateway-options.ts';
import type { OperationName, OperationRow } from './generated/operations.ts';
import type { paths } from './generated/types.ts';
import { version } from './generated/version.ts';
import { mayHaveBeenApplied, retryDelay } from './retries.ts';
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

/** `request` of the openapi-fetch client, for paths that are known only at run time. */
type Request = (
  method: string,
  path: string,
  init: object,
) => Promise<{ data?: unknown; error?: unknown; response: Response }>;

type Transport = (request: globalThis.Request) => Promise<Response>;

/** Timers with a longer time fire immediately. */
const longestTimer = 2 ** 31 - 1;

/**
 * Creates the openapi-fetch client of a gateway, and the function that sends the calls of its methods.
 *
 * @throws TypeError if an option is invalid
 */
export function createSend(options: GatewayOptions, timing: Timing): { raw: Client<paths>; send: Send } {
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

  const send: Send = async (name, row, parameters, callOptions) => {
    const { signal, timeout, totalTimeout, maxRetries } = withDefaults(callOptions, options);
    const idempotencyKey = row.key === true ? chooseKey(callOptions.idempotencyKey) : undefined;
    const headers = {
      ...callOptions.headers,
      'Idempotency-Key': idempotencyKey,
      'If-Match': callOptions.ifMatch,
      'If-None-Match': callOptions.ifNoneMatch,
    };
    const end = timing.monotonic() + totalTimeout;
    let isUncertain = false;

    for (let attempt = 1; ; attempt += 1) {
      const facts: CallFacts = { operation: name, attempts: attempt, mayHaveBeenApplied: isUncertain, idempotencyKey };
      const event: RequestEvent = { operation: name, method: row.method, url: baseUrl + row.path, attempt };
      const started = timing.monotonic();
      const limit = Math.min(timeout, end - started);
      let sent = false;
      const report = (answer: { status?: number; headers?: Headers }, error?: unknown, retryInMs?: number): void => {
        const requestId = answer.headers?.get('x-request-id') ?? undefined;
        const durationMs = timing.monotonic() - started;
        quietly(hooks.onAttempt, { ...event, durationMs, status: answer.status, requestId, error, retryInMs });
      };
      try {
        const { data, error, response } = await withTimeLimit(signal, limit, facts, async (attemptSignal) => {
          return await request(row.method, row.path, {
            params: { path: parameters.path, query: parameters.query },
            ...{ body: parameters.body, headers, parseAs: 'text', signal: attemptSignal },
            fetch: (toSend: globalThis.Request) => {
              sent = true;
              event.url = toSend.url;
              quietly(hooks.onRequest, event);
              return transport(toSend);
            },
          });
        });
        const content = readAnswer(row, { data, error, response }, facts, withoutKey);
        report(response);
        return { data: content, response, requestId: response.headers.get('x-request-id') ?? undefined };
      } catch (thrown) {
        // An error before the request is sent, or a call that the caller canceled, is not a failure of the service.
        if (!sent) throw thrown;
        if (signal?.aborted === true && !(thrown instanceof GatewayError)) {
          report({}, thrown);
          throw thrown;
        }
        const error =
          thrown instanceof GatewayError
            ? thrown
            : new ConnectionError('no answer, the connection failed.', facts, { cause: thrown });
        isUncertain ||= mayHaveBeenApplied(row, error);
        Object.assign(error, { mayHaveBeenApplied: isUncertain });
        const chance = { retry: attempt, now: timing.now(), random: timing.random() };
        const delay = retryDelay({ row, hasKey: idempotencyKey !== undefined, error }, chance);
        const isLast = delay === undefined || attempt > maxRetries || timing.monotonic() + delay >= end;
        report(error instanceof AnswerError ? error : {}, error, isLast ? undefined : delay);
        if (isLast) throw error;
        await timing.sleep(delay, signal);
      }
    }
  };
  return { raw, send };
}

function withDefaults(call: AnyCallOptions, { timeout, totalTimeout, maxRetries }: GatewayOptions) {
  return {
    signal: call.signal,
    timeout: call.timeout ?? timeout ?? 75_000,
    totalTimeout: call.totalTimeout ?? totalTimeout ?? 180_000,
    maxRetries: call.maxRetries ?? maxRetries ?? 2,
  };
}

/** The key that the caller chose, or none, or a new one. */
function chooseKey(chosen: string | null | undefined): string | undefined {
  if (chosen !== undefined) return chosen ?? undefined;
  // `crypto.randomUUID` does not exist in pages without https.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Runs an attempt until it ends, its time limit is reached, or the caller cancels it, even if `fetch` ignores its
 * signal.
 *
 * @throws TimeoutError, or the reason of the caller's signal
 */
async function withTimeLimit<T>(
  signal: AbortSignal | undefined,
  limit: number,
  facts: CallFacts,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const stopped = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => {
      reject(controller.signal.reason as Error);
    });
  });
  const cancel = (): void => {
    controller.abort(signal?.reason);
  };
  signal?.addEventListener('abort', cancel);
  const timer = setTimeout(
    () => {
      controller.abort(new TimeoutError(`no answer within ${Math.round(limit)} ms.`, facts));
    },
    Math.min(limit, longestTimer),
  );
  try {
    return await Promise.race([attempt(controller.signal), stopped]);
  } catch (error) {
    // `fetch` can report the cancellation with an error of its own.
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
}

/**
 * The content of an answer.
 * @throws ProblemError, UnexpectedAnswerError
 */
function readAnswer(
  row: OperationRow,
  { data = '', error, response }: { data?: unknown; error?: unknown; response: Response },
  facts: CallFacts,
  withoutKey: (text: string) => string,
): unknown {
  const { status, headers } = response;
  const unexpected = (what: string, content: unknown): UnexpectedAnswerError => {
    const text = withoutKey(typeof content === 'string' ? content : (JSON.stringify(content) ?? ''));
    return new UnexpectedAnswerError(`the answer (status ${status}) ${what}`, { status, headers, text }, facts);
  };
  if (response.ok) {
    if (row.text === true) return data;
    try {
      return JSON.parse(data as string) as unknown;
    } catch {
      throw unexpected('is not JSON. Does baseUrl lead to the service?', data);
    }
  }
  if (status === 304) return undefined;
  // In a page, an unfollowed redirect has the status 0.
  if (status < 400) throw unexpected('is a redirect, which the client does not follow. Check baseUrl.', error);
  const problem = readProblem(error);
  if (problem === undefined) throw unexpected('has no error details of the service. It may come from a proxy.', error);
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
