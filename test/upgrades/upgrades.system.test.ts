import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectDatabase } from '../../src/storage/db/client.ts';
import { isSound, startUpdateBurst, type UpdateBurst } from '../faults/update-burst.ts';
import { testDatabaseUri } from '../support/database.ts';
import { silentLog } from '../support/log.ts';
import { checkSetting, engineOfTests } from '../support/database-server.ts';
import { adminKey } from '../support/send.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { runServiceProgram, startServiceProcess, type ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { addedFields, nextMigrations, nextVersion, quickTimes } from './next-release.ts';

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
    burst = await startUpdateBurst({ url: older.url, prompts: 3, writers: 2 });
  });
  afterAll(async () => {
    await burst.pause();
    await newer.close();
    await older.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('serves on, also when a process is killed in the middle of it: nothing fails and nothing is lost', async () => {
    await updated();
    const killed = spawn(process.execPath, [path.join(import.meta.dirname, 'program.ts')], {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const closed = once(killed, 'close');
    const said: string[] = [];
    createInterface({ input: killed.stderr }).on('line', (line) => said.push(line));
    await until(() => said.includes(`before ${addedFields[1]}`));
    newer = await startTestService({
      environment,
      migrations: nextMigrations(updated),
      migratorTimes: quickTimes,
    });
    const { schema, migration: waiting } = await info(newer.url);
    expect([schema, waiting]).toMatchObject([{ version: nextVersion - 1 }, { status: 'waiting', total: 1 }]);
    killed.kill('SIGKILL');
    await until(
      () => info(newer.url),
      ({ migration }) => migration === undefined,
    );
    await closed;
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
    expect(await info(newer.url)).toMatchObject({ schema: { version: nextVersion, oldest_reader: 7 } });
    const database = await connectDatabase({
      uri: testDatabaseUri(),
      databaseName: environment['MONGODB_DATABASE'] ?? '',
      log: silentLog,
    });
    const prompts = await database.db.collection('prompts').find().toArray();
    await database.close();
    expect(prompts).toHaveLength(3);
    for (const prompt of prompts) for (const field of addedFields) expect(prompt[field]).toBe('new');
    const again = await startServiceProcess(environment);
    expect(await info(again.url)).toMatchObject({ schema: { version: nextVersion } });
    await again.stop();
  });
});

describe('data of a commit before 1.0.0', () => {
  it('is refused at the start, with the commit that reads it, and is not changed', async () => {
    const databaseName = `test_${randomUUID().slice(0, 8)}`;
    const database = await connectDatabase({ uri: testDatabaseUri(), databaseName, log: silentLog });
    const named = <Content>(name: string) => database.db.collection<{ _id: string } & Content>(name);
    const schema = { _id: 'schema', revision: 9, writes: [], version: 6, oldest_reader: 6, releases: [] };
    await named<object>('schema').insertOne(schema);
    await named<object>('prompts').insertOne({ _id: 'former' });
    const environment = {
      MONGODB_URI: testDatabaseUri(),
      MONGODB_DATABASE: databaseName,
      ADMIN_API_KEY: adminKey,
      PORT: '0',
      ...checkSetting(engineOfTests()),
    };
    const dataDir = await mkdtemp(path.join(tmpdir(), 'former-'));
    const { code, messages } = await runServiceProgram({ ...environment, DATA_DIR: dataDir });
    expect([code, messages]).toEqual([1, expect.stringContaining('Commit 6a63eef0 is the last that reads such data')]);
    expect(await named('schema').find().toArray()).toEqual([schema]);
    expect(await named('prompts').listIndexes().toArray()).toHaveLength(1);
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  });
});
