import { readFile } from 'node:fs/promises';
import type { RequestHandler } from 'express';

/** The page holds its script and styles inline and loads nothing, and that is all it is allowed to do. */
const policy =
  "default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'none'";

/** Serves a reference page that was made by `npm run generate`. */
export function serveReferencePage(file: URL): RequestHandler {
  let page: Promise<Buffer> | undefined;
  return (_request, response, next) => {
    page ??= readFile(file);
    page.then((html) => {
      response.writeHead(200, {
        'content-type': 'text/html; charset=utf-8',
        'content-length': html.length,
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-cache',
      });
      response.end(html);
    }, next);
  };
}
