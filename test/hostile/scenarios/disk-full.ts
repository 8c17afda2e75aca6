import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createFsBlobStore } from '../../../src/storage/blobs/fs-blob-store.ts';
import { send } from '../../support/send.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import type { CallResult, Figure, Scenario, Target, World } from '../hostile-world.ts';

const run = promisify(execFile);
const mebibyte = 1_048_576;
/** Milliseconds that the disk stays full after callers have noticed. */
const fullForMs = 8_000;
/** An engine with a preallocated journal continues until the journal is full. */
const noticeLimitMs = 60_000;
const recoveryLimitMs = 60_000;

/** A small file system in memory. @returns undefined if this user cannot mount */
async function mountSmallDisk(): Promise<{ folder: string; unmount(): Promise<void> } | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), 'small-disk-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=400m', 'tmpfs', folder]);
  } catch {
    await rm(folder, { recursive: true });
    return undefined;
  }
  return {
    folder,
    async unmount() {
      await run('umount', ['-l', folder]);
      await rm(folder, { recursive: true });
    },
  };
}

/** Writes a file until the file system is full. */
async function fill(file: string): Promise<void> {
  const handle = await open(file, 'w');
  try {
    for (let size = mebibyte; size >= 4_096;) {
      const isFull = await handle.appendFile(Buffer.alloc(size)).then(
        () => false,
        () => true,
      );
      if (isFull) size /= 2;
    }
  } finally {
    await handle.close();
  }
}

/** The answers: the count of each status with each problem type, and the acknowledged writes. */
interface Traffic {
  readonly counts: Map<string, number>;
  readonly acknowledged: string[];
  /** The time of the last write. */
  lastWrite: number;
  stop(): Promise<void>;
}

function startTraffic(target: Target, read: string): Traffic {
  const counts = new Map<string, number>();
  const acknowledged: string[] = [];
  const count = (kind: string, { status, body }: CallResult): void => {
    const type = String((body as { type?: unknown } | undefined)?.type ?? '').replace(/^.*:/, '');
    const key = `${kind} ${status}${status < 400 ? '' : ` ${type}`}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  let running = true;
  const write = async (): Promise<void> => {
    const body = { name: 'Stored', messages: [{ role: 'user', content: 'x'.repeat(200_000) }] };
    const answer = await target.call('POST', '/api/v1/prompts', { body });
    count('write', answer);
    traffic.lastWrite = answer.status;
    if (answer.status === 201) acknowledged.push((answer.body as { id: string }).id);
  };
  const readOnce = async (): Promise<void> => {
    count('read', await target.call('GET', read));
  };
  const repeat = async (action: () => Promise<void>): Promise<void> => {
    while (running) {
      await action();
      await sleep(20);
    }
  };
  const loops = [repeat(write), repeat(write), repeat(readOnce)];
  const traffic: Traffic = {
    counts,
    acknowledged,
    lastWrite: 0,
    async stop() {
      running = false;
      await Promise.all(loops);
    },
  };
  return traffic;
}

async function until(isSo: () => Promise<boolean> | boolean, limitMs: number): Promise<number> {
  const started = performance.now();
  while (!(await isSo()) && performance.now() - started < limitMs) await sleep(50);
  return performance.now() - started;
}

async function fillAndFree(world: World, folder: string): Promise<Figure[]> {
  const target = await world.startTarget({}, { parent: folder });
  try {
    const made = await target.call('POST', '/api/v1/prompts', {
      body: { name: 'Read', messages: [{ role: 'user', content: 'Hello' }] },
    });
    const traffic = startTraffic(target, `/api/v1/prompts/${(made.body as { id: string }).id}`);
    await sleep(500);
    const ballast = path.join(folder, 'ballast');
    await fill(ballast);
    const readiness = async (): Promise<string> => {
      const { status, body } = await target.call('GET', '/health/ready', { key: null });
      return status === 200 ? 'ready' : String((body as { type: string }).type).replace(/^.*:/, '');
    };
    const noticedMs = await until(async () => (await readiness()) === 'storage-full', noticeLimitMs);
    await until(() => traffic.counts.has('write 503 storage-full'), noticeLimitMs);
    await sleep(fullForMs);
    const refusal = await createFsBlobStore(path.join(folder, 'files'))
      .put('results/one.json', new Uint8Array(mebibyte), 'application/json')
      .catch((error: unknown) => error);
    await rm(ballast);
    const freed = performance.now();
    await until(async () => (await readiness()) === 'ready', recoveryLimitMs);
    await until(() => traffic.lastWrite === 201, recoveryLimitMs);
    const recoveryMs = performance.now() - freed;
    await sleep(1_000);
    await traffic.stop();
    const missing: string[] = [];
    for (const id of traffic.acknowledged) {
      if ((await target.call('GET', `/api/v1/prompts/${id}`)).status !== 200) missing.push(id);
    }
    const sum = (pattern: RegExp): number =>
      [...traffic.counts].reduce((total, [key, number]) => total + (pattern.test(key) ? number : 0), 0);
    return [
      { name: 'readiness said storage-full after', value: noticedMs, unit: 'ms', atMost: 5_000 },
      { name: 'answers 500', value: sum(/ 500/), atMost: 0 },
      { name: 'answers 503 storage-full', value: sum(/ 503 storage-full/), atLeast: 1 },
      { name: 'answers 503 database-unavailable', value: sum(/ 503 database-unavailable/) },
      {
        name: 'answers with another failure',
        value: sum(/ (4\d\d|50[^03]|503 (?!storage-full|database-unavailable))/),
        atMost: 0,
      },
      {
        name: 'a file was refused as storage-full',
        value: (refusal as { type?: string }).type === 'storage-full' ? 1 : 0,
        atLeast: 1,
      },
      { name: 'until everything worked again', value: recoveryMs, unit: 'ms', atMost: 20_000 },
      { name: 'writes acknowledged', value: traffic.acknowledged.length, atLeast: 1 },
      { name: 'of them lost', value: missing.length, atMost: 0 },
    ];
  } finally {
    await target.stop();
  }
}

/**
 * Fills the disk, and kills the service. The database that keeps running cannot read. The next start must replace it.
 */
async function fillAndKill(world: World, folder: string): Promise<Figure[]> {
  const target = await world.startTarget({}, { parent: folder });
  const made = await target.call('POST', '/api/v1/prompts', {
    body: { name: 'Read', messages: [{ role: 'user', content: 'Hello' }] },
  });
  const read = `/api/v1/prompts/${(made.body as { id: string }).id}`;
  const traffic = startTraffic(target, read);
  const ballast = path.join(folder, 'ballast');
  await fill(ballast);
  await until(() => traffic.counts.has('write 503 storage-full'), noticeLimitMs);
  await traffic.stop();
  await target.kill();
  await rm(ballast);
  const started = performance.now();
  const next = await startServiceProcess(target.environment);
  const answer = await send(next, 'GET', read);
  const startMs = performance.now() - started;
  await next.stop();
  return [
    { name: 'until the next start answered', value: startMs, unit: 'ms', atMost: 20_000 },
    { name: 'status of a read', value: answer.status, atLeast: 200, atMost: 200 },
  ];
}

/** A scenario on a small disk. */
function onSmallDisk(name: string, about: string, act: (world: World, folder: string) => Promise<Figure[]>): Scenario {
  return {
    name,
    about,
    async run(world) {
      const disk = await mountSmallDisk();
      if (disk === undefined) return 'this user cannot mount a file system (it needs root)';
      try {
        return await act(world, disk.folder);
      } finally {
        await disk.unmount();
      }
    },
  };
}

export const scenarios: readonly Scenario[] = [
  onSmallDisk(
    'disk-full',
    'the disk of the data folder is filled under load for 8 s, then freed; nothing is restarted',
    fillAndFree,
  ),
  onSmallDisk('disk-full-killed', 'the same, but the service is killed with kill -9 and started again', fillAndKill),
];
