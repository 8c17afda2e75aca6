import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Request, Response } from 'express';
import { hasCode } from '../../base/runtime/system-error.ts';
import { sendBody } from '../answer-stream.ts';
import { createStaticBody, type StaticBody } from '../static-body.ts';

/** The directives of a Content-Security-Policy that allow nothing. */
export const closedPolicy: readonly string[] = [
  "default-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

export const html = 'text/html; charset=utf-8';

/** `Cache-Control` of what browsers ask for again each time. */
export const revalidated = 'no-cache';
/** `Cache-Control` of what has a name that changes with its content. */
export const keptForGood = 'public, max-age=31536000, immutable';

/** A page for browsers, or a file that it loads. */
export interface PageFile {
  readonly status?: 404;
  readonly body: StaticBody;
  readonly cacheControl: string;
  readonly policy: string;
}

/** The security header fields of every page and of everything that it loads. */
export function safetyFields(policy: string): Record<string, string> {
  return {
    'content-security-policy': policy,
    'cross-origin-resource-policy': 'same-origin',
    // Over plain HTTP to another machine, only this shows that a GET comes from a page of this service.
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  };
}

/** Answers a GET or HEAD with a file. */
export async function sendFile(request: Request, response: Response, file: PageFile): Promise<void> {
  const { status, headers, body } = await file.body.answer(request.headers);
  const { vary = '', ...fields } = headers;
  // Other code may have added fields, too.
  response.vary(vary).writeHead(status === 304 ? 304 : (file.status ?? 200), {
    ...fields,
    ...safetyFields(file.policy),
    'cache-control': file.cacheControl,
  });
  sendBody(response, body);
}

/** Loads something when it is first needed, and again only after a failure. */
export function loadOnce<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loading: Promise<Loaded> | undefined;
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}

/** For a page without scripts: its style element, and nothing else. */
export function plainPolicy(page: string): string {
  const style = /<style>(.*?)<\/style>/s.exec(page)?.[1] ?? '';
  const hash = createHash('sha256').update(style).digest('base64');
  return [...closedPolicy, `style-src 'sha256-${hash}'`, 'img-src data:'].join('; ');
}

export async function readIfThere(file: URL): Promise<Buffer | undefined> {
  return await readFile(file).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
}

/** A page of this folder. */
export async function readPage(name: string): Promise<string> {
  return await readFile(new URL(name, import.meta.url), 'utf8');
}

/** The page in the place of a file that `npm ci` has not built. @param words what `not-built.html` says about it */
export async function notBuiltPage(words: {
  readonly title: string;
  readonly file: string;
  /** A sentence, and the address of the document that helps instead. */
  readonly instead: string;
  readonly document: string;
}): Promise<PageFile> {
  const page = fill(await readPage('not-built.html'), words);
  return { status: 404, body: createStaticBody(page, html), cacheControl: revalidated, policy: plainPolicy(page) };
}

/** Fills the `{{name}}` of a page. The values come from this program, never from a request. */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
}

/**
 * The address of a page for the operator's browser, who may be on the same machine or behind the proxy.
 * @param url where the service listens
 * @param basePath the path that a proxy adds in front of the service; empty without one
 */
export function pageAddress(url: string, basePath: string, page: '/dashboard' | '/docs'): string {
  if (basePath !== '') return `https://<your proxy>${basePath}${page}`;
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:') + page;
}
