import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startServiceProcess, underTest, type ServiceProcess } from '../support/service-process.ts';
import { createDataFolder, type DataFolder } from './data-folder.ts';
import { startUpdateBurst, type UpdateBurst } from './update-burst.ts';

const kills = 2;

let folder: DataFolder;
let service: ServiceProcess;
let burst: UpdateBurst;
const start = (): Promise<ServiceProcess> => startServiceProcess({ ...underTest, DATA_DIR: folder.path });

beforeEach(async () => {
  folder = await createDataFolder('secantusd-py');
  service = await start();
  burst = await startUpdateBurst({ url: service.url, prompts: 3, writers: 3 });
});
afterEach(async () => {
  await burst.pause();
  await service.stop();
  await folder.remove();
});

/** Waits until this number of additional updates was acknowledged. */
async function progress(updates: number): Promise<void> {
  const goal = burst.acknowledged + updates;
  const end = performance.now() + 20_000;
  while (burst.acknowledged < goal) {
    if (performance.now() > end) throw new Error('no update was acknowledged for 20 s');
    await sleep(5);
  }
}

async function expectSound(): Promise<void> {
  const sound = { lost: 0, missing: 0, duplicated: 0, phantom: 0, unannounced: 0, overannounced: 0, unexpected: 0 };
  expect(await burst.verify(service.url)).toMatchObject(sound);
}

describe('kill -9 during a burst of updates', () => {
  it('of the service: the next process has every acknowledged update, and every version once', async () => {
    for (let kill = 0; kill < kills; kill += 1) {
      await progress(30);
      const database = await folder.databasePid();
      await service.kill();
      await burst.pause();
      service = await start();
      // The database server ended with the service.
      expect(await folder.databasePid()).not.toBe(database);
      await expectSound();
      burst.resume(service.url);
    }
    await progress(10);
  });

  it('of the database: the service restarts it, and every acknowledged update is there', async () => {
    for (let kill = 0; kill < kills; kill += 1) {
      await progress(30);
      const killed = await folder.databasePid();
      process.kill(killed, 'SIGKILL');
      // The service was not restarted, and nothing else started the database.
      await progress(10);
      expect(await folder.databasePid()).not.toBe(killed);
      await burst.pause();
      await expectSound();
      burst.resume(service.url);
    }
  });

  it('of both at the same time', async () => {
    await progress(30);
    process.kill(await folder.databasePid(), 'SIGKILL');
    await service.kill();
    await burst.pause();
    service = await start();
    await expectSound();
    burst.resume(service.url);
    await progress(10);
  });
});
