import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { RequestHandler } from 'express';
import { createStaticBody, type StaticBody } from './static-body.ts';
import { hasCode } from '../runtime/system-error.ts';

/** What no page needs. */
const closed = ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"];
/**
 * Scripts and data come from this service only. Redoc creates style elements and attributes as it runs, which need
 * `unsafe-inline`, and it brings its font and images as data.
 */
const referencePolicy = [
  ...closed,
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  'img-src data:',
  'font-src data:',
].join('; ');

const html = 'text/html; charset=utf-8';
const javascript = 'text/javascript; charset=utf-8';
const json = 'application/json; charset=utf-8';

const revalidated = 'no-cache';
const keptForGood = 'public, max-age=31536000, immutable';

export interface ReferencePage {
  readonly path: string;
  readonly title: string;
  /** Path of the document that it shows. */
  readonly document: string;
  /** What the page adds to the document, as a JSON Merge Patch. */
  readonly patch?: URL;
}

export interface PageOptions {
  /** Version of the service. */
  readonly version: string;
  readonly references: readonly ReferencePage[];
  /** Names of the types of events, whose schemas the start page links. */
  readonly eventTypes: readonly string[];
  /** Redoc's script, as `npm ci` builds it. Without it, the pages say how to build it. */
  readonly redoc: URL;
}

interface StaticFile {
  readonly status?: 404;
  readonly body: StaticBody;
  readonly cacheControl: string;
  readonly policy: string;
}

/**
 * The handlers of pages for browsers, by path: the start page, the reference pages and what these load. The names of
 * these assets change with their content, so browsers keep them permanently.
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
    // Other code may have added fields, too.
    response.vary(vary).writeHead(status === 304 ? 304 : (found.status ?? 200), {
      ...fields,
      'cache-control': found.cacheControl,
      'content-security-policy': found.policy,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    response.end(body);
  };
  const paths = [...options.references.map(({ path }) => path), '/docs/assets/:name'];
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

async function loadFiles(options: PageOptions): Promise<Map<string, StaticFile>> {
  const { version, references, eventTypes, redoc } = options;
  const schemas = eventTypes.map((type) => `<a href="/schemas/events/${type}/v1.json">${type}</a>`).join(' ');
  const start = fill(await readPage('start.html'), { version, schemas });
  const files = new Map<string, StaticFile>([
    ['/', { body: createStaticBody(start, html), cacheControl: revalidated, policy: plainPolicy(start) }],
  ]);
  /** @returns the path of the asset */
  const addAsset = (name: string, content: string | Buffer, mediaType: string): string => {
    const body = createStaticBody(content, mediaType);
    const { name: stem, ext } = path.parse(name);
    const location = `/docs/assets/${stem}.${body.hash}${ext}`;
    files.set(location, { body, cacheControl: keptForGood, policy: closed.join('; ') });
    return location;
  };
  const bundle = await readIfThere(redoc);
  const scripts = bundle && {
    redoc: addAsset('redoc.js', bundle, javascript),
    script: addAsset('reference.js', await readPage('reference.js'), javascript),
  };
  const template = await readPage(scripts === undefined ? 'not-built.html' : 'reference.html');
  for (const { path: location, title, document, patch } of references) {
    const values = {
      title,
      document,
      ...scripts,
      ...(patch && { patch: addAsset('patch.json', await readFile(patch), json) }),
    };
    const page = fill(template, values);
    const kind =
      scripts === undefined ? { status: 404 as const, policy: plainPolicy(page) } : { policy: referencePolicy };
    files.set(location, { body: createStaticBody(page, html), cacheControl: revalidated, ...kind });
  }
  return files;
}

/** For a page without scripts: its style element, and nothing else. */
function plainPolicy(page: string): string {
  const style = /<style>(.*?)<\/style>/s.exec(page)?.[1] ?? '';
  const hash = createHash('sha256').update(style).digest('base64');
  return [...closed, `style-src 'sha256-${hash}'`, 'img-src data:'].join('; ');
}

async function readIfThere(file: URL): Promise<Buffer | undefined> {
  return await readFile(file).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
}

async function readPage(name: string): Promise<string> {
  return await readFile(new URL(`../pages/${name}`, import.meta.url), 'utf8');
}

/** Fills the `{{name}}` of a page. The values come from this program, never from a request. */
function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '');
}
