import { once } from 'node:events';
import { readdir, readFile, readlink, truncate, writeFile } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Database } from '../../../src/storage/db/client.ts';
import pLimit from 'p-limit';
import { createS3BlobStore } from '../../../src/storage/blobs/s3-blob-store.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { startObjectStorage } from '../../support/object-storage.ts';
import { openDatabaseOf } from '../../support/per-operation.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createPrompt, ended, onEcho, createTestRun, problemOf, resultsPath, startRun } from './test-runs-harness.ts';

type Line = Readonly<Record<string, unknown>>;

/** The storage of results, with its faults. */
interface Storage {
  readonly environment: Readonly<Record<string, string>>;
  /** The number of readers of the results of a run. */
  readers(service: TestService, id: string): Promise<number>;
  /** Closes the connections that read the results of a run. */
  cut(service: TestService, id: string): Promise<void>;
  read(service: TestService, id: string): Promise<string>;
  replace(service: TestService, id: string, content: string): Promise<void>;
  stop(): Promise<void>;
}

const fileOf = (service: TestService, id: string): string =>
  path.join(service.environment['DATA_DIR'] ?? '', 'files', 'test-runs', `${id}.json`);

function files(): Promise<Storage> {
  return Promise.resolve({
    environment: {},
    async readers(service, id) {
      const open = await readdir('/proc/self/fd');
      const links = await Promise.all(open.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
      return links.filter((link) => link === fileOf(service, id)).length;
    },
    cut: (service, id) => truncate(fileOf(service, id), 1_000),
    read: (service, id) => readFile(fileOf(service, id), 'utf8'),
    replace: (service, id, content) => writeFile(fileOf(service, id), content),
    stop: () => Promise.resolve(),
  });
}

/** A bucket behind an HTTP proxy, which records the readers. */
async function bucket(): Promise<Storage> {
  const storage = await startObjectStorage();
  const store = createS3BlobStore(storage.options);
  const reading = new Map<ServerResponse, string>();
  const { hostname, port } = new URL(storage.endpoint);
  const proxy = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    if (method === 'GET') reading.set(outgoing, url);
    outgoing.once('close', () => reading.delete(outgoing));
    const forwarded = request({ hostname, port, method, path: url, headers, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      pipeline(answer, outgoing).catch(() => undefined);
    });
    pipeline(incoming, forwarded).catch(() => outgoing.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, ...environment } = storage.environment;
  Object.assign(process.env, { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY });
  const readersOf = (id: string): ServerResponse[] =>
    [...reading].filter(([, url]) => url.includes(id)).map(([response]) => response);
  return {
    environment: { ...environment, S3_ENDPOINT: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` },
    readers: (_service, id) => Promise.resolve(readersOf(id).length),
    cut(_service, id) {
      for (const response of readersOf(id)) response.destroy();
      return Promise.resolve();
    },
    async read(_service, id) {
      const { content } = (await store.open(`test-runs/${id}.json`)) ?? {};
      return content === undefined ? '' : (await buffer(content)).toString();
    },
    replace: (_service, id, content) => store.put(`test-runs/${id}.json`, Buffer.from(content), 'application/json'),
    async stop() {
      await store.close();
      proxy.closeAllConnections();
      proxy.close();
      await storage.stop();
    },
  };
}

/** Creates a run with 10 MB of results, more than the operating system keeps for a connection. @returns its id */
async function largeRun(service: TestService): Promise<string> {
  const prompt = await createPrompt(service, { messages: [{ role: 'user', content: '{{text}}' }] });
  const providers = Array.from({ length: 10 }, () => ({ provider: 'echo' }));
  const id = await startRun(service, prompt, { providers, variables: { text: 'x'.repeat(1_000_000) } });
  await ended(service, id);
  return id;
}

/** Requests results, and does not read the body yet. */
async function ask(service: TestService, id: string, requestId: string, method = 'GET'): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${service.adminKey}`, 'x-request-id': requestId };
  const asked = request(`${service.url}${resultsPath(id)}`, { method, headers, agent: false }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  // The reader of the body gets the error.
  for (const stream of [asked, response]) stream.on('error', () => undefined);
  return response;
}

let lines: Line[] = [];
const log = createLogger('info', { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
const lineOf = (requestId: string): Line | undefined => lines.find(({ request_id }) => request_id === requestId);
const lineWritten = async (requestId: string): Promise<Line> =>
  (await until(
    () => lineOf(requestId),
    (line) => line !== undefined,
  )) ?? {};
/** The value of a metric of streamed results. */
async function counted(service: TestService, series: string): Promise<number> {
  const { text } = await service.call('GET', '/metrics');
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.split(' ')[1] ?? 0);
}
const outcome = (name: string): string =>
  `http_streamed_answers_total{operation="getTestRunResults",outcome="${name}"}`;

beforeEach(() => {
  lines = [];
});

describe.each([
  ['files', files],
  ['a bucket', bucket],
])('results in %s', (_name, start) => {
  let storage: Storage;
  let service: TestService;
  let database: Database;
  let large: string;
  beforeAll(async () => {
    storage = await start();
    service = await startTestService({ environment: { ...storage.environment, REQUEST_MEMORY_MB: '64' }, log });
    database = await openDatabaseOf(service);
    large = await largeRun(service);
  });
  afterAll(async () => {
    await database.close();
    await service.close();
    await storage.stop();
  });

  const nobodyReads = (id: string): Promise<unknown> =>
    until(
      () => storage.readers(service, id),
      (count) => count === 0,
    );

  it('are sent unchanged, with their length', async () => {
    const response = await ask(service, large, 'whole');
    const body = await buffer(response);
    expect(response.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(body.length),
      etag: `"${large}.results"`,
    });
    expect(body.toString()).toBe(await storage.read(service, large));
    expect((JSON.parse(body.toString()) as { results: object[] }).results).toHaveLength(10);
  });

  it('match the contract', async () => {
    const { body: run } = await createTestRun(service, await createPrompt(service), onEcho);
    const { body } = await service.call('GET', resultsPath(run.id as string));
    expect(body.results).toEqual(run.results);
  });

  it('are not read for HEAD, nor for a caller that has them', async () => {
    const head = await ask(service, large, 'head', 'HEAD');
    expect([head.statusCode, (await buffer(head)).length]).toEqual([200, 0]);
    expect(Number(head.headers['content-length'])).toBeGreaterThan(10_000_000);
    const headers = { 'If-None-Match': `"${large}.results"` };
    expect((await service.call('GET', resultsPath(large), { headers })).status).toBe(304);
    await nobodyReads(large);
    expect(await lineWritten('head')).toMatchObject({ status: 200, bytes: 0, outcome: 'succeeded' });
  });

  it('are logged and counted when their last byte is sent, not when the first one is', async () => {
    const before = await counted(service, outcome('succeeded'));
    const response = await ask(service, large, 'slowly');
    await service.call('GET', '/health/live');
    expect([lineOf('slowly'), await counted(service, outcome('succeeded'))]).toEqual([undefined, before]);
    const { length } = await buffer(response);
    expect(await lineWritten('slowly')).toMatchObject({
      msg: 'request',
      operation: 'getTestRunResults',
      status: 200,
      bytes: length,
      outcome: 'succeeded',
    });
    expect(await counted(service, outcome('succeeded'))).toBe(before + 1);
  });

  it('are not read further when the caller closes the connection', async () => {
    const before = await counted(service, outcome('closed'));
    const response = await ask(service, large, 'gone');
    await once(response, 'readable');
    response.destroy();
    await nobodyReads(large);
    const line = await lineWritten('gone');
    expect(line).toMatchObject({ level: 'info', status: 200, outcome: 'closed' });
    expect(line['bytes']).toBeLessThan(10_000_000);
    expect(await counted(service, outcome('closed'))).toBe(before + 1);
  });

  it('are sent to many slow callers at the same time; only the parts in progress count as memory', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `many-${index}`);
    // A few at a time: all at once would make each wait for the storage of the tests longer than the service does.
    const limit = pLimit(2);
    const responses = await Promise.all(ids.map((requestId) => limit(() => ask(service, large, requestId))));
    expect(responses.map(({ statusCode }) => statusCode)).toEqual(ids.map(() => 200));
    const refused = await service.call('GET', resultsPath(large));
    expect([refused.status, problemOf(refused)]).toEqual([429, 'too-much-in-progress']);
    for (const response of responses) response.destroy();
    await Promise.all(ids.map(lineWritten));
    expect(await buffer(await ask(service, large, 'after'))).not.toHaveLength(0);
    await nobodyReads(large);
  });

  it('end with a closed connection when the storage fails, so that they do not look complete; this is logged and counted', async () => {
    const id = await largeRun(service);
    const before = await counted(service, outcome('failed'));
    const response = await ask(service, id, 'broken');
    await storage.cut(service, id);
    await expect(buffer(response)).rejects.toThrow(/aborted|ECONNRESET/);
    expect(response.complete).toBe(false);
    const line = await lineWritten('broken');
    expect(line).toMatchObject({
      msg: 'the answer was cut',
      level: 'error',
      operation: 'getTestRunResults',
      status: 200,
      outcome: 'failed',
      error: { message: expect.any(String) },
    });
    expect(line['bytes']).toBeLessThan(10_000_000);
    expect(await counted(service, outcome('failed'))).toBe(before + 1);
    await nobodyReads(id);
  });

  it('are refused when the stored object is incomplete', async () => {
    const { body: run } = await createTestRun(service, await createPrompt(service), onEcho);
    const id = run.id as string;
    await storage.replace(service, id, (await storage.read(service, id)).slice(0, -1));
    const answer = await service.call('GET', resultsPath(id), { headers: { 'X-Request-Id': 'cut' } });
    expect([answer.status, problemOf(answer)]).toEqual([409, 'test-run-not-stored']);
    expect(await lineWritten('cut')).toMatchObject({
      level: 'warn',
      error: { cause: { message: expect.any(String) } },
    });
    await nobodyReads(id);
  });
});

describe('a stream of results', () => {
  let service: TestService;
  let large: string;
  beforeAll(async () => {
    service = await startTestService();
    large = await largeRun(service);
  });
  afterAll(() => service.close());

  const startBeside = (options: Parameters<typeof startTestService>[0]): Promise<TestService> =>
    startTestService({ ...options, log, environment: { ...service.environment, ...options?.environment } });

  it('is cut when the caller does not read it', async () => {
    const limits = { head: 20_000, request: 60_000, check: 5_000, answer: 500 };
    const impatient = await startBeside({ connectionLimits: limits });
    const response = await ask(impatient, large, 'stalled');
    expect(await lineWritten('stalled')).toMatchObject({ outcome: 'closed' });
    await expect(buffer(response)).rejects.toThrow(/aborted|ECONNRESET/);
    await impatient.close();
  });

  it('is finished before the process stops', async () => {
    const stopping = await startBeside({});
    const response = await ask(stopping, large, 'last');
    let isStopped = false;
    const stopped = stopping.close().then(() => {
      isStopped = true;
    });
    const { hostname, port } = new URL(stopping.url);
    await until(
      () =>
        new Promise((resolve) => {
          const socket = connect(Number(port), hostname, () => {
            socket.destroy();
            resolve(false);
          });
          socket.once('error', () => {
            resolve(true);
          });
        }),
      (isRefused) => isRefused === true,
    );
    expect([isStopped, lineOf('last')]).toEqual([false, undefined]);
    expect(await buffer(response)).toHaveLength(Number(response.headers['content-length']));
    await stopped;
    expect(lineOf('last')).toMatchObject({ outcome: 'succeeded' });
  });

  it('is cut when the time to stop has passed', async () => {
    const stopping = await startBeside({ environment: { SHUTDOWN_TIMEOUT_MS: '200' } });
    const response = await ask(stopping, large, 'too-late');
    await stopping.close();
    expect(lineOf('too-late')).toMatchObject({ outcome: 'closed' });
    await expect(buffer(response)).rejects.toThrow(/aborted|ECONNRESET/);
  });
});
