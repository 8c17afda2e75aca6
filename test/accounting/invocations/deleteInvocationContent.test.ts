import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createInvocationId } from '../../../src/accounting/invocations/invocation-id.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import { openDatabaseOf } from '../../support/per-operation.ts';
import type { Answer } from '../../support/service.ts';

let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness({ environment: { INVOCATION_CONTENT: 'all' } });
});
afterAll(() => harness.close());

const path = '/api/v1/invocations';
const call = (method: string, place: string, body?: unknown): Promise<Answer> =>
  harness.service.call(method, `${path}/${place}`, body === undefined ? {} : { body });

describe('200', () => {
  it('erases content, key, tags and comments, and keeps the calls', async () => {
    const slug = await harness.createPrompt();
    const { headers } = await harness.invoke(slug, {}, { 'X-Tags': 'user=ada' });
    const id = headers['x-invocation-id'] ?? '';
    await call('POST', `${id}/feedback`, { score: -1, comment: 'Ada is angry' });
    const before = (await call('GET', id)).body;
    expect(before).toMatchObject({ tags: { user: 'ada' }, feedback: [{ score: -1, comment: 'Ada is angry' }] });

    expect((await call('DELETE', `${id}/content`)).body).toEqual({ ok: true });
    expect(problemOf(await call('GET', `${id}/content`))).toBe('invocation-content-not-found');
    const { tags: _, feedback, ...rest } = before;
    const [{ comment: __, ...score }] = feedback;
    expect((await call('GET', id)).body).toEqual({ ...rest, feedback: [score] });
    const database = await openDatabaseOf(harness.service);
    const day = new Date(before.created_at).toISOString().slice(0, 10).replaceAll('-', '');
    const left = await database.db.collection<{ _id: string }>(`invocation_contents_${day}`).findOne({ _id: id });
    await database.close();
    expect(Object.keys(left ?? {})).toEqual(['_id', 'erased_at']);

    expect((await call('DELETE', `${id}/content`)).status).toBe(200);
    const log = await harness.service.call('GET', `/api/v1/audit-log?resource_id=${id}`);
    expect(log.body.data.map(({ operation }: { operation: string }) => operation)).toEqual([
      'deleteInvocationContent',
      'deleteInvocationContent',
    ]);
  });

  it('erases the tags of a record without content', async () => {
    const slug = await harness.createPrompt({ invocation_content: 'off' });
    const { headers } = await harness.invoke(slug, {}, { 'X-Tags': 'user=grace' });
    const id = headers['x-invocation-id'] ?? '';
    expect((await call('DELETE', `${id}/content`)).status).toBe(200);
    expect((await call('GET', id)).body.tags).toBeUndefined();
    const found = await harness.service.call('GET', `${path}?tag=user%3Dgrace`);
    expect(found.body.data).toEqual([]);
  });
});

it('404', async () => {
  const unknown = createInvocationId(new Date(), '5d9f1b7e-8c24-4a63-b0f1-9e7d2c6a4f38');
  expect(problemOf(await call('DELETE', `${unknown}/content`))).toBe('invocation-not-found');
});

it('403: reading the log is not enough', async () => {
  const key = await harness.service.createKey('invocations:read');
  const { headers } = await harness.invoke(await harness.createPrompt());
  const target = `${path}/${headers['x-invocation-id']}/content`;
  expect(problemOf(await harness.service.call('DELETE', target, { key }))).toBe('insufficient-scope');
});
