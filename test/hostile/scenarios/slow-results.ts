import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMemory } from '../../bench/processes.ts';
import { startObjectStorage } from '../../support/object-storage.ts';
import { figuresOf, type Figure, type Scenario, type Target, type World } from '../hostile-world.ts';

const callers = 64;
/** The highest rate at which a caller reads, and how long all of them read. */
const bytesASecond = 256 * 1024;
const readingMs = 20_000;

/** Creates a run with 8 MB of results. @returns the path of its results */
async function largeRun(target: Target): Promise<string> {
  const prompt = await target.call('POST', '/api/v1/prompts', {
    body: { name: 'Any', messages: [{ role: 'user', content: '{{text}}' }] },
  });
  const run = await target.call('POST', `/api/v1/prompts/${(prompt.body as { id: string }).id}/test`, {
    body: {
      providers: Array.from({ length: 8 }, () => ({ provider: 'echo' })),
      variables: { text: 'x'.repeat(1_000_000) },
    },
  });
  return `/api/v1/test-runs/${(run.body as { id: string }).id}/results`;
}

/** Reads slowly for a while and closes the connection. @returns whether the answer was a 200 and was not cut before */
async function readSlowly(target: Target, path: string, until: number): Promise<boolean> {
  const headers = { authorization: `Bearer ${target.adminKey}` };
  const asked = request(`${target.url}${path}`, { headers, agent: false }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  let isCut = response.statusCode !== 200;
  for (const stream of [asked, response]) stream.on('error', () => (isCut = true));
  const started = performance.now();
  let taken = 0;
  while (!isCut && !response.readableEnded && performance.now() < until) {
    const allowed = ((performance.now() - started) / 1_000) * bytesASecond;
    const chunk = taken < allowed ? (response.read() as Buffer | null) : null;
    taken += chunk?.length ?? 0;
    if (chunk === null) await sleep(20);
  }
  response.on('error', () => undefined).destroy();
  return !isCut;
}

async function readByMany(world: World, environment: Readonly<Record<string, string>>): Promise<Figure[]> {
  const target = await world.startTarget(environment);
  const path = await largeRun(target);
  // The heap grows with any work. This measures the memory that slow callers add.
  for (let round = 0; round < 16; round += 1) {
    await Promise.all(Array.from({ length: 8 }, () => target.call('GET', path)));
  }
  const before = await residentMemory(target.pid);
  const watching = await world.watch(target);
  const until = performance.now() + readingMs;
  const reads = await Promise.all(
    Array.from({ length: callers }, () => readSlowly(target, path, until).catch(() => false)),
  );
  const seen = await watching.stop();
  return [
    { name: 'served to their end or until they hung up', value: reads.filter(Boolean).length, atLeast: callers },
    { name: 'memory before', value: before, unit: 'MiB' },
    {
      name: 'memory of each stream',
      value: ((seen.serviceMebibytes - before) * 1_024) / callers,
      unit: 'KiB',
      // A bucket needs three times as much as a file, because the SDK reads ahead.
      atMost: 1_536,
    },
    ...figuresOf(seen, { serviceMebibytes: 400 }),
  ];
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'slow-results',
    about: `${callers} callers read results of 8 MB from files, ${bytesASecond / 1024} KiB a second`,
    run: (world) => readByMany(world, {}),
  },
  {
    name: 'slow-results-bucket',
    about: `${callers} callers read results of 8 MB from a bucket, ${bytesASecond / 1024} KiB a second`,
    run: async (world: World): Promise<Figure[]> => {
      const storage = await startObjectStorage();
      try {
        return await readByMany(world, storage.environment);
      } finally {
        await storage.stop();
      }
    },
  },
];
