/**
 * `npm run program -- bench:feed` measures what streams of the feed of events cost while nothing happens, how long orders
 * take to their readers at rest, and what they cost while orders are placed. `-- --streams 1000 --seconds 30`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { checkSetting, fastEngine, startDatabaseServer } from '../support/database-server.ts';
import { followEvents } from '../support/follow-events.ts';
import { silentLog } from '../support/log.ts';
import { adminKey, send } from '../support/send.ts';
import { startServiceProcess, underTest } from '../support/service-process.ts';
import { percentile } from '../faults/webhooks/percentile.ts';
import { cpuTime, residentMemory } from './processes.ts';

const { values } = parseArgs({
  options: { streams: { type: 'string', default: '1000' }, seconds: { type: 'string', default: '30' } },
});
const [count, seconds] = [Number(values.streams), Number(values.seconds)];

const folder = await mkdtemp(path.join(tmpdir(), 'bench-feed-'));
const database = await startDatabaseServer(fastEngine, silentLog);
const service = await startServiceProcess({
  ...{ ...underTest, ...checkSetting(fastEngine) },
  ...{ DATA_DIR: folder, MONGODB_URI: database.uri },
});
const stored = async (method: string, target: string, body: unknown): Promise<{ id: string }> => {
  const answer = await send(service, method, target, body);
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as { id: string };
};

/** The part of one core that the service uses, in percent. */
async function measureCpu(): Promise<string> {
  const before = await cpuTime(service.pid);
  await sleep(seconds * 1_000);
  return (((await cpuTime(service.pid)) - before) / (seconds * 10)).toFixed(2);
}

try {
  const location = await stored('POST', '/v1/locations', { name: 'Bench', currency: 'EUR', time_zone: 'UTC' });
  const category = await stored('POST', '/v1/categories', { location_id: location.id, name: 'Drinks' });
  const product = await stored('POST', '/v1/products', {
    ...{ location_id: location.id, category_id: category.id, name: 'Coffee', price: 300 },
  });
  const order = { location_id: location.id, items: [{ product_id: product.id, quantity: 1 }] };
  await sleep(5_000);
  const alone = await measureCpu();
  const memory = await residentMemory(service.pid);

  const streams = Array.from({ length: count }, () =>
    request(`${service.url}/api/v1/events?after=now`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${adminKey}` },
    }),
  );
  const opened = streams.map(async (stream) => {
    await new Promise((resolve, reject) => {
      stream.on('error', reject);
      stream.once('response', (response) => {
        response.on('error', () => undefined);
        response.resume();
        if (response.statusCode === 200) resolve(undefined);
        else reject(new Error(`A stream was answered with ${response.statusCode}.`));
      });
      stream.end();
    });
  });
  await Promise.all(opened);
  await sleep(5_000);
  console.log(`idle, no streams: ${alone} % of a core; with ${count} streams: ${await measureCpu()} %`);
  const more = (await residentMemory(service.pid)) - memory;
  console.log(`memory: ${memory.toFixed(0)} MiB, and ${more.toFixed(0)} MiB for the streams`);

  const reader = followEvents({ url: service.url, adminKey }, '/api/v1/events?after=now');
  await reader.next();
  const delays: number[] = [];
  for (let each = 0; each < 100; each += 1) {
    await sleep(100 + 200 * Math.random());
    const began = performance.now();
    const placed = stored('POST', '/v1/orders', order);
    await reader.next();
    delays.push(performance.now() - began);
    await placed;
  }
  const at = (share: number): string => percentile(delays, share).toFixed(0);
  console.log(`from the request of an order to a reader, ${count} others: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`);
  reader.close();
  for (const stream of streams) stream.destroy();
} finally {
  await service.stop();
  await database.stop();
  await rm(folder, { recursive: true, force: true });
}
