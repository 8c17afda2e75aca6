import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MongoServerError } from 'mongodb';
import type { PagedDatabase } from '../../../src/storage/db/pages.ts';
import { createExpiry } from '../../../src/storage/db/expiry.ts';
import { defined } from '../../../src/base/runtime/objects.ts';
import { systemRandom } from '../../../src/base/runtime/random.ts';
import {
  createStatistics,
  type CountedRecord,
  type Statistics,
} from '../../../src/accounting/statistics/statistics.ts';
import { createProviderHealthStore } from '../../../src/accounting/statistics/provider-health-store.ts';
import { createStatisticsStore, statisticsIndexes } from '../../../src/accounting/statistics/statistics-store.ts';
import { createTestDatabase, testDatabaseUri, type TestDatabase } from '../../support/database.ts';
import { silentLog } from '../../support/log.ts';
import { LossyProxy, type Loss } from '../../support/lossy-proxy.ts';
import { countMatchedDocuments } from '../../support/matched-documents.ts';
import { setUp, startAnother } from '../../support/per-operation.ts';
import type { TestService } from '../../support/service.ts';
import type { Delivery } from '../../../src/webhooks/deliveries/delivery.ts';
import { silentObserver } from '../../../src/webhooks/observer.ts';
import {
  counting,
  createGreeting,
  createStandingClock,
  greet,
  pointsWith,
  statisticsPath,
  untilTotals,
} from './statistics-harness.ts';

describe('the processes of a service', () => {
  /** `setup.service` writes its statistics only when it stops. */
  const setup = setUp();
  const totalsOf = (service: TestService, prompt: string, invocations: number) =>
    untilTotals(service, `${prompt}/statistics`, { invocations });

  it('are added up, including what they write when they stop', async () => {
    const [one, two] = [await startAnother(setup.service, {}, counting), await startAnother(setup.service)];
    const prompt = await createGreeting(one);
    await greet(one, prompt);
    await greet(one, prompt);
    await totalsOf(setup.service, prompt, 2);
    await greet(two, prompt);
    await two.close();
    const { body } = await setup.service.call('GET', `${prompt}/statistics`);
    expect(body.totals.invocations).toBe(3);
    await greet(one, prompt);
    await totalsOf(setup.service, prompt, 4);
    const { totals } = await untilTotals(setup.service, statisticsPath, { invocations: 4 });
    expect(totals.requests).toBeGreaterThanOrEqual(4);
    await one.close();
  });

  describe('when the database fails', () => {
    let proxy: LossyProxy;
    let service: TestService;
    beforeAll(async () => {
      proxy = await LossyProxy.start(testDatabaseUri());
      service = await startAnother(setup.service, { MONGODB_URI: proxy.uri }, counting);
    });
    afterAll(async () => {
      await service.close();
      await proxy.stop();
    });

    it.each<[string, Loss]>([
      ['the answer of a write is lost', { of: 'answer' }],
      ['the answer of a write is lost three times', { of: 'answer', times: 3 }],
      ['the request of a write is lost', { of: 'request' }],
      ['the majority does not confirm a write', { of: 'confirmation' }],
    ])('count once when %s', async (_what, loss) => {
      const prompt = await createGreeting(service);
      const lost = proxy.lose({ ...loss, collection: 'statistics', commands: ['update'] });
      await greet(service, prompt);
      await lost;
      await greet(service, prompt);
      await totalsOf(service, prompt, 2);
    });

    it('stop normally', async () => {
      const stopping = await startAnother(setup.service, { MONGODB_URI: proxy.uri });
      await stopping.call('GET', '/api/v1/providers');
      await proxy.stop();
      try {
        await stopping.close();
      } finally {
        await proxy.restart();
      }
    });

    it('write the counts of an outage after it', async () => {
      const before = await untilTotals(service, statisticsPath, {});
      await proxy.stop();
      for (let count = 0; count < 3; count += 1) {
        expect((await service.call('GET', '/api/v1/providers?unknown=1')).status).toBe(400);
      }
      await proxy.restart();
      await untilTotals(setup.service, statisticsPath, { client_errors: before.totals.client_errors + 3 });
    });
  });
});

describe('over time', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const clock = createStandingClock('2026-11-06T12:00:00Z');
  const create = (over: PagedDatabase = database): Statistics =>
    createStatistics({
      store: createStatisticsStore(over),
      healthStore: createProviderHealthStore(over),
      clock,
      random: systemRandom,
    });
  const invoke = (
    statistics: Statistics,
    prompt_id: string | undefined,
    version: number | undefined,
    record: { [Name in keyof CountedRecord]?: CountedRecord[Name] | undefined } = {},
  ): void => {
    const ended = {
      created_at: clock.now(),
      status: 'succeeded',
      cached: false,
      latency_ms: 100,
      cost: 1_000,
    } as const;
    const usage = { inputTokens: 1, outputTokens: 2 };
    const attempts = [{ usage_source: 'provider', cost: 1_000 }] as const;
    const all = { ...ended, usage, attempts, prompt_id, prompt_version: version, ...record };
    statistics.recorded(defined(all) as CountedRecord);
  };
  const promptId = (): string => systemRandom.uuid();
  const shown = async (statistics: Statistics, id: string, span: 'hour' | 'day'): Promise<[string, number][]> => {
    const { points } = await statistics.ofPrompt(id, span, 20);
    const body = points.map(({ at, counts: { invocations } }) => ({ at: at.toISOString(), invocations }));
    return pointsWith({ points: body }, 'invocations');
  };

  it('invocations whose tokens or costs are unknown are counted apart', async () => {
    const [id, statistics] = [promptId(), create()];
    const call = { usage_source: 'provider', cost: 1_000 } as const;
    invoke(statistics, id, 1, { attempts: [call] });
    invoke(statistics, id, 1, {
      attempts: [{ usage_source: 'estimated' }],
      cost: undefined,
      usage: { outputTokens: 8 },
    });
    invoke(statistics, id, 1, { attempts: [{ usage_source: 'ceiling', cost: 1_000 }, call], cost: 2_000 });
    invoke(statistics, id, 1, { attempts: [], cached: true, cost: 0, usage: undefined });
    invoke(statistics, id, 1, { attempts: [{ cost: 0 }], status: 'failed', cost: 0, usage: undefined });
    await statistics.flush();
    const { total } = await statistics.ofPrompt(id, 'hour', 1);
    expect(total.counts).toMatchObject({ invocations: 5, input_tokens: 2, output_tokens: 12, without_usage: 2 });
    expect(total.counts).toMatchObject({ nanodollars: 3_000, without_cost: 1, cached: 1, errors: 1 });
  });

  it('each way to end is counted by itself, for the service also without a prompt', async () => {
    clock.set('2026-11-04T12:30:00Z');
    const [id, statistics] = [promptId(), create()];
    for (const status of ['succeeded', 'failed', 'cancelled', 'interrupted'] as const) {
      invoke(statistics, id, 1, { status });
      invoke(statistics, undefined, undefined, { status });
    }
    await statistics.flush();
    const [own, all] = await Promise.all([statistics.ofPrompt(id, 'hour', 1), statistics.ofService('hour')]);
    expect(own.total.counts).toMatchObject({ invocations: 4, errors: 1, canceled: 1, interrupted: 1 });
    expect(all.total.counts).toMatchObject({ invocation_errors: 2, canceled: 2, interrupted: 2 });
  });

  it('an invocation counts in the interval in which it began, also if others of it are written', async () => {
    clock.set('2026-11-04T14:14:50Z');
    const [id, statistics] = [promptId(), create()];
    const began = clock.now();
    invoke(statistics, id, 1, { created_at: began });
    await statistics.flush();
    clock.set('2026-11-04T14:15:10Z');
    for (let count = 0; count < 2; count += 1) {
      invoke(statistics, id, 1, { created_at: began });
      await statistics.flush();
    }
    expect(await shown(statistics, id, 'hour')).toEqual([['2026-11-04T14:14:00.000Z', 3]]);
    expect(await shown(statistics, id, 'day')).toEqual([['2026-11-04T14:00:00.000Z', 3]]);
  });

  it('counts belong to their minutes and quarters of an hour, across hours and midnight', async () => {
    const [id, statistics] = [promptId(), create()];
    for (const time of ['22:59:59.999', '23:00', '23:50', '23:59:59'] as const) {
      clock.set(`2026-11-06T${time}Z`);
      invoke(statistics, id, 1);
    }
    clock.set('2026-11-07T00:00:00Z');
    invoke(statistics, id, 1);
    await statistics.flush();
    clock.set('2026-11-07T00:00:30Z');
    invoke(statistics, id, 1);
    await statistics.flush();
    expect(await shown(statistics, id, 'hour')).toEqual([
      ['2026-11-06T23:50:00.000Z', 1],
      ['2026-11-06T23:59:00.000Z', 1],
      ['2026-11-07T00:00:00.000Z', 2],
    ]);
    const day = [
      ['2026-11-06T22:45:00.000Z', 1],
      ['2026-11-06T23:00:00.000Z', 1],
      ['2026-11-06T23:45:00.000Z', 2],
      ['2026-11-07T00:00:00.000Z', 2],
    ];
    expect(await shown(statistics, id, 'day')).toEqual(day);
    // One hour later, the minutes start again from 0.
    clock.set('2026-11-07T00:50:00Z');
    invoke(statistics, id, 1);
    await statistics.flush();
    expect(await shown(statistics, id, 'hour')).toEqual([
      ['2026-11-06T23:59:00.000Z', 1],
      ['2026-11-07T00:00:00.000Z', 2],
      ['2026-11-07T00:50:00.000Z', 1],
    ]);
    // Another process reads the same counts.
    clock.set('2026-11-07T22:59:59.999Z');
    expect(await shown(create(), id, 'day')).toEqual([...day.slice(1), ['2026-11-07T00:45:00.000Z', 1]]);
    expect(await shown(create(), id, 'hour')).toEqual([]);
  });

  it('a document that another process begins at the same time is written', async () => {
    clock.set('2026-11-05T12:00:00Z');
    const collection = database.db.collection('statistics');
    let isRefused = false;
    const bulkWrite = (...write: Parameters<typeof collection.bulkWrite>): ReturnType<typeof collection.bulkWrite> => {
      if (isRefused) return collection.bulkWrite(...write);
      isRefused = true;
      return Promise.reject(new MongoServerError({ code: 11_000, message: 'E11000 duplicate key' }));
    };
    const db = { collection: () => ({ bulkWrite }) } as unknown as TestDatabase['db'];
    const [id, statistics] = [promptId(), create({ ...database, db })];
    invoke(statistics, id, 1);
    await statistics.flush();
    expect([isRefused, await shown(create(), id, 'hour')]).toEqual([true, [['2026-11-05T12:00:00.000Z', 1]]]);
  });

  it('nothing is replaced when the clock goes back', async () => {
    const [id, statistics] = [promptId(), create()];
    for (const time of ['2026-11-08T12:10:30Z', '2026-11-08T12:11:00Z', '2026-11-08T12:10:45Z']) {
      clock.set(time);
      invoke(statistics, id, 1);
      await statistics.flush();
    }
    clock.set('2026-11-08T12:11:00Z');
    expect(await shown(statistics, id, 'hour')).toEqual([
      ['2026-11-08T12:10:00.000Z', 2],
      ['2026-11-08T12:11:00.000Z', 1],
    ]);
    expect(await shown(statistics, id, 'day')).toEqual([['2026-11-08T12:00:00.000Z', 3]]);
  });

  it('the deliveries of the last day of many integrations are read in one command', async () => {
    clock.set('2026-11-09T23:59:00Z');
    const matched = countMatchedDocuments(database);
    const statistics = create();
    const observer = statistics.observing(silentObserver);
    const finished = (integrationId: string, status: 'delivered' | 'failed'): void => {
      observer.finished(status, { integrationId, createdAt: clock.now() } as Delivery);
    };
    const ids = Array.from({ length: 100 }, () => systemRandom.uuid());
    const [first = '', second = ''] = ids;
    for (const id of ids.slice(0, 60)) finished(id, 'delivered');
    await statistics.flush();
    clock.set('2026-11-10T00:01:00Z');
    finished(first, 'failed');
    finished(first, 'failed');
    await statistics.flush();
    const found = await create(matched.database).ofIntegrations(ids);
    expect([...found.keys()]).toEqual(ids);
    const deliveriesOf = (id: string): unknown => found.get(id);
    expect(deliveriesOf(first)).toMatchObject({ deliveries_succeeded: 1, deliveries_failed: 2 });
    expect(deliveriesOf(second)).toMatchObject({ deliveries_succeeded: 1, deliveries_failed: 0 });
    expect(deliveriesOf(ids[99] ?? '')).toMatchObject({ deliveries_succeeded: 0, deliveries_failed: 0 });
    expect((await matched.most()).documents).toBeLessThanOrEqual(100);
    clock.set('2026-11-10T23:59:59Z');
    expect((await create().ofIntegrations([first])).get(first)).toMatchObject({
      deliveries_succeeded: 0,
      deliveries_failed: 2,
    });
  });

  it('at most 20 versions of a prompt are shown separately', async () => {
    clock.set('2026-11-12T12:00:00Z');
    const [id, statistics] = [promptId(), create()];
    for (let version = 1; version <= 30; version += 1) invoke(statistics, id, version);
    await statistics.flush();
    const { total, versions } = await statistics.ofPrompt(id, 'hour', 20);
    expect([total.counts.invocations, total.counts.milliseconds, versions.length]).toEqual([30, 3_000, 20]);
    expect(versions.map(({ version }) => version)).toEqual(Array.from({ length: 20 }, (_, index) => 20 - index));
  });

  it('statistics are removed when they are no longer shown', async () => {
    const collection = database.db.collection<{ _id: string; expires_at: Date }>('statistics');
    clock.set('2026-11-13T12:00:00Z');
    const [id, statistics] = [promptId(), create()];
    invoke(statistics, id, 1);
    statistics.requested(200, false);
    await statistics.flush();
    clock.set('2026-11-15T00:00:00Z');
    await createExpiry({ database, indexes: [statisticsIndexes], now: clock.now, log: silentLog })();
    const left = await collection.find().sort({ _id: 1 }).toArray();
    expect(left.map(({ _id }) => _id)).toEqual([`prompt/${id}/2026-11-13`, 'service//2026-11-13']);
    for (const { expires_at } of left) expect(expires_at < new Date('2026-11-15T15:00:00Z')).toBe(true);
  });
});
