import { randomUUID } from 'node:crypto';
import { Long, type Collection } from 'mongodb';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { PagedDatabase } from '../../../src/storage/db/pages.ts';
import type { InvocationDocument } from '../../../src/accounting/invocations/invocation.ts';
import { createInvocationId } from '../../../src/accounting/invocations/invocation-id.ts';
import { createInvocationStore } from '../../../src/accounting/invocations/invocation-store.ts';
import { createJournalStore } from '../../../src/accounting/invocations/journal-store.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import { openDatabaseOf } from '../../support/per-operation.ts';
import { until } from '../../support/until.ts';

const lines: Readonly<Record<string, unknown>>[] = [];
let harness: InvokeHarness;
let database: PagedDatabase;
beforeAll(async () => {
  harness = await startInvokeHarness({
    invocationLogTimes: { beatMs: 50, termMs: 500, recoverEveryMs: 50 },
    log: createLogger('warn', { write: (line) => lines.push(JSON.parse(line) as Readonly<Record<string, unknown>>) }),
  });
  database = await openDatabaseOf(harness.service);
});
afterAll(async () => {
  await database.close();
  await harness.close();
});

function entry(): InvocationDocument {
  const created_at = new Date();
  return {
    _id: createInvocationId(created_at, randomUUID()),
    created_at,
    operation: 'invoke',
    status: 'interrupted',
    author: { type: 'key', id: 'a-key', name: 'A key' },
    request_id: 'a-request',
    streamed: false,
    cached: false,
    attempts: [{ provider: 'mock', model: 'model-a', status: 'interrupted', started_at: created_at }],
  };
}

it('stores what was in the journal of a process that has ended, unless the process has stored it', async () => {
  const [lost, stored] = [entry(), entry()];
  const before = await harness.service.call('GET', '/metrics');
  expect(before.text).toContain('\ninvocations_interrupted_total 0\n');
  await createInvocationStore(database).insert([{ ...stored, status: 'succeeded' }]);
  const journals = createJournalStore(database);
  await journals.create(randomUUID(), { number: 0, entries: [lost, stored] });
  await until(
    () => journals.list(),
    (list) => list.length === 0,
  );
  const { body } = await harness.service.call('GET', '/api/v1/invocations?author_id=a-key');
  const statuses = new Map((body.data as { id: string; status: string }[]).map(({ id, status }) => [id, status]));
  expect(statuses).toEqual(
    new Map([
      [lost._id, 'interrupted'],
      [stored._id, 'succeeded'],
    ]),
  );
  expect(lines).toMatchObject([
    { msg: 'the process ended before the invocation did', invocation_id: lost._id, request_id: 'a-request' },
    { msg: 'stored the invocations of a process that has ended', interrupted: 1 },
  ]);
  expect(await harness.metric('invocations_interrupted_total')).toBe(1);
  const shown = await harness.service.call('GET', `/api/v1/invocations/${lost._id}`);
  expect(shown.body.attempts).toEqual([
    {
      provider: 'mock',
      model: 'model-a',
      status: 'interrupted',
      started_at: lost.created_at.toISOString(),
      cost: null,
    },
  ]);
});

it('counts what a call costs at most that was interrupted', async () => {
  const usage = { inputTokens: 2_000, outputTokens: 100 };
  const lost = entry();
  const [attempt] = lost.attempts;
  const cost = 5_000_000_000;
  const one = {
    ...entry(),
    attempts: attempt ? [{ ...attempt, usage, usage_source: 'ceiling' as const, cost }] : [],
  };
  const journals = createJournalStore(database);
  const id = randomUUID();
  await journals.create(id, { number: 0, entries: [one] });
  const { body } = await until(
    () => harness.service.call('GET', `/api/v1/invocations/${one._id}`),
    ({ status }) => status === 200,
  );
  const money = { amount: '5', currency: 'USD' };
  expect(body).toMatchObject({ status: 'interrupted', usage, cost: money });
  expect(body.attempts).toMatchObject([{ usage_source: 'ceiling', usage, cost: { ...money, basis: 'ceiling' } }]);
  const day = one.created_at.toISOString().slice(0, 10).replaceAll('-', '');
  const records: Collection<{ _id: string; cost?: unknown }> = database.db.collection(`invocations_${day}`);
  const stored = await records.findOne({ _id: one._id }, { promoteLongs: false });
  expect(stored?.cost).toEqual(Long.fromNumber(cost));
});

it('has an estimate beside what such a call costs at most', async () => {
  const rates = [{ input: '1', output: '4' }];
  await harness.service.call('PUT', '/api/v1/prices/mock/mock-hang', { body: { rates } });
  const parameters = { max_output_tokens: 50 };
  const prompt = await harness.createPrompt({ parameters, selected_model: 'mock-hang' });
  const leaving = new AbortController();
  const hanging = harness.invokeUntil(leaving.signal, prompt).catch(() => undefined);
  await harness.received(1);
  // What its process would leave if it was killed now, as the entry of another one.
  const documents: Collection<{ _id: string; open: Record<string, string> }> = database.db.collection('journals');
  const lost = entry()._id;
  const open = (await documents.find({}).toArray()).flatMap((journal) => Object.values(journal.open ?? {}));
  const [written] = (JSON.parse(open[0] ?? '[]') as InvocationDocument[]).map((one) => ({
    ...one,
    _id: lost,
    created_at: new Date(one.created_at),
    attempts: one.attempts.map((attempt) => ({ ...attempt, started_at: new Date(attempt.started_at) })),
  }));
  await createJournalStore(database).create(randomUUID(), { number: 0, entries: written ? [written] : [] });
  const { body } = await until(
    () => harness.service.call('GET', `/api/v1/invocations/${lost}`),
    ({ status }) => status === 200,
  );
  leaving.abort();
  await hanging;
  const [{ usage, estimate }] = body.attempts;
  expect(body).toMatchObject({ status: 'interrupted', attempts: [{ usage_source: 'ceiling' }], usage: estimate.usage });
  expect(estimate).toEqual({
    usage: { inputTokens: expect.any(Number), outputTokens: 0 },
    cost: { amount: expect.any(String), currency: 'USD' },
  });
  expect(estimate.usage.inputTokens).toBeLessThan(usage.inputTokens);
});

it('leaves alone a call that takes longer than the term', async () => {
  const watcher = await startInvokeHarness({
    environment: { MONGODB_DATABASE: harness.service.environment['MONGODB_DATABASE'] ?? '' },
    invocationLogTimes: { beatMs: 50, termMs: 500, recoverEveryMs: 50 },
  });
  const slug = await harness.createPrompt({ selected_model: 'mock-slow-1500' });
  const answer = await harness.invoke(slug);
  const path = `/api/v1/invocations/${answer.headers['x-invocation-id']}`;
  const record = await until(
    () => watcher.service.call('GET', path),
    ({ status }) => status === 200,
  );
  expect(record.body).toMatchObject({ status: 'succeeded', attempts: [{ status: 'succeeded' }] });
  await watcher.close();
});
