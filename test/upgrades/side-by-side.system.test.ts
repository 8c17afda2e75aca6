import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Migration } from '../../src/storage/db/migrations/migration.ts';
import { connectDatabase } from '../../src/storage/db/client.ts';
import { migrations } from '../../src/storage/db/migrations/migrations.ts';
import { isSound, startUpdateBurst, type UpdateBurst } from '../faults/update-burst.ts';
import { testDatabaseUri } from '../support/database.ts';
import { silentLog } from '../support/log.ts';
import { checkSetting, engineOfTests } from '../support/database-server.ts';
import { adminKey, startTestService, type TestService } from '../support/service.ts';
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';

const nextVersion = (migrations.at(-1)?.version ?? 0) + 1;
/** Fields that the next release adds, one command for each. */
const fields = Array.from({ length: 3 }, (_, index) => `added_${index}`);

/** What the next release adds. It goes on when it is told to. */
function additiveMigration(mayGoOn: () => Promise<void>): Migration {
  return {
    version: nextVersion,
    title: 'add fields to prompts',
    async run({ change }) {
      for (const field of fields) {
        await mayGoOn();
        await change('prompts', (db) =>
          db.collection('prompts').updateMany({ [field]: { $exists: false } }, { $set: { [field]: 'new' } }),
        );
      }
    },
  };
}

describe('this release, while the next one adds to its data', () => {
  let dataDir: string;
  let environment: Record<string, string>;
  let older: ServiceProcess;
  let newer: TestService;
  let burst: UpdateBurst;
  /** Waits until some updates were acknowledged since. */
  const updated = async (): Promise<void> => {
    const goal = burst.acknowledged + 8;
    await until(() => burst.acknowledged >= goal);
  };
  const info = async (url: string): Promise<{ schema: unknown; migration?: unknown }> => {
    const answer = await fetch(`${url}/`, { headers: { authorization: `Bearer ${adminKey}` } });
    return (await answer.json()) as { schema: unknown; migration?: unknown };
  };

  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'side-by-side-'));
    environment = {
      MONGODB_URI: testDatabaseUri(),
      MONGODB_DATABASE: `test_${randomUUID().slice(0, 8)}`,
      DATA_DIR: dataDir,
      ADMIN_API_KEY: adminKey,
      PORT: '0',
      RATE_LIMIT: 'off',
      LOG_LEVEL: 'warn',
      ...checkSetting(engineOfTests()),
    };
    older = await startServiceProcess(environment);
    burst = await startUpdateBurst({ url: older.url, key: adminKey, prompts: 3, writers: 2 });
  });
  afterAll(async () => {
    await burst.pause();
    await newer.close();
    await older.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('serves on: nothing fails and nothing is lost', async () => {
    await updated();
    newer = await startTestService({
      environment,
      migrations: [...migrations, additiveMigration(updated)],
      migratorTimes: { beatMs: 100, termMs: 5_000, pollMs: 20, pauseMs: 0, longestPauseMs: 0, retryMs: 50 },
    });
    expect((await info(newer.url)).schema).toMatchObject({ version: nextVersion - 1 });
    await until(
      () => info(newer.url),
      ({ migration }) => migration === undefined,
    );
    await updated();
    await burst.pause();
    for (const url of [older.url, newer.url]) {
      const counts = await burst.verify(url);
      expect(counts).toMatchObject({ unanswered: 0, unexpected: 0 });
      expect(isSound(counts)).toBe(true);
    }
    expect(older.log).toEqual([]);
  });

  it('keeps what the next release added, and starts again on its data', async () => {
    expect(await info(newer.url)).toMatchObject({ schema: { version: nextVersion, oldest_reader: 6 } });
    const database = await connectDatabase({
      uri: testDatabaseUri(),
      databaseName: environment['MONGODB_DATABASE'] ?? '',
      log: silentLog,
    });
    const prompts = await database.db.collection('prompts').find().toArray();
    await database.close();
    expect(prompts).toHaveLength(3);
    for (const prompt of prompts) for (const field of fields) expect(prompt[field]).toBe('new');
    const again = await startServiceProcess(environment);
    expect(await info(again.url)).toMatchObject({ schema: { version: nextVersion } });
    await again.stop();
  });
});
