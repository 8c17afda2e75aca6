import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { problems } from '../../../generated/problems.ts';
import document from '../../../generated/openapi.json' with { type: 'json' };
import packageJson from '../../../package.json' with { type: 'json' };
import { connectDatabase, type Database } from '../../../src/storage/db/client.ts';
import type { DatabaseObserver, PoolUse } from '../../../src/storage/db/pool-watch.ts';
import { knownVersion } from '../../../src/storage/db/schema.ts';
import { migrations } from '../../../src/storage/db/migrations/migrations.ts';
import { failureTypes } from '../../../src/models/call/failures.ts';
import { budgetsPath, setBudget, usd } from '../../accounting/budgets/budgets-harness.ts';
import { startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import { testDatabaseUri } from '../../support/database.ts';
import { LossyProxy } from '../../support/lossy-proxy.ts';
import { silentLog } from '../../support/log.ts';
import { startAnother } from '../../support/per-operation.ts';
import type { TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness({ environment: { PROVIDER_CONCURRENCY: '1' } });
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(() => harness.close());

async function read(): Promise<string> {
  return (await harness.service.call('GET', '/metrics')).text;
}

describe('the metrics', () => {
  it('are those that the contract lists', async () => {
    const listed = new Set(document.paths['/metrics'].get.description.match(/`[a-z_]+_[a-z]+`/g));
    const rendered = [...(await read()).matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => `\`${name}\``);
    expect([...listed].sort()).toEqual(rendered.filter((name) => !/^`(process|nodejs)_/.test(name)).sort());
  });

  it('name the versions of the service and of Node.js', async () => {
    expect(await read()).toContain(
      `prompt_gateway_build_info{version="${packageJson.version}",node="${process.versions.node}"} 1\n`,
    );
  });

  it('count problems by type', async () => {
    const before = await harness.metric('http_problems_total{type="prompt-not-found"}');
    await harness.service.call('GET', '/api/v1/prompts/there-is-none');
    expect(await harness.metric('http_problems_total{type="prompt-not-found"}')).toBe(before + 1);
  });

  it('show the calls of each configured provider in progress and in the queue', async () => {
    const prompt = await harness.createPrompt();
    const calls = ['one', 'two', 'three'].map((name) =>
      harness.invoke(prompt, { model: 'mock-held', variables: { name } }),
    );
    const waiting = 'provider_calls_waiting{provider="mock"}';
    await until(async () => (await harness.metric(waiting)) === 2);
    expect(await harness.metric('provider_calls_active{provider="mock"}')).toBe(1);
    expect(await harness.metric('provider_calls_limit{provider="mock"}')).toBe(1);
    expect(await harness.metric('provider_calls_active{provider="spare"}')).toBe(0);
    expect(await read()).not.toContain('provider="openai"');
    harness.mock.release();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await harness.metric(waiting)).toBe(0);
  });

  it('show the memory for requests in progress, and how often it was refused', async () => {
    const limit = 192 * 1024 * 1024;
    expect(await harness.metric('request_memory_limit_bytes')).toBe(limit);
    const prompt = await harness.createPrompt();
    const before = await harness.metric('request_memory_reserved_bytes');
    const call = harness.invoke(prompt, { model: 'mock-held', variables: { name: 'x'.repeat(100_000) } });
    await until(async () => (await harness.metric('provider_calls_active{provider="mock"}')) === 1);
    const during = await harness.metric('request_memory_reserved_bytes');
    expect(during).toBeGreaterThan(before + 100_000);
    harness.mock.release();
    expect((await call).status).toBe(200);
    // The answer of the metrics counts too, and is not always of the same size.
    await until(async () => (await harness.metric('request_memory_reserved_bytes')) < during - 100_000);
    expect(await harness.metric('request_memory_waiting')).toBe(0);
    expect(await harness.metric('request_memory_refused_total{by="key"}')).toBe(0);
    expect(await harness.metric('request_memory_refused_total{by="all"}')).toBe(0);
  });

  it('show commands of the database and the connections of its pool', async () => {
    const before = await harness.metric('database_command_duration_seconds_count');
    const waits = await harness.metric('database_connection_wait_seconds_count');
    await harness.service.call('GET', '/api/v1/prompts/there-is-none');
    expect(await harness.metric('database_command_duration_seconds_count')).toBeGreaterThan(before);
    expect(await harness.metric('database_connection_wait_seconds_count')).toBeGreaterThan(waits);
    const idle = await harness.metric('database_connections{state="idle"}');
    const limit = await harness.metric('database_connections_limit');
    expect(idle).toBeGreaterThan(0);
    expect(limit).toBeGreaterThanOrEqual(idle);
    // Chores have commands of their own.
    await until(
      () => harness.metric('database_commands_waiting'),
      (waiting) => waiting === 0,
    );
  });
});

/** The value of a series; undefined if there is none. */
async function valueOf(service: TestService, series: string): Promise<number | undefined> {
  const { text } = await service.call('GET', '/metrics');
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

describe('counters', () => {
  it('exist from the start, so that the first burst is an increase', async () => {
    const started = await startAnother(harness.service);
    const { text } = await started.call('GET', '/metrics');
    await started.close();
    const expected = [
      ...Object.keys(problems).map((type) => `http_problems_total{type="${type}"}`),
      ...['connect', 'connection_lost', 'pool_timeout', 'heartbeat'].map(
        (kind) => `database_errors_total{kind="${kind}"}`,
      ),
      ...['put', 'open', 'delete', 'check'].map((operation) => `object_storage_errors_total{operation="${operation}"}`),
      ...['delivered', 'failed', 'expired'].map((status) => `webhook_deliveries_finished_total{status="${status}"}`),
      ...['gone', 'failing'].map((reason) => `webhook_integrations_disabled_total{reason="${reason}"}`),
      ...['hit', 'miss', 'joined'].map((result) => `invoke_cache_total{result="${result}"}`),
      'webhook_circuit_breakers_opened_total',
      'database_migration_failures_total',
      'database_migration_tasks_left',
      'invocations_interrupted_total',
    ];
    const lines = new Set(text.split('\n'));
    expect(expected.filter((series) => !lines.has(`${series} 0`))).toEqual([]);
  });

  it('exist for each outcome of calls to configured providers', async () => {
    const { OPENAI_COMPATIBLE_PROVIDERS = '' } = harness.service.environment;
    const started = await startAnother(harness.service, { OPENAI_COMPATIBLE_PROVIDERS });
    for (const outcome of ['succeeded', 'canceled', ...failureTypes]) {
      const series = `provider_attempts_total{provider="spare",outcome="${outcome}"}`;
      expect([series, await valueOf(started, series)]).toEqual([series, 0]);
    }
    await started.close();
  });

  it('count failures of object storage', async () => {
    const bucket = { S3_BUCKET: 'results', S3_ENDPOINT: 'http://127.0.0.1:1' };
    const keys = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
    const started = await startAnother(harness.service, { ...bucket, ...keys });
    await started.call('GET', '/health/ready', { key: null });
    await until(async () => Number(await valueOf(started, 'object_storage_errors_total{operation="check"}')) > 0);
    expect(await valueOf(started, 'object_storage_errors_total{operation="put"}')).toBe(0);
    await started.close();
  });

  it('count failures of a migration, and what is left of it', async () => {
    let mayRun = false;
    const run = (): Promise<void> => (mayRun ? Promise.resolve() : Promise.reject(new Error('not yet')));
    const version = knownVersion({ name: '', migrations }) + 1;
    const started = await startAnother(
      harness.service,
      {},
      {
        migrations: [...migrations, { version, title: 'fail at first', run }],
        migratorTimes: { beatMs: 100, termMs: 5_000, pollMs: 20, pauseMs: 0, longestPauseMs: 0, retryMs: 50 },
      },
    );
    await until(async () => Number(await valueOf(started, 'database_migration_failures_total')) > 1);
    expect(await valueOf(started, 'database_migration_tasks_left')).toBe(1);
    mayRun = true;
    await until(async () => (await valueOf(started, 'database_migration_tasks_left')) === 0);
    await started.close();
  });
});

describe('the metrics of a budget', () => {
  const call = { parameters: { max_output_tokens: 50 } };

  it('are its limit, what is spent, and the calls that it refused, from when it is set until it is deleted', async () => {
    const { service } = harness;
    await service.call('PUT', '/api/v1/prices/mock/model-a', { body: { rates: [{ input: '1', output: '4' }] } });
    const prompt = await harness.createPrompt(call);
    const of = (name: string): Promise<(number | undefined)[]> =>
      Promise.all(
        ['limit_dollars', 'spent_dollars', 'calls_refused_total'].map((metric) =>
          valueOf(service, `budget_${metric}{budget="${name}"}`),
        ),
      );
    await setBudget(service, 'small', { limit: usd('0.000001') });
    expect(await of('small')).toEqual([0.000001, 0, 0]);
    expect((await harness.invoke(prompt)).status).toBe(402);
    expect((await harness.invoke(prompt)).status).toBe(402);
    expect(await of('small')).toEqual([0.000001, 0, 2]);
    await service.call('DELETE', `${budgetsPath}/small`);
    expect(await of('small')).toEqual([undefined, undefined, undefined]);

    await setBudget(service, 'large', { limit: usd('2') });
    expect((await harness.invoke(prompt)).status).toBe(200);
    await until(async () => (await of('large'))[1] !== 0);
    // 11 tokens at 1 dollar a million, 7 at 4 dollars.
    expect(await of('large')).toEqual([2, 0.000039, 0]);
    const another = await startAnother(service);
    expect(await valueOf(another, 'budget_spent_dollars{budget="large"}')).toBe(0.000039);
    await another.close();
    await service.call('DELETE', `${budgetsPath}/large`);
  });
});

describe('a pool of connections', () => {
  const open = async (proxy: LossyProxy) => {
    let readPool: (() => PoolUse) | undefined;
    const failures: string[] = [];
    const observer: DatabaseObserver = {
      commandEnded: () => undefined,
      failed: (kind) => failures.push(kind),
      migrationFailed: () => undefined,
      watchPool: (reader) => (readPool = reader),
    };
    const uri = `${proxy.uri}&maxPoolSize=2&waitQueueTimeoutMS=100`;
    const database: Database = await connectDatabase({ uri, databaseName: 'unused', log: silentLog, observer });
    return { database, failures, pool: () => readPool?.() };
  };

  it('reports connections in use, commands that wait, and those that waited for too long', async () => {
    const proxy = await LossyProxy.start(testDatabaseUri());
    const { database, failures, pool } = await open(proxy);
    await database.db.command({ ping: 1 });
    expect(pool()).toEqual({ open: 1, inUse: 0, waiting: 0, limit: 2 });
    proxy.pause();
    const pings = Array.from({ length: 5 }, () => database.db.command({ ping: 1 }).catch(() => 'failed'));
    await until(() => failures.includes('pool_timeout'));
    expect(pool()).toMatchObject({ inUse: 1, limit: 2 });
    proxy.resume();
    await Promise.all(pings);
    await until(() => pool()?.inUse === 0);
    expect(pool()?.waiting).toBe(0);
    await database.close();
    expect(pool()).toEqual({ open: 0, inUse: 0, waiting: 0, limit: 2 });
    await proxy.stop();
  });

  it('reports connections that broke, and those that could not be opened', async () => {
    const proxy = await LossyProxy.start(testDatabaseUri());
    const { database, failures } = await open(proxy);
    await Promise.all([proxy.lose({ commands: ['ping'] }), expect(database.db.command({ ping: 1 })).rejects.toThrow()]);
    expect(failures).toContain('connection_lost');
    await proxy.stop();
    const since = failures.length;
    await expect(database.db.command({ ping: 1 })).rejects.toThrow();
    await until(() => failures.slice(since).some((kind) => kind === 'heartbeat' || kind === 'connect'));
    await database.close();
  });
});
