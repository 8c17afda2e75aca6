import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { isRunning } from '../../src/storage/db/embedded/processes.ts';
import { testDatabaseUri } from '../support/database.ts';
import { fakeProgram } from '../support/fake-programs.ts';
import { LossyProxy } from '../support/lossy-proxy.ts';
import { spawnService, type SpawnedService } from '../support/service-process.ts';
import { setUpProcesses } from './operation-harness.ts';
import { until } from '../support/until.ts';

/** Waits for a database last 30 seconds and longer. */
const atOnceMs = 15_000;

const processes = setUpProcesses();
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Sends SIGTERM to a service that waits during its start. */
async function expectToStop(service: SpawnedService): Promise<void> {
  ends.push(() => {
    service.signal('SIGKILL');
  });
  const since = performance.now();
  service.signal('SIGTERM');
  expect(await service.exited).toEqual({ code: 0, signal: null });
  expect(performance.now() - since).toBeLessThan(atOnceMs);
  expect(service.messages.at(-1)).toMatch(/^SIGTERM: canceling the start/);
}

describe('SIGTERM during a start', () => {
  it('ends the wait for a database that is away', async () => {
    const service = spawnService({ ...processes.environment, MONGODB_URI: 'mongodb://127.0.0.1:1/' });
    await until(() => service.log.some((line) => line.includes('the database does not answer yet')));
    await expectToStop(service);
  });

  it.each(['on', 'off'])('ends the work with a database that hangs (DATABASE_CHECK=%s)', async (check) => {
    const proxy = await LossyProxy.start(testDatabaseUri());
    ends.push(() => proxy.stop());
    const lost = proxy.lose({ commands: ['createIndexes'] });
    const service = spawnService({ ...processes.environment, MONGODB_URI: proxy.uri, DATABASE_CHECK: check });
    await lost;
    proxy.pause();
    await until(() => service.messages.some((line) => /^Waiting for the database, .* of 30 s/.test(line)));
    await expectToStop(service);
  });

  it('ends the embedded database, which is not ready yet', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'prompt-gateway-stop-'));
    ends.push(() => rm(folder, { recursive: true, force: true }));
    const bin = path.join(folder, 'bin');
    const pidFile = path.join(folder, 'pid');
    await fakeProgram(bin, 'mongod', `echo $$ > "${pidFile}"; exec sleep 600`);
    const service = spawnService({
      PORT: '0',
      DATA_DIR: path.join(folder, 'data'),
      CACHE_DIR: path.join(folder, 'cache'),
      PATH: `${bin}:/usr/bin:/bin`,
    });
    const pid = Number(await until(() => readFile(pidFile, 'utf8').catch(() => '')));
    await until(() => service.messages.some((line) => line.startsWith('Database: the embedded server is not ready')));
    await expectToStop(service);
    expect(isRunning(pid)).toBe(false);
  });
});
