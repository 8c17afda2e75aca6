/**
 * `npm run program -- test:faults:prompts` kills the service and its database repeatedly during a burst of updates. Then it
 * measures the memory of a service under mixed traffic. It prints counts, and ends with exit code 1 if anything was
 * lost.
 *
 *     npm run program -- test:faults:prompts --service-kills 20 --database-kills 10 --soak-seconds 60
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startServiceProcess, underTest, type ServiceProcess } from '../support/service-process.ts';
import { createDataFolder, type DataFolder } from './data-folder.ts';
import { hasLevelledOff, soak } from './soak.ts';
import { isSound, startUpdateBurst, type UpdateBurst } from './update-burst.ts';

const { values } = parseArgs({
  options: {
    'service-kills': { type: 'string', default: '20' },
    'database-kills': { type: 'string', default: '10' },
    'soak-seconds': { type: 'string', default: '60' },
  },
});

const start = (folder: DataFolder): Promise<ServiceProcess> =>
  startServiceProcess({ ...underTest, DATA_DIR: folder.path });

async function progress(burst: UpdateBurst, updates: number): Promise<void> {
  const goal = burst.acknowledged + updates;
  const end = performance.now() + 30_000;
  while (burst.acknowledged < goal) {
    if (performance.now() > end) throw new Error('no update was acknowledged for 30 s');
    await sleep(5);
  }
}

/** Lets the writers write for a random time, so that kills hit every step of an update. */
async function writeForAMoment(burst: UpdateBurst): Promise<void> {
  await progress(burst, 30);
  await sleep(Math.random() * 300);
}

async function killServices(kills: number): Promise<boolean> {
  const folder = await createDataFolder();
  let service = await start(folder);
  const burst = await startUpdateBurst({ url: service.url, prompts: 4, writers: 4 });
  for (let kill = 0; kill < kills; kill += 1) {
    await writeForAMoment(burst);
    await service.kill();
    await burst.pause();
    service = await start(folder);
    burst.resume(service.url);
  }
  return finish(`${kills} kills of the service`, folder, service, burst);
}

async function killDatabases(kills: number): Promise<boolean> {
  const folder = await createDataFolder();
  const service = await start(folder);
  const burst = await startUpdateBurst({ url: service.url, prompts: 4, writers: 4 });
  for (let kill = 0; kill < kills; kill += 1) {
    await writeForAMoment(burst);
    process.kill(await folder.databasePid(), 'SIGKILL');
  }
  return finish(`${kills} kills of the database`, folder, service, burst);
}

async function finish(what: string, folder: DataFolder, service: ServiceProcess, burst: UpdateBurst): Promise<boolean> {
  await progress(burst, 30);
  await burst.pause();
  const counts = await burst.verify(service.url);
  const engine = service.messages.find((line) => line.startsWith('Database: ') && line.includes('data in')) ?? '';
  const { code } = await service.stop();
  await folder.remove();
  const numbers = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  console.log(`${what} (${/: (.*),/.exec(engine)?.[1] ?? 'unknown engine'}): ${numbers.join(', ')}`);
  return isSound(counts) && code === 0;
}

async function soakOne(seconds: number): Promise<boolean> {
  const folder = await createDataFolder();
  const { requests, faults, residentMebibytes, heapMebibytes } = await soak(folder, seconds);
  await folder.remove();
  const show = (samples: readonly number[]): string => samples.map((amount) => Math.round(amount)).join(' ');
  console.log(`${seconds} s of mixed traffic: ${requests} requests, ${faults} faults; memory in MiB once a second:`);
  console.log(`  heap      ${show(heapMebibytes)}`);
  console.log(`  resident  ${show(residentMebibytes)}`);
  // Memory outside the heap (code, buffers, free lists) takes some minutes to become stable.
  return faults === 0 && hasLevelledOff(heapMebibytes, 1.15) && hasLevelledOff(residentMebibytes, 1.25);
}

const outcomes = [
  await killServices(Number(values['service-kills'])),
  await killDatabases(Number(values['database-kills'])),
  await soakOne(Number(values['soak-seconds'])),
];
const failed = outcomes.includes(false);
console.log(failed ? 'FAILED' : 'Nothing was lost, and memory levels off.');
process.exitCode = failed ? 1 : 0;
