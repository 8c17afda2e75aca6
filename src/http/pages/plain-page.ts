import type { IncomingHttpHeaders } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { chunksOf } from '../body.ts';
import { CallerGoneError } from '../caller-gone.ts';
import { requestIdOf, traceparentOf } from '../request-context.ts';
import { hasBody, readRest } from '../unread-body.ts';
import { fill, html, loadOnce, plainPolicy, readPage, safetyFields } from './page-files.ts';

/** A request of a browser that no operation of the contract answers. */
export interface PlainRequest {
  readonly requestId: string;
  /** W3C trace context, if the caller sent one. */
  readonly traceparent: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** The client's address. */
  readonly ip: string | undefined;
  readonly protocol: string;
  readonly host: string | undefined;
  /** The query with its question mark; empty without one. */
  readonly search: string;
  /** The members of a form; empty unless it was posted. */
  readonly form: URLSearchParams;
}

/** A redirect, a page that says something, or JSON for a program. */
export interface PlainAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly page?: PlainPage;
  readonly json?: object;
}

interface PlainPage {
  readonly title: string;
  readonly text: string;
  readonly links: readonly { readonly text: string; readonly href: string }[];
}

export type PlainHandler = (request: PlainRequest) => Promise<PlainAnswer>;

const load = loadOnce(async () => {
  const template = await readPage('message.html');
  return { template, policy: plainPolicy(template) };
});

/** The Express handlers of pages that are made for each request, by path. */
export function plainPages(
  handlers: Readonly<Record<string, PlainHandler>> | undefined,
  log: Logger,
): Record<string, RequestHandler> {
  return Object.fromEntries(Object.entries(handlers ?? {}).map(([path, handle]) => [path, plainPage(handle, log)]));
}

/** No cache keeps the answer. */
function plainPage(handle: PlainHandler, log: Logger): RequestHandler {
  return async (request, response) => {
    const requestId = requestIdOf(request);
    const { template, policy } = await load();
    const make = async (): Promise<PlainAnswer> => await handle(await seen(request, response, requestId));
    const { status, headers, page, json } = await make().catch((error: unknown): PlainAnswer => {
      const isExpected = error instanceof ProblemError;
      if (!isExpected && !(error instanceof CallerGoneError))
        log.error({ error, request_id: requestId }, 'a page could not be made');
      const text = isExpected ? error.message : 'Something went wrong. The log of the service says what.';
      return { status: isExpected ? error.status : 500, page: { title: 'Not possible', text, links: [] } };
    });
    const body = page === undefined ? (JSON.stringify(json) ?? '') : show(template, page, requestId);
    await readRest(request);
    response.writeHead(status, {
      ...safetyFields(policy),
      'cache-control': 'no-store',
      'content-length': Buffer.byteLength(body),
      ...(page !== undefined && { 'content-type': html }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
      'x-request-id': requestId,
      ...headers,
    });
    response.end(body);
  };
}

/** The most bytes of a form. */
const longestForm = 64 * 1024;

/** @throws {ProblemError} content-too-large, unsupported-media-type @throws {CallerGoneError} */
async function readForm(request: Request, response: Response): Promise<URLSearchParams> {
  if (request.method !== 'POST') return new URLSearchParams();
  if (!/^application\/x-www-form-urlencoded *(;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw new ProblemError('unsupported-media-type', { detail: 'Send a form: application/x-www-form-urlencoded.' });
  }
  const chunks: Buffer[] = [];
  if (hasBody(request)) for await (const chunk of chunksOf(request, response, longestForm)) chunks.push(chunk);
  return new URLSearchParams(Buffer.concat(chunks).toString());
}

async function seen(request: Request, response: Response, requestId: string): Promise<PlainRequest> {
  const { headers, ip, protocol, host, originalUrl } = request;
  const mark = originalUrl.indexOf('?');
  const search = mark === -1 ? '' : originalUrl.slice(mark);
  const form = await readForm(request, response);
  return { requestId, traceparent: traceparentOf(headers), headers, ip, protocol, host, search, form };
}

function show(template: string, { title, text, links }: PlainPage, requestId: string): string {
  const list = links.map((link) => `<a href="${escape(link.href)}">${escape(link.text)}</a>`).join(' ');
  return fill(template, { title: escape(title), text: escape(text), links: list, request: escape(requestId) });
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
