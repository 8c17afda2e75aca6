/** A list that is sent while it is read, whatever happens meanwhile. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { get, request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callWith, cookieFor, samePage } from '../access/sessions/sessions-harness.ts';
import { openDatabase, testDatabaseUri } from '../support/database.ts';
import { LossyProxy } from '../support/lossy-proxy.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { create, promptsPath, saying, type RawDocument } from './prompts-harness.ts';

/** With a megabyte each, these are more than the operating system keeps for a connection that nobody reads. */
const count = 40;

let proxy: LossyProxy;
let service: TestService;
/** In the order of the list. */
let ids: string[];
beforeAll(async () => {
  proxy = await LossyProxy.start(testDatabaseUri());
  service = await startTestService({ environment: { MONGODB_URI: proxy.uri } });
  const { id } = await create(service, saying('x'.repeat(900_000)));
  const name = service.environment['MONGODB_DATABASE'] ?? '';
  const database = await openDatabase(testDatabaseUri(), name);
  const prompts = database.db.collection<RawDocument>('prompts');
  const first = await prompts.findOne({ _id: id });
  const copies = Array.from({ length: count - 1 }, (_, index) => {
    const _id = randomUUID();
    return { ...first, _id, slug: `p${_id}`, updated_at: new Date(Date.UTC(2026, 0, 1) - index * 1_000) };
  });
  for (let start = 0; start < copies.length; start += 5) await prompts.insertMany(copies.slice(start, start + 5));
  await database.close();
  ids = [id, ...copies.map(({ _id }) => _id)];
});
afterAll(async () => {
  await service.close();
  await proxy.stop();
});

/** Requests the list. Nothing of its body is taken before `restOf`. */
async function begin(headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const authorization = headers['cookie'] === undefined ? { authorization: `Bearer ${service.adminKey}` } : {};
  const asked = get(`${service.url}${promptsPath}`, { agent: false, headers: { ...authorization, ...headers } });
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  // A reset is an error of the request, too.
  asked.on('error', () => undefined);
  expect(response.statusCode).toBe(200);
  return response;
}

/**
 * @param pauseMs after each part of the body
 * @throws Error if the connection is closed before the end of the body
 */
async function restOf(
  response: IncomingMessage,
  pauseMs = 0,
): Promise<{ data: Record<string, unknown>[]; pagination: object }> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    if (pauseMs > 0) await sleep(pauseMs);
  }
  return JSON.parse(Buffer.concat(chunks).toString()) as { data: Record<string, unknown>[]; pagination: object };
}

const reserved = async (): Promise<number> => {
  const { text } = await service.call('GET', '/metrics');
  return Number(/^request_memory_reserved_bytes (\d+)/m.exec(text)?.[1]);
};

describe('a whole list', () => {
  it('has no body for HEAD', async () => {
    const asked = request(`${service.url}${promptsPath}`, {
      method: 'HEAD',
      agent: false,
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    const [response] = (await once(asked.end(), 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    expect(await Array.fromAsync(response)).toEqual([]);
  });

  it('holds no place of a list while its caller takes nothing, and no memory when its caller has gone', async () => {
    const unread = await Promise.all(Array.from({ length: 4 }, () => begin()));
    // The parts that are sent, and all ids.
    expect(await reserved()).toBe(4 * (3 * 1_048_576 + count * 64));
    expect((await service.call('GET', `${promptsPath}?limit=1`)).body.data).toHaveLength(1);
    expect((await restOf(await begin())).data.map(({ id }) => id)).toEqual(ids);
    for (const response of unread) response.destroy();
    await until(reserved, (bytes) => bytes === 0);
  });

  it('is closed before its end when the session of its caller ends', async () => {
    const cookie = await cookieFor(service, service.adminKey);
    const response = await begin({ ...samePage, cookie });
    expect((await callWith(service, cookie, 'DELETE', '/api/v1/session')).status).toBe(200);
    // That is noticed within five seconds.
    await expect(restOf(response, 50)).rejects.toThrow();
  });

  it('is closed before its end when the database becomes unavailable', async () => {
    const response = await begin();
    await proxy.stop();
    await expect(restOf(response)).rejects.toThrow();
    await proxy.restart();
    expect((await restOf(await begin())).data).toHaveLength(count);
  });

  // This test is the last one, because it changes the list.
  it('keeps its order while prompts are updated, deleted and created', async () => {
    const response = await begin();
    const [updated = '', deleted = ''] = ids.slice(-2);
    const change = { body: { description: 'Updated meanwhile' } };
    expect((await service.call('PUT', `${promptsPath}/${updated}`, change)).status).toBe(200);
    expect((await service.call('DELETE', `${promptsPath}/${deleted}`)).status).toBe(200);
    const made = await create(service);
    const { data, pagination } = await restOf(response);
    expect(data.map(({ id }) => id)).toEqual(ids.slice(0, -1));
    expect(data.at(-1)).toMatchObject({ description: 'Updated meanwhile' });
    expect(pagination).toEqual({ total: count - 1, limit: count - 1, offset: 0, next: null });
    const next = await restOf(await begin());
    expect(next.data.map(({ id }) => id)).toEqual([made.id, updated, ...ids.slice(0, -2)]);
  });
});
