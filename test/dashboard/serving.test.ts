import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Exchange } from '../../src/http/exchange.ts';
import { createDashboard } from '../../src/http/pages/dashboard.ts';
import { createBareRouter } from '../support/bare-router.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

interface RawAnswer {
  readonly status: number | undefined;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

interface Sent {
  readonly headers?: Record<string, string>;
  readonly method?: string;
  /** The address of the service, if it is another one. */
  readonly origin?: string;
}

/** Sends a path unchanged (`fetch` would resolve its dots), and returns the answer without decompressing it. */
async function get(
  target: string,
  { headers = {}, method = 'GET', origin = service.url }: Sent = {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin);
  const sent = request({ hostname, port, path: target, method, headers }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(await answer.toArray()) };
}

/** The files that the page loads immediately, as paths of the service. */
async function assetsOfPage(): Promise<string[]> {
  const html = (await get('/dashboard')).body.toString();
  return [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, asset = '']) => `/dashboard/${asset}`);
}

function nonceOf({ body }: RawAnswer): string {
  return /<meta name="style-nonce" content="([^"]*)"/.exec(body.toString())?.[1] ?? '';
}

function problemOf({ headers, body }: RawAnswer): unknown {
  expect(headers['content-type']).toBe('application/problem+json');
  return (JSON.parse(body.toString()) as { type: unknown }).type;
}

describe('the page', () => {
  it.each(['/dashboard', '/dashboard/', '/dashboard/integrations/abc?tab=deliveries', '/dashboard/prompts/a.b/diff'])(
    'is the answer at %s',
    async (target) => {
      const answer = await get(target);
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(answer.headers['cache-control']).toBe('no-cache');
      expect(answer.body.toString()).toContain('<base href="/dashboard/"');
    },
  );

  it('can load only from this service, cannot be framed, and sends no referrer', async () => {
    const answer = await get('/dashboard');
    expect(answer.headers['content-security-policy']).toBe(
      [
        "default-src 'none'",
        "script-src 'self'",
        `style-src 'self' 'nonce-${nonceOf(answer)}'`,
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
      ].join('; '),
    );
    expect(answer.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()') as unknown,
    });
  });

  it('has a new nonce each time, so caches must not keep it', async () => {
    const answers = await Promise.all([get('/dashboard'), get('/dashboard'), get('/dashboard/prompts')]);
    const nonces = answers.map(nonceOf);
    expect(new Set(nonces).size).toBe(3);
    for (const nonce of nonces) expect(Buffer.from(nonce, 'base64')).toHaveLength(16);
    for (const { headers } of answers)
      expect([headers['etag'], headers['last-modified']]).toEqual([undefined, undefined]);
    expect((await get('/dashboard', { headers: { 'if-none-match': '*' } })).status).toBe(200);
  });

  it('has no inline script or style, and loads nothing from other hosts', async () => {
    const html = (await get('/dashboard')).body.toString();
    expect(html).not.toMatch(/<script(?![^>]*\bsrc="\.\/)/);
    expect(html).not.toMatch(/<style|\bon\w+="|style="|(src|href)="(https?:)?\/\//);
    expect((await assetsOfPage()).length).toBeGreaterThan(1);
  });

  it('can be requested with HEAD and OPTIONS, and is read-only', async () => {
    const [head, full] = [await get('/dashboard', { method: 'HEAD' }), await get('/dashboard')];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(String(full.body.length));
    for (const target of ['/dashboard', '/dashboard/orders', '/dashboard/assets/index.js']) {
      const refused = await get(target, { method: 'POST' });
      expect([refused.status, refused.headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS']);
      expect(problemOf(refused)).toBe('urn:prompt-gateway:problem:method-not-allowed');
      expect((await get(target, { method: 'OPTIONS' })).status).toBe(204);
    }
  });

  it('does not extend to other paths', async () => {
    for (const target of ['/dashboards', '/Dashboard', '/dashboard.html']) {
      expect([target, (await get(target)).status]).toEqual([target, 404]);
    }
  });
});

describe('the files that the page loads', () => {
  it('are cached permanently, because their names change with their content', async () => {
    for (const asset of await assetsOfPage()) {
      expect(asset).toMatch(/^\/dashboard\/assets\/[\w.-]+-[\w-]{8}\.(js|css)$/);
      const { status, headers } = await get(asset);
      const type = asset.endsWith('.js') ? 'text/javascript' : 'text/css';
      expect([status, headers['content-type']]).toEqual([200, `${type}; charset=utf-8`]);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['content-security-policy']).toContain("default-src 'none'");
    }
  });

  it.each([
    ['identity', undefined],
    ['gzip, deflate', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0, *', 'gzip'],
  ])('are sent in the smallest form that "%s" allows', async (accepted, coding) => {
    let [sent, whole] = [0, 0];
    for (const asset of await assetsOfPage()) {
      const plain = await get(asset);
      const { headers, body } = await get(asset, { headers: { 'accept-encoding': accepted } });
      expect([headers['content-encoding'], headers['vary']]).toEqual([coding, 'Accept-Encoding']);
      expect(headers['content-length']).toBe(String(body.length));
      const decode = { br: brotliDecompressSync, gzip: gunzipSync }[String(coding)];
      expect((decode?.(body) ?? body).equals(plain.body)).toBe(true);
      sent += body.length;
      whole += plain.body.length;
    }
    if (coding !== undefined) expect(sent).toBeLessThan(whole / 2);
  });

  it('are not sent again, and can be requested with HEAD', async () => {
    const [asset = ''] = await assetsOfPage();
    for (const accepted of ['identity', 'gzip', 'br']) {
      const headers = { 'accept-encoding': accepted };
      const full = await get(asset, { headers });
      const again = await get(asset, { headers: { ...headers, 'if-none-match': String(full.headers['etag']) } });
      expect([again.status, again.body.length, again.headers['etag']]).toEqual([304, 0, full.headers['etag']]);
      const head = await get(asset, { headers, method: 'HEAD' });
      expect([head.status, head.body.length]).toEqual([200, 0]);
      expect(head.headers['content-length']).toBe(String(full.body.length));
    }
  });

  it.each([
    '/dashboard/assets/index-00000000.js',
    '/dashboard/assets/',
    '/dashboard/assets/../index.html',
    '/dashboard/assets/../../../package.json',
    '/dashboard/assets/..%2f..%2f..%2fpackage.json',
    '/dashboard/assets/%2e%2e/%2e%2e/%2e%2e/package.json',
    '/dashboard/assets/..%5c..%5c..%5cpackage.json',
    '/dashboard/assets//etc/passwd',
    '/dashboard/assets/%00',
  ])('do not include %s', async (target) => {
    const answer = await get(target);
    expect(answer.status).toBe(404);
    expect(problemOf(answer)).toBe('urn:prompt-gateway:problem:route-not-found');
  });

  it.each([
    '/dashboard/../package.json',
    '/dashboard/.vite/manifest.json',
    '/dashboard/index.html',
    '/dashboard//etc/passwd',
  ])('do not include %s, which is the path of a screen', async (target) => {
    const { headers, body } = await get(target);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(body.toString()).toContain('<div id="root"></div>');
  });

  it('do not include their compressed versions as separate files', async () => {
    const [asset = ''] = await assetsOfPage();
    for (const ending of ['.br', '.gz']) expect((await get(asset + ending)).status).toBe(404);
  });
});

describe('the size of the first load', () => {
  const program = path.join(import.meta.dirname, '../../src/codegen/dashboard-sizes.ts');

  it('is within its limit, and the screens are loaded lazily', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [program]);
    expect(stdout).toMatch(/^First load +[\d.]+ KiB [^]*\n +\+[\d.]+ {3}src\/screens\/\S+-screen\.tsx\n/);
  });

  it('is the size of the entry and its imports; above the limit the program fails', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'sizes-'));
    const manifest = {
      'index.html': { file: 'entry.js', isEntry: true, imports: ['_shared'], dynamicImports: ['src/a.tsx'] },
      _shared: { file: 'shared.js', imports: ['index.html'] },
      'src/a.tsx': { file: 'a.js', isDynamicEntry: true, imports: ['_shared', '_chart'] },
      _chart: { file: 'chart.js' },
    };
    await mkdir(path.join(folder, '.vite'));
    await writeFile(path.join(folder, '.vite/manifest.json'), JSON.stringify(manifest));
    const kibibytes = { 'entry.js': 200, 'shared.js': 51, 'a.js': 1, 'chart.js': 2 };
    for (const [file, size] of Object.entries(kibibytes)) {
      await writeFile(path.join(folder, `${file}.gz`), Buffer.alloc(size * 1024));
    }
    await expect(promisify(execFile)(process.execPath, [program, folder])).rejects.toMatchObject({
      code: 1,
      stdout: 'First load   251.0 KiB of gzipped script (at most 250)\n      +3.0   src/a.tsx\n',
    });
    await rm(folder, { recursive: true });
  });
});

describe('a folder', () => {
  let folder: string;
  let server: Server;
  let origin: string;
  const exchanges: Exchange[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'dashboard-'));
    const handlers = createDashboard({ folder: pathToFileURL(`${folder}/`), basePath: '/gateway' });
    const router = createBareRouter(
      () => Promise.reject(new Error('no operation is called')),
      (exchange) => exchanges.push(exchange),
      undefined,
      handlers,
    );
    server = router.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('that cannot be read is a temporary failure', async () => {
    await mkdir(path.join(folder, 'index.html'));
    const failed = await get('/dashboard', { origin });
    expect([failed.status, problemOf(failed)]).toEqual([500, 'urn:prompt-gateway:problem:internal-error']);
    expect(exchanges.at(-1)?.error).toMatchObject({ code: 'EISDIR' });
    await rm(path.join(folder, 'index.html'), { recursive: true });
  });

  it('is read once', async () => {
    const page = '<head><base href="/dashboard/" /><meta name="style-nonce" content="" /></head>';
    const files = {
      'index.html': page,
      'favicon.svg': '<svg/>',
      'assets/app.js': 'run()',
      'assets/text.woff2': 'a font',
      'assets/app.js.br': 'as brotli',
    };
    await mkdir(path.join(folder, 'assets'));
    for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
    const html = await get('/dashboard/orders', { origin });
    await rm(folder, { recursive: true });
    expect(html.body.toString()).toBe(
      `<head><base href="/gateway/dashboard/" /><meta name="style-nonce" content="${nonceOf(html)}" /></head>`,
    );
    const headers = { 'accept-encoding': 'br, gzip' };
    const read = async (name: string): Promise<unknown[]> => {
      const answer = await get(`/dashboard/${name}`, { origin, headers });
      const { 'content-type': type, 'content-encoding': coding, 'cache-control': kept } = answer.headers;
      return [type, coding, kept, answer.body.toString()];
    };
    const immutable = 'public, max-age=31536000, immutable';
    expect(await read('favicon.svg')).toEqual(['image/svg+xml', undefined, 'no-cache', '<svg/>']);
    expect(await read('assets/app.js')).toEqual(['text/javascript; charset=utf-8', 'br', immutable, 'as brotli']);
    // Fonts are already compressed.
    expect(await read('assets/text.woff2')).toEqual(['font/woff2', undefined, immutable, 'a font']);
  });
});

describe('without the development packages', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'not-built-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('the installation says that the dashboard is not built, and succeeds', async () => {
    const program = path.join(folder, 'src/codegen/build-dashboard.ts');
    await cp(new URL('../../src/codegen/build-dashboard.ts', import.meta.url), program);
    const { stdout } = await promisify(execFile)(process.execPath, [program]);
    expect(stdout).toMatch(/^The dashboard is not built: .*npm ci.*\n$/);
  });

  it('the page says how to build it', async () => {
    const handlers = createDashboard({ folder: pathToFileURL(`${folder}/dist/`), basePath: '/gateway' });
    const server = createBareRouter(
      () => Promise.reject(new Error()),
      () => undefined,
      undefined,
      handlers,
    ).listen(0);
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const page = await get('/dashboard/orders', { origin });
    const asset = await get('/dashboard/assets/app.js', { origin });
    server.close();
    expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.body.toString()).toMatch(/The dashboard is not built.*npm ci.*href="\/gateway\/docs"/s);
    expect(problemOf(asset)).toBe('urn:prompt-gateway:problem:route-not-found');
  });
});
