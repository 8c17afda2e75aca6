import { readFile } from 'node:fs/promises';
import type { RequestHandler } from 'express';
import { createStaticBody, type StaticBody } from './static-body.ts';
import { hasCode } from '../runtime/system-error.ts';

/** Scripts and data come from this service only. Redoc makes style elements as it runs, which need `unsafe-inline`. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  'img-src data:',
  'font-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const html = 'text/html; charset=utf-8';
const javascript = 'text/javascript; charset=utf-8';

const revalidated = 'no-cache';
const keptForGood = 'public, max-age=31536000, immutable';

export interface ReferencePage {
  readonly path: string;
  readonly title: string;
  /** Path of the document that it shows. */
  readonly document: string;
}

export interface PageOptions {
  /** Of the service. */
  readonly version: string;
  readonly references: readonly ReferencePage[];
  /** Redoc's script, as `npm ci` builds it. Where it is absent the pages say how to build it. */
  readonly redoc: URL;
}

interface StaticFile {
  readonly status?: 404;
  readonly body: StaticBody;
  readonly cacheControl: string;
}

/**
 * The handlers of what browsers are shown, by path: the start page, the reference pages and the scripts that these
 * share. The scripts' names change with their content, so browsers keep them permanently.
 */
export function createPages(options: PageOptions): Record<string, RequestHandler> {
  let files: Promise<Map<string, StaticFile>> | undefined;
  const serve: RequestHandler = async (request, response, next) => {
    files ??= loadFiles(options);
    const loaded = await files.catch((error: unknown) => {
      files = undefined;
      throw error;
    });
    const found = loaded.get(request.path);
    if (found === undefined) {
      next();
      return;
    }
    const { status, headers, body } = await found.body.answer(request.headers);
    const { vary = '', ...fields } = headers;
    // Others may have named fields, too.
    response.vary(vary).writeHead(status === 304 ? 304 : (found.status ?? 200), {
      ...fields,
      'cache-control': found.cacheControl,
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
    });
    response.end(body);
  };
  const paths = [...options.references.map(({ path }) => path), '/docs/scripts/:name'];
  return {
    // The contract has an operation at this path, for all who do not prefer a page.
    '/': (request, response, next) => {
      response.vary('Accept');
      if (request.accepts(['application/json', 'text/html']) === 'text/html') return serve(request, response, next);
      next();
    },
    ...Object.fromEntries(paths.map((path) => [path, serve])),
  };
}

async function loadFiles({ version, references, redoc }: PageOptions): Promise<Map<string, StaticFile>> {
  const scripts = await loadScripts(redoc);
  const template = await readPage(scripts === undefined ? 'not-built.html' : 'reference.html');
  const start = createStaticBody(fill(await readPage('start.html'), { version }), html);
  const rendered = references.map((page): [string, StaticFile] => {
    const body = createStaticBody(fill(template, { ...page, ...scripts?.paths }), html);
    return [page.path, { body, cacheControl: revalidated, ...(scripts === undefined ? { status: 404 } : {}) }];
  });
  return new Map([['/', { body: start, cacheControl: revalidated }], ...(scripts?.files ?? []), ...rendered]);
}

interface Scripts {
  readonly paths: { readonly script: string; readonly redoc: string };
  readonly files: readonly [string, StaticFile][];
}

async function loadScripts(redocFile: URL): Promise<Scripts | undefined> {
  const bundle = await readFile(redocFile).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (bundle === undefined) return undefined;
  const redoc = createStaticBody(bundle, javascript);
  const script = createStaticBody(await readPage('reference.js'), javascript);
  const paths = {
    script: `/docs/scripts/reference.${script.hash}.js`,
    redoc: `/docs/scripts/redoc.${redoc.hash}.js`,
  };
  return {
    paths,
    files: [
      [paths.script, { body: script, cacheControl: keptForGood }],
      [paths.redoc, { body: redoc, cacheControl: keptForGood }],
    ],
  };
}

async function readPage(name: string): Promise<string> {
  return await readFile(new URL(`../pages/${name}`, import.meta.url), 'utf8');
}

/** Fills the `{{name}}` of a page. The values come from this program, never from a request. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
}
