import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startInvokeHarness, type InvokeHarness } from '../prompts/invoke/invoke-harness.ts';
import { openDatabaseOf } from '../support/per-operation.ts';
import type { Database } from '../../src/storage/db/client.ts';
import { testDatabaseUri } from '../support/database.ts';
import { LossyProxy, writeLosses } from '../support/lossy-proxy.ts';
import type { Answer, TestService } from '../support/service.ts';

/**
 * Operations that write, on a database that applies the write but loses the answer. Operations on prompts alone are in
 * test/prompts/prompt-lost-answers.system.test.ts.
 */
let proxy: LossyProxy;
let harness: InvokeHarness;
let service: TestService;
let database: Database;
let prompt: string;
beforeAll(async () => {
  proxy = await LossyProxy.start(testDatabaseUri());
  harness = await startInvokeHarness({ environment: { MONGODB_URI: proxy.uri } });
  service = harness.service;
  database = await openDatabaseOf(service);
  prompt = await harness.createPrompt();
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await database.close();
  await harness.close();
  await proxy.stop();
});

const post = (path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  service.call('POST', path, { ...(body === undefined ? {} : { body }), headers });
const withKey = (key: string): Record<string, string> => ({ 'Idempotency-Key': key });
const count = (collection: string, filter: Record<string, unknown>): Promise<number> =>
  database.db.collection(collection).countDocuments(filter);

describe.each(writeLosses)('when %s', (what, loss) => {
  const lose = (collection: string, ...commands: string[]): Promise<void> =>
    proxy.lose({ ...loss, collection, commands });

  it('createApiKey creates one key, which works', async () => {
    const lost = lose('api_keys', 'insert');
    const created = await post('/api/v1/api-keys', { name: what, scopes: ['prompts:read'] });
    await lost;
    expect(created.status).toBe(201);
    expect((await service.call('GET', '/api/v1/providers', { key: created.body.key as string })).status).toBe(200);
    expect(await count('api_keys', { name: what })).toBe(1);
  });

  it('revokeApiKey revokes the key once', async () => {
    const { body: key } = await post('/api/v1/api-keys', { name: 'doomed', scopes: ['prompts:read'] });
    const lost = lose('api_keys', 'update');
    const revoked = await post(`/api/v1/api-keys/${key.id}/revoke`);
    await lost;
    expect(revoked).toMatchObject({ status: 200, body: { revoked_at: expect.any(String) } });
    const again = await post(`/api/v1/api-keys/${key.id}/revoke`);
    expect(again.body).toEqual(revoked.body);
    expect((await service.call('GET', '/api/v1/providers', { key: key.key as string })).status).toBe(401);
  });

  // The first write reserves the key, the second one stores the answer.
  it.each(['insert', 'update'])('invokePrompt with a key calls the provider once (%s)', async (command) => {
    const headers = withKey(`invoke ${what} ${command}`.replaceAll(' ', '-'));
    const lost = lose('idempotency_keys', command);
    const first = await harness.invoke(prompt, {}, headers);
    await lost;
    expect(first.status).toBe(200);
    const replay = await harness.invoke(prompt, {}, headers);
    expect(replay).toMatchObject({ status: 200, text: first.text });
    expect(replay.headers['idempotency-replayed']).toBe('true');
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('a refused request frees its key', async () => {
    const headers = withKey(`refused ${what}`.replaceAll(' ', '-'));
    const lost = lose('idempotency_keys', 'delete');
    expect((await harness.invoke(prompt, { version: 99 }, headers)).status).toBe(404);
    await lost;
    expect((await harness.invoke(prompt, {}, headers)).status).toBe(200);
  });

  it.each([
    ['idempotency_keys', 'insert'],
    ['prompts', 'insert'],
    ['idempotency_keys', 'update'],
  ])('createPrompt with a key stores one prompt (%s, %s)', async (collection, command) => {
    const name = `${what} ${collection} ${command}`;
    const body = { name, messages: [{ role: 'user', content: 'Hello' }] };
    const headers = withKey(`create ${name}`.replaceAll(' ', '-'));
    const lost = lose(collection, command);
    const created = await post('/api/v1/prompts', body, headers);
    await lost;
    expect(created.status).toBe(201);
    expect((await post('/api/v1/prompts', body, headers)).text).toBe(created.text);
    expect(await count('prompts', { name })).toBe(1);
  });

  it.each([
    ['idempotency_keys', 'insert'],
    ['prompts', 'update'],
    ['idempotency_keys', 'update'],
  ])('restorePromptVersion with a key makes one version (%s, %s)', async (collection, command) => {
    const path = `/api/v1/prompts/${await harness.createPrompt()}`;
    await service.call('PUT', path, { body: { messages: [{ role: 'user', content: 'second' }] } });
    const etag = (await service.call('GET', path)).headers['etag'] ?? '';
    const headers = { ...withKey('restore'), 'If-Match': etag };
    const lost = lose(collection, command);
    const restored = await post(`${path}/versions/1/restore`, undefined, headers);
    await lost;
    expect(restored).toMatchObject({ status: 200, body: { version: 3 } });
    const replay = await post(`${path}/versions/1/restore`, undefined, headers);
    expect(replay.text).toBe(restored.text);
    expect(replay.headers['etag']).toBe(restored.headers['etag']);
    expect((await service.call('GET', path)).body.version).toBe(3);
  });

  it.each([
    ['test_runs', 'insert'],
    ['test_runs', 'update'],
    ['idempotency_keys', 'insert'],
    ['idempotency_keys', 'update'],
  ])('createTestRun with a key makes one run and one call (%s, %s)', async (collection, command) => {
    const tested = await harness.createPrompt();
    const body = { providers: [{ provider: 'mock' }] };
    const lost = lose(collection, command);
    const run = await post(`/api/v1/prompts/${tested}/test`, body, withKey('test'));
    await lost;
    expect(run.status).toBe(201);
    expect((await post(`/api/v1/prompts/${tested}/test`, body, withKey('test'))).text).toBe(run.text);
    expect(harness.mock.requests).toHaveLength(1);
    expect((await service.call('GET', `/api/v1/prompts/${tested}/test-runs`)).body.pagination.total).toBe(1);
    expect((await service.call('GET', `/api/v1/test-runs/${run.body.id}/results`)).status).toBe(200);
  });
});
