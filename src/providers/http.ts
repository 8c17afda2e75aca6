import { Agent, type buildConnector, type Dispatcher } from 'undici';
import { toLookupFunction, type LookUp } from '../outbound/look-up.ts';

/**
 * The part of the Fetch API that the provider packages use: they send a POST with a text body and read the whole
 * answer.
 */
export type Fetch = typeof globalThis.fetch;

/** The client through which all providers are called. */
export interface ProviderHttp {
  /** @throws ProviderHttpError, or the reason of `init.signal` when that is aborted. */
  readonly fetch: Fetch;
  /** Waits for the calls in progress, then closes the connections. */
  close(): Promise<void>;
}

export interface ProviderHttpOptions {
  /** Open connections per origin. */
  readonly connections?: number;
  /** The longest response body that is read, in bytes. */
  readonly maxResponseBytes?: number;
  /** Time limit for opening a connection, in milliseconds. */
  readonly connectTimeout?: number;
  readonly lookUp: LookUp;
}

const defaultOptions = {
  connections: 256,
  // Below the limit of an idempotency record, so that every answer that was paid for can be stored.
  maxResponseBytes: 4 * 1024 * 1024,
  connectTimeout: 5_000,
};

/**
 * Why there is no HTTP answer: `unreachable` (no response began), `cut` (it began and broke off) or `too-large`.
 * `cause` is the network error, whose `code` has details.
 */
export class ProviderHttpError extends Error {
  readonly reason: 'unreachable' | 'cut' | 'too-large';
  /** The response's status, if a response had begun. */
  readonly status: number | undefined;

  constructor(reason: ProviderHttpError['reason'], status: number | undefined, cause?: Error) {
    super(`The provider's answer is missing: ${reason}`, { cause });
    this.name = 'ProviderHttpError';
    this.reason = reason;
    this.status = status;
  }
}

/**
 * Creates a `fetch` over a shared pool of kept-alive connections.
 *
 * It does only what calling a model needs. Redirects are ordinary answers, because following them would send the
 * credentials to another host. Nothing is decompressed or cached, and the body is read before the promise settles. Only
 * connecting has a time limit here; `init.signal` ends a call at any time. undici's dispatcher is used directly because
 * its `fetch` costs three times the CPU.
 */
export function createProviderHttp(options: ProviderHttpOptions): ProviderHttp {
  const { connections, maxResponseBytes, connectTimeout, lookUp } = { ...defaultOptions, ...options };
  const agent = new Agent({
    connections,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    // A shorter time that the server announces in Keep-Alive applies.
    keepAliveTimeout: 30_000,
    // `lookup` reaches net.connect and tls.connect, but is missing in undici's type.
    connect: { timeout: connectTimeout, lookup: toLookupFunction(lookUp) } as buildConnector.BuildOptions,
  });

  const send: Fetch = (input, init = {}) =>
    new Promise((resolve, reject) => {
      const signal = init.signal ?? undefined;
      if (signal?.aborted) throw signal.reason;
      const { body = null } = init;
      if (body !== null && typeof body !== 'string') throw new TypeError('Only text bodies can be sent.');
      const url = new URL(input instanceof Request ? input.url : input);

      const exchange = new ProviderRequest(maxResponseBytes, signal, resolve, reject);
      agent.dispatch(
        {
          origin: url.origin,
          path: url.pathname + url.search,
          method: (init.method ?? 'GET') as Dispatcher.HttpMethod,
          headers: toHeaderRecord(init.headers),
          body,
        },
        exchange,
      );
    });

  return { fetch: send, close: () => agent.close() };
}

function toHeaderRecord(headers: RequestInit['headers']): Record<string, string> {
  if (headers === undefined) return {};
  // The packages pass plain records, which need no conversion by Headers.
  const plain = !Array.isArray(headers) && !(Symbol.iterator in headers);
  return plain ? (headers as Record<string, string>) : Object.fromEntries(new Headers(headers));
}

/** One request and its response, which undici passes on in parts. */
class ProviderRequest implements Dispatcher.DispatchHandler {
  readonly #maxBytes: number;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #settled = false;
  #controller: Dispatcher.DispatchController | undefined;
  #head: { status: number; statusText: string; headers: Map<string, string> } | undefined;

  constructor(
    maxBytes: number,
    signal: AbortSignal | undefined,
    resolve: (response: Response) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#maxBytes = maxBytes;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new Error('The request was canceled before it was sent.'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    statusText = '',
  ): void {
    // Informational responses precede the real one.
    if (status < 200) return;
    this.#head = { status, statusText, headers: toHeaderMap(headers) };
    if (Number(this.#head.headers.get('content-length')) > this.#maxBytes) this.#refuseSize();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) this.#refuseSize();
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const head = this.#head;
    if (head === undefined) return;
    this.#settle(() => {
      const [first] = this.#chunks;
      const body = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks, this.#bytes);
      this.#resolve(new BufferedResponse(head, body) as unknown as Response);
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const status = this.#head?.status;
    const reason = status === undefined ? 'unreachable' : 'cut';
    this.#settle(() => {
      this.#reject(new ProviderHttpError(reason, status, error));
    });
  }

  readonly #onAbort = (): void => {
    const reason: unknown = this.#signal?.reason;
    this.#settle(() => {
      this.#reject(reason);
    });
    this.#controller?.abort(new Error('The request was canceled.'));
  };

  #refuseSize(): void {
    this.#settle(() => {
      this.#reject(new ProviderHttpError('too-large', this.#head?.status));
    });
    this.#controller?.abort(new Error('The response is too large.'));
  }

  #settle(outcome: () => void): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    outcome();
  }
}

function toHeaderMap(headers: Record<string, string | string[] | undefined>): Map<string, string> {
  const map = new Map<string, string>();
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) map.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return map;
}

/**
 * The part of a Response that the provider packages read, for a body that has already arrived. A real Response would
 * cost 10 µs more CPU for each call, a tenth of the whole call.
 */
class BufferedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly ok: boolean;
  readonly headers: ReadonlyMap<string, string>;
  readonly #body: Uint8Array;

  constructor(head: { status: number; statusText: string; headers: ReadonlyMap<string, string> }, body: Uint8Array) {
    this.status = head.status;
    this.statusText = head.statusText;
    this.ok = head.status >= 200 && head.status < 300;
    this.headers = head.headers;
    this.#body = body;
  }

  get body(): { getReader(): BufferedReader; cancel(): Promise<void> } {
    const body = this.#body;
    return { getReader: () => new BufferedReader(body), cancel: async () => {} };
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(this.#body);
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return new Uint8Array(this.#body).buffer;
  }
}

/** A stream reader that yields its one chunk, then ends. */
class BufferedReader {
  #chunk: Uint8Array | undefined;

  constructor(chunk: Uint8Array) {
    this.#chunk = chunk;
  }

  async read(): Promise<{ done: boolean; value: Uint8Array | undefined }> {
    const value = this.#chunk;
    this.#chunk = undefined;
    return { done: value === undefined, value };
  }

  async cancel(): Promise<void> {}

  releaseLock(): void {}
}
