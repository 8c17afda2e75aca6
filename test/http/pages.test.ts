import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
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
import { eventTypes } from '../../generated/events.ts';
import { operationTable, type OperationId, type OperationRow } from '../../generated/operations.ts';
import { problems, type ProblemType } from '../../generated/problems.ts';
import { pageAddress } from '../../src/http/pages/page-files.ts';
import { createPages } from '../../src/http/pages/reference.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { startPathProxy, type PathProxy } from '../support/path-proxy.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** The operations that were called, in order. */
const reached: (string | undefined)[] = [];
/** What the start said to the operator. */
const lines: string[] = [];
let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    onExchange: ({ operationId }) => reached.push(operationId),
    print: (line) => lines.push(line),
  });
});
afterAll(() => service.close());

interface RawAnswer {
  readonly status: number | undefined;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

/** Sends a request and returns the answer without decompressing it, unlike `fetch`. */
async function get(target: string, headers: Record<string, string> = {}, method = 'GET'): Promise<RawAnswer> {
  const sent = request(new URL(target, service.url), { method, headers }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(await answer.toArray()) };
}

interface ShownOperation {
  readonly tags: readonly string[];
  readonly operationId: OperationId;
  readonly responses: Readonly<Record<string, { $ref?: string; description?: string }>>;
  readonly 'x-codeSamples'?: readonly { lang: string; source: string }[];
}

interface ShownDocument {
  readonly servers: readonly { url: string }[];
  readonly tags: readonly { name: string; description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, ShownOperation>>>>;
  readonly components: { responses: Readonly<Record<string, { description: string }>> };
}

/**
 * Runs the script of a page as a browser does. Returns the document that the page passes to Redoc.
 * @param origin of the page
 */
async function showPage(page: string, origin = service.url): Promise<ShownDocument> {
  const html = (await get(`${origin}${page}`)).body.toString();
  const dataset = Object.fromEntries(
    [...html.matchAll(/data-(\w+)="([^"]*)"/g)].map(([, name, value = '']) => [name, value]),
  );
  const script = /src="([^"]+)"/.exec(html)?.[1] ?? '';
  const shown: unknown[] = [];
  const redoc = `data:text/javascript,export const init = (document) => globalThis.shownByRedoc.push(document)`;
  const fetchHere = (target: string): Promise<Response> => fetch(new URL(target, origin));
  Object.assign(globalThis, { shownByRedoc: shown });
  const source = (await get(`${origin}${script}`)).body.toString();
  const run = `export const run = async (document, location, fetch) => { ${source} }`;
  const program = (await import(`data:text/javascript,${encodeURIComponent(run)}`)) as {
    run(document: unknown, location: unknown, fetch: unknown): Promise<void>;
  };
  const element = { dataset: { ...dataset, redoc } };
  await program.run({ getElementById: () => element }, { origin: 'https://gateway.example' }, fetchHere);
  return shown[0] as ShownDocument;
}

function operationsOf({ paths }: ShownDocument): ShownOperation[] {
  return Object.values(paths)
    .flatMap((item) => Object.values(item))
    .filter(({ operationId }) => operationId);
}

const pages = ['/docs', '/docs/events'];
const changesPage = '/docs/changes';

async function assetsOf(page: string): Promise<string[]> {
  const html = (await get(page)).body.toString();
  return [...new Set([...html.matchAll(/"(\/docs\/assets\/[^"]+)"/g)].map(([, asset]) => asset ?? ''))];
}

/** The files that a browser loads for each reference page. */
async function loadsOf(page: string): Promise<string[]> {
  return [page, page === '/docs' ? '/openapi.json' : '/asyncapi.json', ...(await assetsOf(page))];
}

interface Command {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Runs samples in a shell, and returns the requests that curl would send for each. */
async function commandsOf(samples: readonly string[]): Promise<Command[][]> {
  const program = [`curl() { printf '%s\\0' "$@" end-of-command; }`, ...samples].join(`\nprintf 'end-of-sample\\0'\n`);
  const env = { API_KEY: service.adminKey, IDEMPOTENCY_KEY: 'some-key' };
  const { stdout } = await promisify(execFile)('/bin/sh', ['-e', '-c', program], { env });
  const [, ...sources] = stdout.split('end-of-sample\0');
  return sources.map((source) => source.split('end-of-command\0').slice(0, -1).map(readCommand));
}

function readCommand(text: string): Command {
  const words = text.split('\0').slice(0, -1);
  const after = (option: string): string[] => words.filter((_, index) => words[index - 1] === option);
  const [body] = after('-d');
  const [address = '', ...others] = words.filter(
    (word, index) => !/^-[XHd]$/.test(words[index - 1] ?? '') && !/^-[XHd]$/.test(word),
  );
  expect([address.startsWith('https://gateway.example/'), others]).toEqual([true, []]);
  return {
    method: after('-X')[0] ?? (body === undefined ? 'GET' : 'POST'),
    target: address.slice('https://gateway.example'.length),
    headers: Object.fromEntries(after('-H').map((field) => field.split(': '))) as Record<string, string>,
    body,
  };
}

/** The examples of an operation's body; one `undefined` if it has no body. */
function exampleBodies(operationId: OperationId): unknown[] {
  const { method, path: route } = operationTable[operationId];
  const item = (document.paths as unknown as Record<string, Record<string, { requestBody?: RequestBody }>>)[route];
  const content = Object.values(item?.[method.toLowerCase()]?.requestBody?.content ?? {});
  const examples = content.flatMap((media) => Object.values(media.examples));
  return examples.length === 0 ? [undefined] : examples.map(({ value }) => value);
}

interface RequestBody {
  readonly content: Readonly<Record<string, { readonly examples: Readonly<Record<string, { value: unknown }>> }>>;
}

function takes(operationId: OperationId, header: string): boolean {
  return operationTable[operationId].parameters.some(({ name }) => name === header);
}

describe('a page', () => {
  it.each([...pages, changesPage, '/asyncapi.json'])('%s is read only', async (page) => {
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
      const style = /<style>(.*)<\/style>/s.exec(body.toString())?.[1] ?? '';
      const hash = createHash('sha256').update(style).digest('base64');
      const policy = String(headers['content-security-policy']);
      expect(policy).toBe(
        `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-${hash}'; img-src data:`,
      );
      expect(body.toString()).toContain(`Version ${packageJson.version} is running here.`);
    }
  });

  it('links to everything that exists', async () => {
    const html = (await get('/', { accept: 'text/html' })).body.toString();
    const links = [...html.matchAll(/href="(\/[^"#]*)/g)].map(([, link = '']) => link);
    expect(new Set(links)).toEqual(
      new Set([
        ...['/dashboard', '/docs', '/docs/events', '/openapi.json', '/asyncapi.json', '/health/ready', '/health/live'],
        changesPage,
        `/client-${packageJson.version}.tgz`,
        ...eventTypes.map((type) => `/schemas/events/${type}/v1.json`),
      ]),
    );
    for (const link of links) expect([link, (await get(link)).status]).toEqual([link, 200]);
  });

  it('is sent again only when it has changed', async () => {
    const { headers } = await get('/', { accept: 'text/html' });
    const again = await get('/', { accept: 'text/html', 'if-none-match': String(headers['etag']) });
    expect([again.status, again.body.length]).toEqual([304, 0]);
  });
});

describe('the page of API changes', () => {
  it('is one file without scripts', async () => {
    const { status, headers, body } = await get(changesPage);
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      ...[200, 'text/html; charset=utf-8', 'no-cache'],
    ]);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; .*style-src 'sha256-/);
    expect(body.toString()).not.toMatch(/<script|\{\{/);
    const again = await get(changesPage, { 'if-none-match': String(headers['etag']) });
    expect([again.status, again.body.length]).toEqual([304, 0]);
  });

  it('names operations as the reference does, and leads to its own sections', async () => {
    const html = (await get(changesPage)).body.toString();
    const places = Object.keys(operationTable).map((operationId) => operationId.toLowerCase());
    const links = [...html.matchAll(/href="\/docs#\/[\w-]+\/(\w+)"/g)].map(([, id = '']) => id);
    expect(links.filter((id) => !places.includes(id))).toEqual([]);
    const sections = [...html.matchAll(/<h2 id="([^"]+)"/g)].map(([, id = '']) => id);
    expect([...html.matchAll(/href="#([^"]+)"/g)].map(([, id = '']) => id)).toEqual(sections);
  });
});

describe('the package of the client', () => {
  it('is a tarball for npm, which is sent again only when it has changed', async () => {
    const headers = { 'accept-encoding': 'gzip, deflate, br' };
    const answer = await get('/client.tgz', headers);
    expect([answer.status, answer.headers['content-type'], answer.headers['content-encoding']]).toEqual([
      ...[200, 'application/gzip', undefined],
    ]);
    expect(answer.headers['cache-control']).toBe('no-cache');
    // The names of the files in a tar archive are plain text.
    const archive = gunzipSync(answer.body).toString('latin1');
    expect(archive).toContain('package/dist/index.js');
    expect(archive).toContain(`"version": "${packageJson.version}"`);
    const again = await get('/client.tgz', { ...headers, 'if-none-match': String(answer.headers['etag']) });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    // A lock file has the hash of what is under this name.
    expect((await get(`/client-${packageJson.version}.tgz`)).body).toEqual(answer.body);
    expect((await get('/client-0.0.1.tgz')).status).toBe(404);
    expect((await get('/client.tgz', {}, 'HEAD')).headers['content-length']).toBe(String(answer.body.length));
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

  it('share their scripts, and browsers keep these files permanently', async () => {
    const [first = [], second = []] = await Promise.all(pages.map(assetsOf));
    const scripts = second.filter((asset) => asset.endsWith('.js'));
    expect(scripts).toHaveLength(2);
    expect(first).toEqual(expect.arrayContaining(scripts));
    for (const asset of first) {
      const { status, headers } = await get(asset);
      const type = asset.endsWith('.js') ? 'text/javascript' : 'application/json';
      expect([status, headers['content-type']]).toEqual([200, `${type}; charset=utf-8`]);
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    }
  });

  it('take less than 1 MB together on the first visit, and then only 304', async () => {
    const headers = { 'accept-encoding': 'gzip, deflate, br, zstd' };
    const loaded = new Set((await Promise.all(pages.map(loadsOf))).flat());
    let transferred = 0;
    for (const target of loaded) {
      const answer = await get(target, headers);
      transferred += answer.body.length;
      if (answer.headers['cache-control']?.includes('immutable')) continue;
      const again = await get(target, { ...headers, 'if-none-match': String(answer.headers['etag']) });
      expect([target, again.status, again.body.length]).toEqual([target, 304, 0]);
    }
    expect(transferred).toBeLessThan(1_000_000);
  });

  it('load nothing from other hosts', async () => {
    const scripts = await Promise.all((await assetsOf('/docs/events')).map((script) => get(script)));
    for (const { body } of scripts) expect(body.toString()).not.toContain('cdn.redoc.ly');
  });

  it("hide the elements of Redoc that would send data to other companies, by their names in Redoc's script", async () => {
    const [redoc = ''] = (await assetsOf('/docs')).filter((asset) => asset.includes('/redoc.'));
    const script = (await get(redoc)).body.toString();
    expect(script).toContain('"data-testid":`page-actions`');
    expect((await get('/docs')).body.toString()).toContain("[data-testid='page-actions']");
  });

  it('contain no address in samples except the one that the page replaces by its own', async () => {
    for (const document of ['/openapi.json', '/asyncapi.json']) {
      const text = (await get(document)).body.toString();
      expect(text.replaceAll('http://127.0.0.1:8080', '')).not.toMatch(/localhost|curl[^"]*?https?:\/\/127/);
    }
  });

  it('answer 404 for names that are not scripts', async () => {
    const answer = await get('/docs/assets/redoc.0000000000000000.js');
    expect([answer.status, answer.headers['content-type']]).toEqual([404, 'application/problem+json']);
  });
});

describe('the reference of the API', () => {
  let shown: ShownDocument;
  beforeAll(async () => {
    shown = await showPage('/docs');
  });

  it('shows the address that the reader used', () => {
    expect(shown.servers[0]?.url).toBe('https://gateway.example');
    // The guides also name other servers on the same machine.
    expect(JSON.stringify(shown)).not.toContain('http://127.0.0.1:8080');
    expect(JSON.stringify({ ...shown, tags: [] })).not.toContain('127.0.0.1');
  });

  it('has an entry for each type of problem: its meaning, its remedy and its operations', () => {
    const { description = '' } = shown.tags.find(({ name }) => name === 'Problems') ?? {};
    const [, ...entries] = description.split(/^## /m);
    expect(entries.map((entry) => entry.split('\n')[0])).toEqual(Object.keys(problems));
    for (const entry of entries) {
      const [slug = '', type, happened, remedy, operations] = entry.trim().split('\n\n');
      const { status, title } = problems[slug as ProblemType];
      expect(type).toBe(`\`urn:prompt-gateway:problem:${slug}\` · **${status}** ${title}`);
      expect(happened).toMatch(/^[A-Z].{10,}\.$/s);
      expect(remedy).toMatch(/^\*\*What to do:\*\* [A-Z].{10,}\.$/s);
      expect(operations).toMatch(/^\*\*Operations:\*\* (all|\d+ of \d+|(, )?(\[[^\]]+\]\([^)]+\))+)/);
    }
  });

  it('links from each answer to its problems', () => {
    for (const { operationId, responses } of operationsOf(shown)) {
      const texts = Object.values(responses).map(({ $ref, description }) =>
        $ref === undefined ? description : shown.components.responses[$ref.split('/').at(-1) ?? '']?.description,
      );
      const linked = texts.join('\n').matchAll(/#\/problems\/([\w-]+)/g);
      const found = new Set([...linked].map(([, slug = '']) => slug));
      expect(operationTable[operationId].problems.filter((slug) => !found.has(slug))).toEqual([]);
    }
  });

  it('has a target for every link', async () => {
    const places = new Set(Object.keys(problems).map((slug) => `#/problems/${slug}`)).add('#/problems');
    for (const { tags, operationId } of operationsOf(shown)) {
      const tag = `#/${tags.join().toLowerCase().replaceAll(' ', '-')}`;
      places.add(tag).add(`${tag}/${operationId.toLowerCase()}`);
    }
    for (const { name } of shown.tags) places.add(`#/${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`);
    const others = [(await get('/', { accept: 'text/html' })).body, (await get('/asyncapi.json')).body].map(String);
    const links = [
      ...(JSON.stringify(shown).match(/(?<=\]\()#[^)]+/g) ?? []),
      ...[JSON.stringify(shown), ...others].flatMap((text) => text.match(/(?<=\/docs)#\/[\w/-]+/g) ?? []),
    ];
    expect(links.length).toBeGreaterThan(operationsOf(shown).length);
    expect(links.filter((link) => !places.has(link))).toEqual([]);
  });

  it('shows curl commands that call the operation as in its examples', async () => {
    const operations = operationsOf(shown);
    const samples = operations.map(
      (operation) => operation['x-codeSamples']?.find(({ lang }) => lang === 'curl')?.source ?? '',
    );
    const commandsOfEach = await commandsOf(samples);
    for (const [index, { operationId }] of operations.entries()) {
      const commands = commandsOfEach[index] ?? [];
      const { lineLimit }: OperationRow = operationTable[operationId];
      const isJson = lineLimit === undefined;
      const bodies = commands.map(({ body }) => (body === undefined || !isJson ? body : (JSON.parse(body) as unknown)));
      expect([operationId, bodies]).toEqual([operationId, exampleBodies(operationId)]);
      for (const { method, target, headers, body } of commands) {
        expect(headers).toEqual({
          ...(operationTable[operationId].needsKey && { Authorization: `Bearer ${service.adminKey}` }),
          ...(takes(operationId, 'Idempotency-Key') && { 'Idempotency-Key': 'some-key' }),
          ...(body !== undefined && { 'Content-Type': isJson ? 'application/json' : 'application/x-ndjson' }),
        });
        // Each has its own key, so no command is a repetition of another one.
        const key = { ...(takes(operationId, 'Idempotency-Key') && { 'Idempotency-Key': randomUUID() }) };
        const sent = { method, headers: { ...headers, ...key }, ...(body !== undefined && { body }) };
        const answer = await fetch(new URL(target, service.url), sent);
        await answer.bytes();
        // The resources in the examples do not exist here, nor does the key of who signs in.
        expect(reached.at(-1)).toBe(operationId);
        const expected = operationId === 'createSession' ? [401] : [200, 201, 202, 204, 404, 409, 422];
        expect(expected).toContain(answer.status);
      }
    }
  });

  it('shows a sample in each language for every operation', () => {
    for (const { operationId, ...operation } of operationsOf(shown)) {
      const languages = operation['x-codeSamples']?.map(({ lang }) => lang);
      // Clients of MCP are configured, not programmed.
      const expected = operationId === 'sendMcpMessage' ? ['curl'] : ['curl', 'TypeScript'];
      expect([operationId, languages]).toEqual([operationId, expected]);
    }
  });
});

describe('content that does not change', () => {
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
    for (const target of ['/asyncapi.json', ...(await assetsOf('/docs'))]) {
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

  it('can be requested with HEAD', async () => {
    const [head, full] = [await get('/docs', {}, 'HEAD'), await get('/docs')];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(String(full.body.length));
  });
});

describe('behind a proxy that adds a path', () => {
  let proxied: TestService;
  let proxy: PathProxy;
  beforeAll(async () => {
    proxied = await startTestService({ environment: { BASE_PATH: '/a/gateway' } });
    proxy = await startPathProxy(proxied.url, '/a/gateway');
  });
  afterAll(async () => {
    await proxy.close();
    await proxied.close();
  });

  it('every link and script of the pages has the path', async () => {
    for (const page of ['/', '/docs', '/docs/events', changesPage, '/dashboard']) {
      const html = (await get(`${proxy.origin}/a/gateway${page}`, { accept: 'text/html' })).body.toString();
      const links = [...html.matchAll(/(?:href|src|data-(?!base)\w+)="([^"#]*\/[^"#]*)/g)].map(([, link = '']) => link);
      const base = /<base href="([^"]*)"/.exec(html)?.[1] ?? page;
      expect(links.length).toBeGreaterThan(2);
      for (const link of new Set(links)) {
        const { status } = await get(new URL(link, new URL(base, proxy.origin)).href);
        expect([page, link, status]).toEqual([page, link, 200]);
      }
    }
  });

  it('the contract names the path as its first server', async () => {
    const { body } = await get(`${proxy.origin}/a/gateway/openapi.json`);
    const { servers } = JSON.parse(body.toString()) as ShownDocument;
    expect(servers[0]?.url).toBe('/a/gateway');
  });

  it('the reference shows addresses and links with the path', async () => {
    const shown = await showPage('/a/gateway/docs', proxy.origin);
    expect(shown.servers[0]?.url).toBe('https://gateway.example/a/gateway');
    expect(JSON.stringify(shown)).not.toMatch(/\]\(\/(?!a\/gateway)|http:\/\/127\.0\.0\.1:8080/);
  });

  it('Location and Link lead through the proxy, also of a stored answer', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const messages = [{ role: 'user', content: 'Hello' }];
    for (const replayed of [undefined, 'true']) {
      const body = { name: 'Behind a proxy', messages };
      const created = await proxied.call('POST', '/api/v1/prompts', { body, headers });
      expect([created.status, created.headers['idempotency-replayed']]).toEqual([201, replayed]);
      expect(created.headers['location']).toBe(`/a/gateway/api/v1/prompts/${String(created.body.id)}`);
    }
    await proxied.call('POST', '/api/v1/prompts', { body: { name: 'Another', messages } });
    const list = await proxied.call('GET', '/api/v1/prompts?limit=1');
    const next = /^<(.*)>; rel="next"$/.exec(list.headers['link'] ?? '')?.[1] ?? '';
    const authorization = `Bearer ${proxied.adminKey}`;
    const page = await get(`${proxy.origin}${next}`, { authorization });
    expect([page.status, JSON.parse(page.body.toString())]).toMatchObject([200, { data: [{}] }]);
  });
});

describe('the messages of a start', () => {
  it('lead to the pages: here, or behind the proxy', () => {
    expect(lines).toContain(`Listening on ${service.url} (reference: ${service.url}/docs)`);
    expect(lines).toContain(`Dashboard: ${service.url}/dashboard`);
    expect(pageAddress('http://127.0.0.1:8080', '/a/gateway', '/docs')).toBe('https://<your proxy>/a/gateway/docs');
  });

  it('name an address that a browser on the same machine can open', () => {
    expect(pageAddress('http://0.0.0.0:8080', '', '/dashboard')).toBe('http://127.0.0.1:8080/dashboard');
    expect(pageAddress('http://[::]:8080', '', '/dashboard')).toBe('http://[::1]:8080/dashboard');
    expect(pageAddress('http://192.0.2.1:8080', '', '/dashboard')).toBe('http://192.0.2.1:8080/dashboard');
  });
});

describe('without the development packages', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'not-built-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('the installation says that the pages are not built, and succeeds', async () => {
    for (const file of ['codegen/build-reference.ts', 'base/runtime/system-error.ts'])
      await cp(new URL(`../../src/${file}`, import.meta.url), path.join(folder, 'src', file));
    const program = path.join(folder, 'src/codegen/build-reference.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [program]);
    expect(stdout).toMatch(/^The reference pages are not built: .*npm ci.*\n$/);
  });

  it('the pages say how to build them', async () => {
    const application = express();
    const handlers = createPages({
      version: '1.2.3',
      basePath: '',
      references: [{ path: '/docs', title: 'API', document: '/openapi.json' }],
      changes: pathToFileURL(path.join(folder, 'dist/changes.html')),
      eventTypes,
      redoc: pathToFileURL(path.join(folder, 'dist/redoc.js')),
      clientPackage: pathToFileURL(path.join(folder, 'dist/client.tgz')),
    });
    for (const [target, handler] of Object.entries(handlers)) application.get(target, handler);
    const server = application.listen(0, '127.0.0.1');
    await once(server, 'listening');
    for (const target of ['/docs', '/docs/changes', '/client.tgz']) {
      const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${target}`);
      const html = await answer.text();
      expect(answer.status).toBe(404);
      expect(html).toContain('npm ci');
      expect(html).toContain('href="/openapi.json"');
    }
    server.close();
  });
});
