import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { RequestMemory } from '../base/limits/memory-budget.ts';
import { hangUpSignal } from './caller-gone.ts';
import type { EventSource, EventStreams, StartedStream } from './event-streams.ts';
import type { OperationId } from '../../generated/operations.ts';
import type { Caller, AuthenticatedPrincipal, Perform, RequestContext, RequestNotes } from './operation.ts';
import { problemDetails } from './problem-response.ts';

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;
const traceparentForm = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

const longestTracestate = 512;

/** The caller's `X-Request-Id` if it is well-formed, else a new UUID. */
export function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers['x-request-id'];
  return typeof sent === 'string' && requestIdForm.test(sent) ? sent : randomUUID();
}

/** The caller's `traceparent` if it is well-formed (W3C Trace Context, section 3.2). */
export function traceparentOf(headers: IncomingHttpHeaders): string | undefined {
  const sent = headers['traceparent'];
  return typeof sent === 'string' && traceparentForm.test(sent) ? sent : undefined;
}

/** The `tracestate` that belongs to it; undefined if it is too long to be passed on. */
function tracestateOf(headers: IncomingHttpHeaders): string | undefined {
  const sent = headers['tracestate'];
  return typeof sent === 'string' && sent.length <= longestTracestate ? sent : undefined;
}

export interface RequestContextOptions {
  readonly operationId: OperationId;
  /** Of the operation, if the request performs it, and has another path. */
  readonly path?: string;
  readonly request: IncomingMessage & Caller;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly principal: AuthenticatedPrincipal;
  readonly notes: RequestNotes;
  /** Header fields of the answer, by their names in lower case. */
  readonly headers: Record<string, string>;
  /**
   * False if the answer is stored for an idempotency key, and so is needed even if the caller closes the connection.
   */
  readonly cancelOnHangUp: boolean;
  readonly resourceId: string | undefined;
  /** The bytes of the body, if the operation keeps them. */
  readonly content?: Buffer | undefined;
  /** Ends the work on the answer when the process stops. It is asked for when a handler reads the signal. */
  readonly ending: () => AbortController;
  readonly streams: EventStreams;
  /**
   * Calls back when the session of the principal ends, or its key, if the answer is endless.
   * @returns stops this; undefined if that cannot happen
   */
  readonly watch: (
    principal: AuthenticatedPrincipal,
    onEnd: (error: unknown) => void,
    isEndless: boolean,
  ) => (() => void) | undefined;
  readonly memory: () => RequestMemory;
  readonly perform: Perform;
  readonly wantsEventStream: boolean;
}

/**
 * The context of one request. Signal and id are created when a handler reads them. A class, because creating an object
 * literal with accessors for each request is several times slower.
 */
export class LazyRequestContext implements RequestContext {
  readonly #options: RequestContextOptions;
  #signal: AbortSignal | undefined;
  #controller: AbortController | undefined;
  #resourceId: string | undefined;

  constructor(options: RequestContextOptions) {
    this.#options = options;
    this.#resourceId = options.resourceId;
  }

  get operationId(): OperationId {
    return this.#options.operationId;
  }

  get requestId(): string {
    return this.#options.requestId;
  }

  get path(): string {
    const { path, request } = this.#options;
    return path ?? (request.url ?? '').replace(/\?.*/s, '');
  }

  get principal(): AuthenticatedPrincipal {
    return this.#options.principal;
  }

  get caller(): Caller {
    return this.#options.request;
  }

  get traceparent(): string | undefined {
    return traceparentOf(this.#options.request.headers);
  }

  get tracestate(): string | undefined {
    return tracestateOf(this.#options.request.headers);
  }

  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      const { cancelOnHangUp, response, ending } = this.#options;
      const controller = ending();
      this.#controller = controller;
      this.#signal = cancelOnHangUp ? hangUpSignal(response, controller) : controller.signal;
    }
    return this.#signal;
  }

  get perform(): Perform {
    return this.#options.perform;
  }

  get wantsEventStream(): boolean {
    return this.#options.wantsEventStream;
  }

  get memory(): RequestMemory {
    return this.#options.memory();
  }

  get bodyText(): string {
    return this.#options.content?.toString('utf8') ?? '';
  }

  get resourceId(): string {
    return (this.#resourceId ??= randomUUID());
  }

  note(notes: RequestNotes): void {
    Object.assign(this.#options.notes, notes);
  }

  addHeader(name: string, value: string): void {
    this.#options.headers[name.toLowerCase()] = value;
  }

  endWithSession(isEndless = false): AbortSignal {
    const { principal, response, watch } = this.#options;
    const { signal } = this;
    const stop = watch(principal, (error) => this.#controller?.abort(error), isEndless);
    // Of a response that is closed already, nothing would say so again.
    if (response.closed || response.destroyed) stop?.();
    else if (stop !== undefined) response.once('close', stop);
    return signal;
  }

  async streamEvents<Event>(source: EventSource<Event>): Promise<StartedStream<Event>> {
    const { streams, principal, cancelOnHangUp, requestId } = this.#options;
    const signal = this.endWithSession(source.isEndless);
    return await streams.start(source, {
      family: principal.family,
      signal,
      isKept: !cancelOnHangUp,
      describe: (problem) => problemDetails(problem, this.path, requestId),
    });
  }
}
