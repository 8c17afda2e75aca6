import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { RequestHandler } from 'express';
import {
  closedPolicy,
  fill,
  html,
  keptForGood,
  loadOnce,
  notBuiltPage,
  plainPolicy,
  readIfThere,
  readPage,
  revalidated,
  sendFile,
  type PageFile,
} from './page-files.ts';
import { createStaticBody } from '../static-body.ts';

/**
 * Scripts and data come from this service only. Redoc creates style elements and attributes as it runs, which need
 * `unsafe-inline`, and it brings its font and images as data.
 */
const referencePolicy = [
  ...closedPolicy,
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "connect-src 'self'",
  'img-src data:',
  'font-src data:',
].join('; ');

const changesPath = '/docs/changes';
const javascript = 'text/javascript; charset=utf-8';
const json = 'application/json; charset=utf-8';

/**
 * `npm install` takes the address of this file, so no registry is needed. Under the name with a version it is never
 * another one: a lock file has its hash.
 */
const clientPaths = (version: string): readonly string[] => ['/client.tgz', `/client-${version}.tgz`];

export interface ReferencePage {
  readonly path: string;
  readonly title: string;
  /** Path of the document that it shows. */
  readonly document: string;
  /** What the page adds to the document, as a JSON Merge Patch. */
  readonly patch?: URL;
}

export interface PageOptions {
  readonly version: string;
  readonly references: readonly ReferencePage[];
  /** The content of the page of API changes, as `npm ci` builds it. */
  readonly changes: URL;
  /** Names of the types of events, whose schemas the start page links. */
  readonly eventTypes: readonly string[];
  /** Redoc's script, as `npm ci` builds it. Without it, the pages say how to build it. */
  readonly redoc: URL;
  /** The package of the TypeScript client, as `npm ci` packs it. */
  readonly clientPackage: URL;
  /** The path that a proxy adds in front of the service; empty without one. */
  readonly basePath: string;
}

/**
 * The handlers of pages for browsers, by path: the start page, the reference pages and what these load, and the package
 * of the client. The names of the assets change with their content, so browsers keep them permanently.
 */
export function createPages(options: PageOptions): Record<string, RequestHandler> {
  const load = loadOnce(() => loadFiles(options));
  const serve: RequestHandler = async (request, response, next) => {
    const file = (await load()).get(request.path);
    if (file === undefined) next();
    else await sendFile(request, response, file);
  };
  const references = options.references.map(({ path }) => path);
  const paths = [...references, changesPath, '/docs/assets/:name', ...clientPaths(options.version)];
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

async function loadFiles(options: PageOptions): Promise<Map<string, PageFile>> {
  const { version, references, eventTypes, changes, redoc, clientPackage, basePath: base } = options;
  const schemas = eventTypes.map((type) => `<a href="${base}/schemas/events/${type}/v1.json">${type}</a>`).join(' ');
  const start = fill(await readPage('start.html'), { base, version, schemas });
  const files = new Map<string, PageFile>();
  const addPage = (location: string, page: string): void => {
    const body = createStaticBody(page, html);
    files.set(location, { body, cacheControl: revalidated, policy: plainPolicy(page) });
  };
  addPage('/', start);
  const list = await readIfThere(changes);
  if (list === undefined) {
    const instead = 'The document that has changed is here';
    const words = { title: 'The list of changes', file: 'dist/changes.html', instead };
    files.set(changesPath, await notBuiltPage({ ...words, document: `${base}/openapi.json` }));
  } else {
    const filled = fill(list.toString(), { base });
    addPage(changesPath, fill(await readPage('changes.html'), { base, changes: filled }));
  }
  /** @returns the address of the asset, for browsers */
  const addAsset = (name: string, content: string | Buffer, mediaType: string): string => {
    const body = createStaticBody(content, mediaType);
    const { name: stem, ext } = path.parse(name);
    const location = `/docs/assets/${stem}.${body.hash}${ext}`;
    files.set(location, { body, cacheControl: keptForGood, policy: closedPolicy.join('; ') });
    return base + location;
  };
  const bundle = await readIfThere(redoc);
  if (bundle === undefined) {
    for (const { path: location, document } of references) {
      const instead = 'The document that it shows is here';
      const words = { title: 'The reference', file: 'dist/redoc.js', instead, document: base + document };
      files.set(location, await notBuiltPage(words));
    }
  } else {
    const scripts = {
      redoc: addAsset('redoc.js', bundle, javascript),
      script: addAsset('reference.js', await readPage('reference.js'), javascript),
    };
    const template = await readPage('reference.html');
    for (const { path: location, title, document, patch } of references) {
      const added = patch && { patch: addAsset('patch.json', await readFile(patch), json) };
      const page = fill(template, { base, title, document: base + document, ...scripts, ...added });
      files.set(location, { body: createStaticBody(page, html), cacheControl: revalidated, policy: referencePolicy });
    }
  }
  const client = await loadClient(clientPackage, base);
  for (const location of clientPaths(version)) files.set(location, client);
  return files;
}

async function loadClient(file: URL, base: string): Promise<PageFile> {
  const content = await readIfThere(file);
  if (content === undefined) {
    return notBuiltPage({
      title: 'The package of the client',
      file: 'dist/client.tgz',
      instead: 'The document that clients are made from is here',
      document: `${base}/openapi.json`,
    });
  }
  const body = createStaticBody(content, 'application/gzip', {});
  return { body, cacheControl: revalidated, policy: closedPolicy.join('; ') };
}
