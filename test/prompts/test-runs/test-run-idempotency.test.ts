import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  createPrompt,
  ended,
  onEcho,
  onMock,
  problemOf,
  runPath,
  createTestRun,
  setUpTestRuns,
} from './test-runs-harness.ts';
import { until } from '../../support/until.ts';

const harness = setUpTestRuns();
let prompt: string;
beforeAll(async () => {
  prompt = await createPrompt(harness.service);
});

const withKey = (key: string, more: Record<string, string> = {}): Record<string, string> => ({
  'Idempotency-Key': key,
  ...more,
});
const count = async (): Promise<number> =>
  (await harness.service.call('GET', `/api/v1/prompts/${prompt}/test-runs`)).body.pagination.total as number;
/** Restores the state after a crash between the work and storing the answer. */
const forgetAnswers = async (): Promise<void> => {
  const keys = harness.database.db.collection('idempotency_keys');
  await keys.updateMany({}, { $unset: { answer: 1 }, $set: { given_up: true } });
};

describe('a test with an idempotency key', () => {
  it('runs once, however often it is sent', async () => {
    const before = await count();
    const send = (): ReturnType<typeof createTestRun> =>
      createTestRun(harness.service, prompt, onMock('mock-slow-300', 'model-a'), withKey('burst'));
    const burst = await Promise.all(Array.from({ length: 20 }, send));
    const statuses = new Set(burst.map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 201 && status !== 409)).toEqual([]);
    const replay = await send();
    expect(replay.headers['idempotency-replayed']).toBe('true');
    expect(replay.headers['location']).toBe(runPath(replay.body.id as string));
    const first = burst.find(({ status }) => status === 201);
    expect(replay.text).toBe(first?.text);
    expect(harness.mock.requests).toHaveLength(2);
    expect(await count()).toBe(before + 1);
  });

  it('replays the 202 unchanged', async () => {
    const headers = withKey('async', { Prefer: 'respond-async' });
    const first = await createTestRun(harness.service, prompt, onMock('mock-slow-300'), headers);
    await ended(harness.service, first.body.id as string);
    const replay = await createTestRun(harness.service, prompt, onMock('mock-slow-300'), headers);
    expect([replay.status, replay.text]).toEqual([202, first.text]);
    expect(replay.headers).toMatchObject({ 'preference-applied': 'respond-async', 'idempotency-replayed': 'true' });
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('refuses another body', async () => {
    await createTestRun(harness.service, prompt, onEcho, withKey('other'));
    const answer = await createTestRun(harness.service, prompt, onMock('model-a'), withKey('other'));
    expect([answer.status, problemOf(answer)]).toEqual([422, 'idempotency-key-reused']);
    expect(harness.mock.requests).toHaveLength(0);
  });

  it('releases the key when it is refused', async () => {
    const unknown = { providers: [{ provider: 'nobody' }] };
    expect((await createTestRun(harness.service, prompt, unknown, withKey('refused'))).status).toBe(422);
    expect((await createTestRun(harness.service, prompt, onEcho, withKey('refused'))).status).toBe(201);
  });

  it('gets the stored results when the answer was lost in a crash', async () => {
    const first = await createTestRun(harness.service, prompt, onMock('model-a', 'mock-401'), withKey('lost-answer'));
    await forgetAnswers();
    const repeat = await createTestRun(harness.service, prompt, onMock('model-a', 'mock-401'), withKey('lost-answer'));
    expect([repeat.status, repeat.body]).toEqual([201, first.body]);
    expect(harness.mock.requests).toHaveLength(2);
  });

  it('gets them even if the prompt could no longer be tested in the same way', async () => {
    const changing = await createPrompt(harness.service);
    const first = await createTestRun(harness.service, changing, onMock('model-a'), withKey('changed'));
    await forgetAnswers();
    const change = { messages: [{ role: 'user', content: '{{undeclared}}' }] };
    await harness.service.call('PUT', `/api/v1/prompts/${changing}`, { body: change });
    const repeat = await createTestRun(harness.service, changing, onMock('model-a'), withKey('changed'));
    expect([repeat.status, repeat.body]).toEqual([201, first.body]);
  });

  it('gets the running run if the 202 was lost in a crash', async () => {
    const headers = withKey('lost-202', { Prefer: 'respond-async' });
    const first = await createTestRun(harness.service, prompt, onMock('mock-held'), headers);
    await forgetAnswers();
    const repeat = await createTestRun(harness.service, prompt, onMock('mock-held'), headers);
    expect([repeat.status, repeat.body]).toEqual([202, first.body]);
    await until(() => harness.mock.requests.length > 0);
    harness.mock.release();
    await ended(harness.service, first.body.id as string);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('replays answers that are too large to store from the stored results', async () => {
    const text = 'x'.repeat(9 * 1024 * 1024);
    const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }];
    const body = JSON.stringify({ id: 'a', object: 'chat.completion', created: 1, model: 'large', choices });
    harness.mock.behave('large', { kind: 'body', contentType: 'application/json', body });
    const first = await createTestRun(harness.service, prompt, onMock('large'), withKey('large'));
    expect(first.status).toBe(201);
    const replay = await createTestRun(harness.service, prompt, onMock('large'), withKey('large'));
    expect([replay.status, replay.headers['idempotency-replayed']]).toEqual([201, 'true']);
    expect(replay.text === first.text).toBe(true);
    expect(harness.mock.requests).toHaveLength(1);
  });
});
