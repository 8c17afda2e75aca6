import { beforeAll, describe, expect, it } from '@jest/globals';
import { create } from '../prompts-harness.ts';
import { createPrompt, onEcho, problemOf, createTestRun, setUpTestRuns } from './test-runs-harness.ts';

const harness = setUpTestRuns();
const listPath = (prompt: string): string => `/api/v1/prompts/${prompt}/test-runs`;

describe('200', () => {
  let prompt: { id: string; slug: string };
  let newestFirst: string[];
  beforeAll(async () => {
    prompt = await create(harness.service);
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      ids.push((await createTestRun(harness.service, prompt.id, onEcho)).body.id as string);
    }
    newestFirst = ids.reverse();
    await createTestRun(harness.service, await createPrompt(harness.service), onEcho);
  });

  it('lists the runs of the prompt, newest first, by id or slug', async () => {
    for (const name of [prompt.id, prompt.slug]) {
      const { status, body, headers } = await harness.service.call('GET', listPath(name));
      expect(status).toBe(200);
      expect(body.data.map(({ id }: { id: string }) => id)).toEqual(newestFirst);
      expect(body.pagination).toEqual({ total: 5, limit: 20, offset: 0, next: null });
      expect(headers).not.toHaveProperty('link');
    }
  });

  it('filters by status', async () => {
    const [newest = ''] = newestFirst;
    const runs = harness.database.db.collection<{ _id: string }>('test_runs');
    await runs.updateOne({ _id: newest }, { $set: { status: 'interrupted' } });
    const list = async (status: string): Promise<string[]> => {
      const { body } = await harness.service.call('GET', `${listPath(prompt.slug)}?status=${status}`);
      expect(body.pagination.total).toBe(body.data.length);
      return body.data.map(({ id }: { id: string }) => id) as string[];
    };
    expect(await list('interrupted')).toEqual([newest]);
    expect(await list('done')).toEqual(newestFirst.slice(1));
    expect(await list('running')).toEqual([]);
    await runs.updateOne({ _id: newest }, { $set: { status: 'done' } });
  });

  it('orders runs of the same time by id', async () => {
    const other = await createPrompt(harness.service);
    for (let count = 0; count < 3; count += 1) await createTestRun(harness.service, other, onEcho);
    const runs = harness.database.db.collection('test_runs');
    await runs.updateMany({ prompt_id: other }, { $set: { created_at: new Date('2026-11-05T15:00:00Z') } });
    const { body } = await harness.service.call('GET', listPath(other));
    const ids = body.data.map(({ id }: { id: string }) => id);
    expect(ids).toEqual([...ids].sort());
  });

  it('is empty for a prompt without runs', async () => {
    const none = await harness.service.call('GET', listPath(await createPrompt(harness.service)));
    expect(none.body).toEqual({ data: [], pagination: { total: 0, limit: 20, offset: 0, next: null } });
  });
});

describe('400', () => {
  it.each(['limit=ten', 'status=other', 'status=lost'])('refuses %s', async (query) => {
    const answer = await harness.service.call('GET', `${listPath(await createPrompt(harness.service))}?${query}`);
    expect([answer.status, problemOf(answer)]).toEqual([400, 'invalid-request']);
  });
});

describe('404', () => {
  it('says that the prompt does not exist', async () => {
    const answer = await harness.service.call('GET', listPath('no-such-prompt'));
    expect([answer.status, problemOf(answer)]).toEqual([404, 'prompt-not-found']);
  });
});

describe('500', () => {
  it('hides the cause', async () => {
    const prompt = await createPrompt(harness.service);
    await createTestRun(harness.service, prompt, onEcho);
    await harness.database.db.collection('test_runs').updateMany({ prompt_id: prompt }, { $unset: { providers: 1 } });
    const answer = await harness.service.call('GET', listPath(prompt));
    expect([answer.status, problemOf(answer)]).toEqual([500, 'internal-error']);
  });
});
