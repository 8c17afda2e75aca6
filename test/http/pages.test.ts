import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import document from '../../generated/openapi.json' with { type: 'json' };
import { createPages } from '../../src/http/pages.ts';
import packageJson from '../../package.json' with { type: 'json' };
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

/** A request whose answer is left as it came: `fetch` would decompress it. */
async function get(target: string, headers: Record<string, string> = {}, method = 'GET'): Promise<RawAnswer> {
  const sent = request(new URL(target, service.url), { method, headers }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(await answer.toArray()) };
}

interface Operation {
  readonly tags?: readonly string[];
  readonly operationId?: string;
}

const pages = ['/docs', '/docs/events'];

async function scriptsOf(page: string): Promise<string[]> {
  const html = (await get(page)).body.toString();
  return [...html.matchAll(/"(\/docs\/scripts\/[^"]+)"/g)].map(([, script]) => script ?? '');
}

describe('a page', () => {
  it.each([...pages, '/asyncapi.json'])('%s is read only', async (page) => {
    const { status, headers, body } = await get(page, {}, 'POST');
    expect([status, headers['allow']]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect(JSON.parse(body.toString())).toMatchObject({ type: 'urn:prompt-gateway:problem:method-not-allowed' });
    expect((await get(page, {}, 'OPTIONS')).status).toBe(204);
  });
});

describe('the start page', () => {
  it.each([
    'text/html',
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
    'text/html;q=0.9, application/json;q=0.8',
  ])('is what a browser gets at / (Accept: %s)', async (accept) => {
    for (const target of ['/', '/?from=a-link']) {
      const { status, headers, body } = await get(target, { accept });
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([
        ...[200, 'text/html; charset=utf-8', 'no-cache'],
      ]);
      expect(headers['vary']).toBe('Accept, Accept-Encoding');
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(body.toString()).toContain(`Version ${packageJson.version} is running here.`);
    }
  });

  it('links to what there is', async () => {
    const html = (await get('/', { accept: 'text/html' })).body.toString();
    const links = [...html.matchAll(/href="(\/[^"#]*)/g)].map(([, link = '']) => link);
    expect(new Set(links)).toEqual(
      new Set(['/docs', '/docs/events', '/openapi.json', '/asyncapi.json', '/health/ready', '/health/live']),
    );
    for (const link of links) expect([link, (await get(link)).status]).toEqual([link, 200]);
  });

  it('is sent again only when it has changed', async () => {
    const { headers } = await get('/', { accept: 'text/html' });
    const again = await get('/', { accept: 'text/html', 'if-none-match': String(headers['etag']) });
    expect([again.status, again.body.length]).toEqual([304, 0]);
  });
});

describe('the reference pages', () => {
  it.each([
    ['/docs', '/openapi.json'],
    ['/docs/events', '/asyncapi.json'],
  ])('%s shows %s with scripts from this service only', async (page, document) => {
    const { status, headers, body } = await get(page);
    const html = body.toString();
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(html).toContain(`data-document="${document}"`);
    expect(html).not.toMatch(/\{\{|(src|href)="(https?:)?\/\//);
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/);
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/script-src 'self'(;|$)/);
    expect((await get(document)).status).toBe(200);
  });

  it('have every place that links lead to', async () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path)) as Operation[];
    const places = operations.flatMap(({ tags = [], operationId = '' }) => {
      const tag = `/docs#/${tags.join().toLowerCase().replaceAll(' ', '-')}`;
      return [tag, `${tag}/${operationId.toLowerCase()}`];
    });
    const texts = [(await get('/', { accept: 'text/html' })).body, (await get('/asyncapi.json')).body];
    const links = texts.flatMap((text) => text.toString().match(/\/docs#[\w/-]+/g) ?? []);
    expect(links).toHaveLength(4);
    expect(links.filter((link) => !places.includes(link))).toEqual([]);
  });

  it('share their scripts, which browsers keep for good', async () => {
    const [first = [], second] = await Promise.all(pages.map(scriptsOf));
    expect(first.length).toBeGreaterThan(1);
    expect(second).toEqual(first);
    for (const script of first) {
      const { status, headers } = await get(script);
      expect([status, headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    }
  });

  it('load nothing from other hosts', async () => {
    const scripts = await Promise.all((await scriptsOf('/docs')).map((script) => get(script)));
    for (const { body } of scripts) expect(body.toString()).not.toContain('cdn.redoc.ly');
  });

  it('name no address in samples but the one that the page replaces by its own', async () => {
    for (const document of ['/openapi.json', '/asyncapi.json']) {
      const text = (await get(document)).body.toString();
      expect(text.replaceAll('http://127.0.0.1:8080', '')).not.toMatch(/localhost|curl[^"]*?https?:\/\/127/);
    }
  });

  it('answer 404 under names that scripts do not have', async () => {
    const answer = await get('/docs/scripts/redoc.0000000000000000.js');
    expect([answer.status, answer.headers['content-type']]).toEqual([404, 'application/problem+json']);
  });
});

describe('what does not change', () => {
  it.each([
    ['', undefined],
    ['identity', undefined],
    ['br;q=0, gzip;q=0.0', undefined],
    ['*;q=0', undefined],
    ['gzip', 'gzip'],
    ['gzip, br;q=0', 'gzip'],
    ['*', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
  ])('is sent in the smallest form that "%s" allows', async (accepted, coding) => {
    for (const target of ['/asyncapi.json', ...(await scriptsOf('/docs'))]) {
      const plain = await get(target);
      const { status, headers, body } = await get(target, { 'accept-encoding': accepted });
      const small = plain.body.length < 1_024;
      expect([status, headers['content-encoding']]).toEqual([200, small ? undefined : coding]);
      expect([headers['vary'], headers['content-length']]).toEqual(['Accept-Encoding', String(body.length)]);
      const decode = { br: brotliDecompressSync, gzip: gunzipSync }[String(headers['content-encoding'])];
      expect((decode?.(body) ?? body).equals(plain.body)).toBe(true);
    }
  });

  it.each([...pages, '/asyncapi.json'])('is not sent again: %s', async (target) => {
    for (const accepted of ['identity', 'gzip', 'br']) {
      const headers = { 'accept-encoding': accepted };
      const first = await get(target, headers);
      const etag = String(first.headers['etag']);
      expect(first.headers['cache-control']).toBe('no-cache');
      const again = await get(target, { ...headers, 'if-none-match': etag });
      expect([again.status, again.headers['etag'], again.body.length]).toEqual([304, etag, 0]);
      expect((await get(target, { ...headers, 'if-none-match': '"other"' })).status).toBe(200);
    }
  });

  it('is described by HEAD', async () => {
    const [head, full] = [await get('/docs', {}, 'HEAD'), await get('/docs')];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(String(full.body.length));
  });
});

describe('without the packages for development', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'not-built-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('the installation says that the pages are not built, and succeeds', async () => {
    for (const file of ['codegen/build-reference.ts', 'runtime/system-error.ts'])
      await cp(new URL(`../../src/${file}`, import.meta.url), path.join(folder, 'src', file));
    const program = path.join(folder, 'src/codegen/build-reference.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [program]);
    expect(stdout).toMatch(/^The reference pages are not built: .*npm ci.*\n$/);
  });

  it('the pages say how to build them', async () => {
    const application = express();
    const handlers = createPages({
      version: '1.2.3',
      references: [{ path: '/docs', title: 'API', document: '/openapi.json' }],
      redoc: pathToFileURL(path.join(folder, 'dist/redoc.js')),
    });
    for (const [target, handler] of Object.entries(handlers)) application.get(target, handler);
    const server = application.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/docs`);
    const html = await answer.text();
    server.close();
    expect(answer.status).toBe(404);
    expect(html).toContain('npm ci');
    expect(html).toContain('href="/openapi.json"');
  });
});
