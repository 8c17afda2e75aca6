import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { RequestHandler } from 'express';
import {
  closedPolicy,
  html,
  keptForGood,
  loadOnce,
  notBuiltPage,
  readIfThere,
  revalidated,
  safetyFields,
  sendFile,
  type PageFile,
} from './page-files.ts';
import { createStaticBody } from '../static-body.ts';

/** Where the dashboard is in the service. */
const root = '/dashboard';
/** The names of the files below this path change with their content. */
const assets = `${root}/assets/`;

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/**
 * Everything comes from this service, and nothing is inline. The style elements that the page adds as it runs have the
 * nonce.
 */
function policyOf(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** What a page could ask for, and the dashboard never does. */
const permissions = ['camera', 'display-capture', 'geolocation', 'microphone', 'payment', 'usb']
  .map((feature) => `${feature}=()`)
  .join(', ');

export interface DashboardOptions {
  /** The folder of the page, as `npm ci` builds it. Without it, the page says how to build it. */
  readonly folder: URL;
  /** The path that a proxy adds in front of the service; empty without one. */
  readonly basePath: string;
}

/**
 * The handlers of the dashboard, by path. Every path below `/dashboard` that is not a file is a screen: the page finds
 * out which one. The page itself is sent each time with a new nonce. Nothing is read again after the first request.
 */
export function createDashboard(options: DashboardOptions): Record<string, RequestHandler> {
  const load = loadOnce(() => loadDashboard(options));
  const serve: RequestHandler = async (request, response, next) => {
    const { files, page, notBuilt } = await load();
    const file = files.get(request.path);
    if (file !== undefined) return sendFile(request, response, file);
    if (request.path.startsWith(assets)) {
      next();
      return;
    }
    if (notBuilt !== undefined) return sendFile(request, response, notBuilt);
    const nonce = randomBytes(16).toString('base64');
    const content = Buffer.from(page(nonce));
    response.writeHead(200, {
      ...safetyFields(policyOf(nonce)),
      'cache-control': revalidated,
      'content-length': content.length,
      'content-type': html,
      'cross-origin-opener-policy': 'same-origin',
      'permissions-policy': permissions,
    });
    response.end(content);
  };
  return { [root]: serve, [`${root}/{*screen}`]: serve };
}

interface Dashboard {
  /** By path. */
  readonly files: ReadonlyMap<string, PageFile>;
  readonly page: (nonce: string) => string;
  readonly notBuilt?: PageFile;
}

async function loadDashboard({ folder, basePath }: DashboardOptions): Promise<Dashboard> {
  const index = await readIfThere(new URL('index.html', folder));
  if (index === undefined) {
    const notBuilt = await notBuiltPage({
      title: 'The dashboard',
      file: 'dist/dashboard',
      instead: 'The API works without it. Its reference is here',
      document: `${basePath}/docs`,
    });
    return { files: new Map(), page: () => '', notBuilt };
  }
  const names = (await readdir(folder, { recursive: true })).map((name) => name.replaceAll(path.sep, '/'));
  const files = await Promise.all(
    names.flatMap((name) => {
      const mediaType = mediaTypes[path.extname(name)];
      return mediaType === undefined ? [] : [loadFile(folder, name, mediaType)];
    }),
  );
  const parts = index.toString().split(/(?<=<base href=")[^"]*|(?<=<meta name="style-nonce" content=")/);
  if (parts.length !== 3) throw new Error(`The page in ${folder.pathname} has no place for its base and its nonce.`);
  const [start, middle, end] = parts;
  return { files: new Map(files), page: (nonce) => [start, basePath, root, '/', middle, nonce, end].join('') };
}

/** @param name relative to the folder */
async function loadFile(folder: URL, name: string, mediaType: string): Promise<[path: string, file: PageFile]> {
  const read = (ending: string): Promise<Buffer | undefined> => readIfThere(new URL(name + ending, folder));
  const [content, br, gzip] = await Promise.all([readFile(new URL(name, folder)), read('.br'), read('.gz')]);
  const body = createStaticBody(content, mediaType, { ...(br && { br }), ...(gzip && { gzip }) });
  const location = `${root}/${name}`;
  const cacheControl = location.startsWith(assets) ? keptForGood : revalidated;
  return [location, { body, cacheControl, policy: closedPolicy.join('; ') }];
}
