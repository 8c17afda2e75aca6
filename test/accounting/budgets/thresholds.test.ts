import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createBudgetFeature } from '../../../src/accounting/budgets/feature.ts';
import { createPeriodStore } from '../../../src/accounting/budgets/period-store.ts';
import type { PagedDatabase } from '../../../src/storage/db/pages.ts';
import { system } from '../../../src/base/runtime/system.ts';
import { createIntegration, eventually, publishedSchemas } from '../../webhooks/integrations/integrations-harness.ts';
import { startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import { openShop } from '../../orders/orders-harness.ts';
import { openDatabaseOf, problem, startAnother } from '../../support/per-operation.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import type { TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { budgetsPath, setBudget, usd } from './budgets-harness.ts';

const invocationLogTimes = { beatMs: 50, termMs: 60_000, recoverEveryMs: 60_000, reportMs: 50 };
const type = 'BUDGET_THRESHOLD_REACHED';

let harness: InvokeHarness;
let service: TestService;
let other: TestService;
let database: PagedDatabase;
let receiver: Receiver;
beforeAll(async () => {
  const environment = { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
  harness = await startInvokeHarness({ invocationLogTimes, environment });
  ({ service } = harness);
  const { OPENAI_COMPATIBLE_PROVIDERS = '' } = service.environment;
  await service.call('PUT', '/api/v1/prices/mock/model-a', { body: { rates: [{ input: '1', output: '4' }] } });
  other = await startAnother(service, { OPENAI_COMPATIBLE_PROVIDERS }, { invocationLogTimes });
  database = await openDatabaseOf(service);
  receiver = await startReceiver();
});
afterAll(async () => {
  await database.close();
  await other.close();
  await harness.close();
  await receiver.close();
});

/** The events that were stored about a budget: its thresholds. */
async function eventsAbout(budgetId: string): Promise<number[]> {
  const found = await database.db.collection('events').find({ target_id: budgetId }).sort({ created_at: 1 }).toArray();
  return found.map(({ body }) => (JSON.parse(String(body)) as { data: { threshold: number } }).data.threshold);
}

/** Checks in several processes at the same time, each as it does after its start. */
async function checkInAll(): Promise<void> {
  const features = Array.from({ length: 4 }, () => createBudgetFeature({ ...system, database }));
  await Promise.all(
    features.map(async ({ chores }) => {
      for (const { run } of chores) await run();
    }),
  );
}

describe('a threshold of a budget', () => {
  it('is announced to the integrations without locations, once in a period', async () => {
    const { location } = await openShop(service);
    const integration = await createIntegration(service, { url: receiver.url, event_types: [type] });
    const local = await createIntegration(service, {
      ...{ url: receiver.url, event_types: [type, 'FISCAL_DAY_END'], location_ids: [location.id] },
    });
    const set = (amount: string, process = service): ReturnType<typeof setBudget> =>
      setBudget(process, 'watched', { limit: usd(amount), thresholds: [60, 2, 1], period: 'once' });
    const { body: budget } = await set('0.01');
    expect(budget.thresholds).toEqual([1, 2, 60]);
    await set('0.01', other);
    const prompt = await harness.createPrompt({ parameters: { max_output_tokens: 50 } });
    const invoke = ({ call }: TestService) => call('POST', `/api/v1/prompts/${prompt}/invoke`);
    // 39,000 nano-dollars each; 1 % is three of them, 2 % is six.
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all([invoke(service), invoke(other)]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    }
    await receiver.received(2);
    const payloads = receiver.requests.map(({ body }) => JSON.parse(String(body)) as { data: Record<string, unknown> });
    expect(payloads.map(({ data }) => data['threshold']).sort()).toEqual([1, 2]);
    expect(payloads[0]).toEqual({
      ...{ type, targetUuid: budget.id, targetId: budget.id, id: expect.any(String), createdAt: expect.any(String) },
      data: {
        ...{ budget: 'watched', scope: {}, threshold: expect.any(Number), limit: usd('0.01') },
        ...{ spent: { amount: expect.stringMatching(/^0\.000\d+$/), currency: 'USD' }, since: budget.current.since },
      },
    });
    const isValid = (await publishedSchemas(service))(type);
    for (const payload of payloads) expect([isValid(payload), isValid.errors]).toEqual([true, null]);
    expect(isValid({ ...payloads[0], data: { budget: 'watched' } })).toBe(false);
    expect(receiver.requests[0]?.headers).toMatchObject({
      ...{ 'x-service-event-type': type, 'x-service-event-target-uuid': budget.id },
      'x-service-application-id': integration.id,
    });

    // A lower limit reaches the next one. Another limit does not announce any of them again.
    await until(
      () => service.call('GET', `${budgetsPath}/watched`),
      ({ body }) => body.current.spent.amount === '0.000234',
    );
    await set('0.00039');
    await receiver.received(3);
    await set('0.01');
    await set('0.00039');
    await checkInAll();
    expect((await eventsAbout(budget.id as string)).sort()).toEqual([1, 2, 60]);

    const { body: page } = await service.call('GET', `/api/v1/deliveries?event_type=${type}`);
    expect(page.data).toHaveLength(3);
    await service.call('POST', `${integration.path}/replays`, { body: { since: '2020-01-01' } });
    await receiver.received(6);
    const { body: replay } = await service.call('POST', `${local.path}/replays`, { body: { since: '2020-01-01' } });
    const { body: done } = await eventually(service, `/api/v1/replays/${replay.id}`, ({ status }) => status === 'done');
    expect(done.delivery_count).toBe(0);
    expect(receiver.requests.map(({ headers }) => headers['x-service-application-id'])).toEqual(
      Array.from({ length: 6 }, () => integration.id),
    );
  });

  it('is announced by another process if the one that has spent was killed, also after the period', async () => {
    const { body } = await setBudget(service, 'orphaned', { thresholds: [50, 100] });
    const periods = createPeriodStore(database);
    const yesterday = new Date(Date.now() - 86_400_000);
    const id = `${body.id}|${yesterday.toISOString().slice(0, 10)}`;
    const terms = { id, budget: 'orphaned', budgetId: body.id as string, limit: 1_000, revision: 1, isShared: true };
    await periods.ensure({ ...terms, since: yesterday, resetsAt: new Date() });
    const amounts = { amount: 0, settled: 0, taken: 500, spent: 500 };
    await periods.change(id, randomUUID(), { from: undefined, to: 1, ...amounts });
    await Promise.all([checkInAll(), checkInAll()]);
    const [period] = await periods.spending([id]);
    expect(period).toMatchObject({ announced: [50], spent: 500n });
    await until(async () => (await eventsAbout(body.id as string)).length > 0);
    expect(await eventsAbout(body.id as string)).toEqual([50]);
  });

  it.each([
    ['twice the same', [50, 50]],
    ['nothing', [0]],
    ['more than all', [101]],
    ['a part of a percent', [0.5]],
    ['too many', Array.from({ length: 11 }, (_, index) => index + 1)],
  ])('is refused: %s', async (_, thresholds) => {
    const answer = await setBudget(service, 'wrong', { thresholds });
    expect([answer.status, answer.body.type]).toEqual([400, problem('invalid-request')]);
  });
});
