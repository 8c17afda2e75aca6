import type { Socket, TcpNetConnectOpts as ConnectOpts } from 'node:net';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { StreamedResponse } from './streamed-response.ts';
import { ProviderHttpError, WholeResponse } from './whole-response.ts';
import { directConnector } from '../../base/outbound/connector.ts';
import type { LookUp } from '../../base/outbound/look-up.ts';
import { createPools, type Pools } from '../../base/outbound/pools.ts';
import { withProxy, type ProxySettings } from '../../base/outbound/proxy.ts';

/**
 * The part of the Fetch API that the provider packages use: they send a POST with a text body and read the whole
 * answer. The body can also be a `TextInPieces`.
 */
export type Fetch = typeof globalThis.fetch;

/** A `Fetch` of bodies while they come. @param mostBytes of a body that is no event stream, in place of the usual ones */
export type StreamFetch = (...parameters: [...Parameters<Fetch>, mostBytes?: number]) => Promise<Response>;

/** The most characters of a text that are encoded at once. */
const pieceLength = 64 * 1024;

/** A long body. It is encoded as the connection takes it, so that it does not stop the event loop. */
export class TextInPieces implements Iterable<Uint8Array> {
  readonly #parts: readonly string[];

  constructor(parts: readonly string[]) {
    this.#parts = parts;
  }

  get bytes(): number {
    return this.#parts.reduce((bytes, part) => bytes + Buffer.byteLength(part), 0);
  }

  *[Symbol.iterator](): Generator<Uint8Array> {
    for (const part of this.#parts) {
      for (let start = 0, end; start < part.length; start = end) {
        end = start + pieceLength;
        // A character of two units stays whole.
        if (/[\ud800-\udbff]/.test(part.charAt(end - 1))) end += 1;
        yield Buffer.from(part.slice(start, end));
      }
    }
  }
}

/** The client through which all providers are called. */
export interface ProviderHttp {
  /** @throws ProviderHttpError, or the reason of `init.signal` when that is aborted. */
  readonly fetch: Fetch;
  /**
   * Like `fetch`, but it settles when the headers of a successful response have arrived, and its body is read from the
   * connection no faster than by the caller. Has connections of its own, so that long streams do not delay whole calls.
   * `init.signal` ends the body, too.
   */
  readonly streamFetch: StreamFetch;
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
  /**
   * Whether a request is sent again, once, if its kept connection was closed by the server before. Not for calls of
   * models: each is written down before it is sent.
   */
  readonly repeatsStale?: boolean;
  readonly lookUp: LookUp;
  /** Through which calls leave; undefined for direct connections. */
  readonly proxy?: ProxySettings | undefined;
}

const defaultOptions = {
  connections: 256,
  // Below the limit of an idempotency record, so that every answer that was paid for can be stored.
  maxResponseBytes: 4 * 1024 * 1024,
  connectTimeout: 5_000,
  repeatsStale: false,
};
/** Open connections of streams per origin. */
const streamConnections = 2_000;

/**
 * Creates a `fetch` over a shared pool of kept-alive connections.
 *
 * It does only what calling a model needs. Redirects are ordinary answers, because following them would send the
 * credentials to another host. Nothing is decompressed or cached, and `fetch` reads the body before it settles. Only
 * connecting has a time limit here; `init.signal` ends a call at any time. undici's dispatcher is used directly because
 * its `fetch` costs three times the CPU.
 */
export function createProviderHttp(options: ProviderHttpOptions): ProviderHttp {
  const { connections, maxResponseBytes, connectTimeout, repeatsStale, lookUp, proxy } = {
    ...defaultOptions,
    ...options,
  };
  const poolsOf = (perOrigin: number, connect: object = {}): Pools => {
    const connecting = { lookUp, timeout: connectTimeout, connect };
    return createPools({
      connections: perOrigin,
      // A shorter time that the server announces in Keep-Alive applies.
      keepAliveTimeout: 30_000,
      connect: withProxy(directConnector(connecting), proxy, connecting),
    });
  };
  const pools = poolsOf(connections);
  const streamPools = poolsOf(streamConnections, smallReads());

  const createFetch =
    (
      from: Pools,
      createHandler: (
        signal: AbortSignal | undefined,
        resolve: (response: Response) => void,
        reject: (reason: unknown) => void,
        mostBytes: number | undefined,
      ) => Dispatcher.DispatchHandler,
    ): StreamFetch =>
    (input, init = {}, mostBytes) =>
      new Promise((resolve, reject) => {
        const signal = init.signal ?? undefined;
        if (signal?.aborted) throw signal.reason;
        const { body = null } = init;
        const inPieces = body instanceof TextInPieces;
        if (body !== null && typeof body !== 'string' && !inPieces) throw new TypeError('Only texts can be sent.');
        const headers = toHeaderRecord(init.headers);
        const url = new URL(input instanceof Request ? input.url : input);
        const send = (mayRepeat: boolean): void => {
          const pool = from.of(url.origin, url.origin);
          const fail = (reason: unknown): void => {
            if (reason instanceof ProviderHttpError) {
              reason.host = hostOf(url);
              if (reason.reason === 'stale') {
                from.renew(url.origin, pool);
                if (mayRepeat) {
                  send(false);
                  return;
                }
              }
            }
            reject(reason);
          };
          pool.dispatch(
            {
              path: url.href.slice(url.origin.length),
              method: (init.method ?? 'GET') as Dispatcher.HttpMethod,
              headers: inPieces ? { ...headers, 'content-length': String(body.bytes) } : headers,
              body: inPieces ? Readable.from(body, { objectMode: false }) : body,
            },
            createHandler(signal, resolve, fail, mostBytes),
          );
        };
        send(repeatsStale);
      });

  return {
    fetch: createFetch(
      pools,
      (signal, resolve, reject) => new WholeResponse(maxResponseBytes, signal, resolve, reject),
    ),
    streamFetch: createFetch(streamPools, (signal, resolve, reject, mostBytes) => {
      const whole = new WholeResponse(maxResponseBytes, signal, resolve, reject);
      return new StreamedResponse(signal, resolve, whole, mostBytes);
    }),
    async close() {
      await Promise.all([pools.close(), streamPools.close()]);
    },
  };
}

function hostOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === '' ? (protocol === 'http:' ? 80 : 443) : port}`;
}

/** The most bytes of a stream that are read from a connection at once. */
const readBytes = 8 * 1024;

/**
 * Options of connections. Node reads up to 64 KiB at once, and reads again until it has as much. Streams that nobody
 * takes would keep all that.
 */
function smallReads(): Pick<ConnectOpts, 'onread'> & { highWaterMark: number } {
  return {
    highWaterMark: readBytes,
    onread: {
      // All connections can share it, because its content is copied before the next read.
      buffer: Buffer.alloc(readBytes),
      callback(this: Socket, size: number, buffer: Uint8Array): boolean {
        return this.push(Buffer.from(buffer.subarray(0, size)));
      },
    },
  };
}

function toHeaderRecord(headers: RequestInit['headers']): Record<string, string> {
  if (headers === undefined) return {};
  // The packages pass plain records, which need no conversion by Headers.
  const plain = !Array.isArray(headers) && !(Symbol.iterator in headers);
  return plain ? (headers as Record<string, string>) : Object.fromEntries(new Headers(headers));
}
