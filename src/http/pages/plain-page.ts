import type { IncomingHttpHeaders } from 'node:http';
import type { Request, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { requestIdOf, traceparentOf } from '../request-context.ts';
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
}

/** A redirect, or a page that says something. */
export interface PlainAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly page?: PlainPage;
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

/** The Express handler of a page that is made for each request. No cache keeps it. */
export function plainPage(handle: PlainHandler, log: Logger): RequestHandler {
  return async (request, response) => {
    const requestId = requestIdOf(request);
    const { template, policy } = await load();
    const { status, headers, page } = await handle(seen(request, requestId)).catch((error: unknown): PlainAnswer => {
      const isExpected = error instanceof ProblemError;
      if (!isExpected) log.error({ error, request_id: requestId }, 'a page could not be made');
      const text = isExpected ? error.message : 'Something went wrong. The log of the service says what.';
      return { status: isExpected ? error.status : 500, page: { title: 'Not possible', text, links: [] } };
    });
    const body = page === undefined ? '' : show(template, page, requestId);
    response.writeHead(status, {
      ...safetyFields(policy),
      'cache-control': 'no-store',
      'content-length': Buffer.byteLength(body),
      ...(page !== undefined && { 'content-type': html }),
      'x-request-id': requestId,
      ...headers,
    });
    response.end(body);
  };
}

function seen(request: Request, requestId: string): PlainRequest {
  const { headers, ip, protocol, host, originalUrl } = request;
  const mark = originalUrl.indexOf('?');
  const search = mark === -1 ? '' : originalUrl.slice(mark);
  return { requestId, traceparent: traceparentOf(headers), headers, ip, protocol, host, search };
}

function show(template: string, { title, text, links }: PlainPage, requestId: string): string {
  const list = links.map((link) => `<a href="${escape(link.href)}">${escape(link.text)}</a>`).join(' ');
  return fill(template, { title: escape(title), text: escape(text), links: list, request: escape(requestId) });
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
