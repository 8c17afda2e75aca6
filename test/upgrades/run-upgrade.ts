/**
 * `npm run test:upgrades` makes a data folder with an earlier commit of this repository, on the embedded database, and
 * starts today's service on it: killed again and again until the data is migrated, the database too, then undisturbed.
 * It prints seconds, and counts what was lost. Of some orders the receivers of the earlier release never answer, so that
 * their deliveries wait: today's service sends them.
 *
 *     npm run test:upgrades -- --commit 00b71ea --orders 500 --receivers 20 --prompts 100 --kills 3
 *     npm run test:upgrades -- --commit 8573d25 --orders 1 --receivers 1000 --waiting 10
 */
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startServiceProcess } from '../support/service-process.ts';
import { adminKey, checkOut } from './earlier-release.ts';

const { values } = parseArgs({
  options: {
    commit: { type: 'string', default: '00b71ea' },
    orders: { type: 'string', default: '500' },
    receivers: { type: 'string', default: '20' },
    prompts: { type: 'string', default: '100' },
    kills: { type: 'string', default: '3' },
    waiting: { type: 'string', default: '2' },
  },
});
const [orderCount, receiverCount, promptCount, waitingCount] = [
  values.orders,
  values.receivers,
  values.prompts,
  values.waiting,
].map(Number) as [number, number, number, number];
const waitingDeliveries = waitingCount * receiverCount;
const temporary = await mkdtemp(path.join(tmpdir(), 'prompt-gateway-upgrade-'));
const original = path.join(temporary, 'original');
/** Milliseconds without any delivery: longer than the pause after a second failure. */
const patienceMs = 400_000;
const seconds = (since: number): string => `${((performance.now() - since) / 1_000).toFixed(1)} s`;

interface Written {
  readonly orders: string[];
  readonly prompts: string[];
  readonly integrations: string[];
}

/** How often each receiver accepted each event. */
const accepted = new Map<string, number>();
let isHanging = false;
const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    if (isHanging) return;
    const delivery = `${request.url} ${String(request.headers['webhook-id'])}`;
    accepted.set(delivery, (accepted.get(delivery) ?? 0) + 1);
    response.end();
  });
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const { port } = receiver.address() as AddressInfo;

/** Fills a data folder with the earlier release. */
async function fill(): Promise<Written> {
  const release = await checkOut(values.commit);
  const service = await release.start({ DATA_DIR: original, RATE_LIMIT: 'off', ...withoutOtherEngines });
  const { call } = service;
  const written: Written = { orders: [], prompts: [], integrations: [] };
  for (let index = 0; index < promptCount; index += 1) {
    const messages = [{ role: 'user', content: `Hello {{name}}, ${index}` }];
    written.prompts.push((await call('POST', '/api/v1/prompts', { name: `Prompt ${index}`, messages })).id as string);
  }
  const location = await call('POST', '/v1/locations', {
    name: 'Canal',
    currency: 'EUR',
    timezone: 'Europe/Amsterdam',
  });
  const category = await call('POST', '/v1/categories', { location_id: location.id, name: 'Hot drinks' });
  const product = await call('POST', '/v1/products', {
    location_id: location.id,
    category_id: category.id,
    name: 'Flat white',
    price: 420,
  });
  for (let index = 0; index < receiverCount; index += 1) {
    const { id } = await call('POST', '/api/v1/integrations', {
      name: `Receiver ${index}`,
      url: `http://127.0.0.1:${port}/${index}`,
      event_types: ['ORDER_PLACED'],
    });
    written.integrations.push(id as string);
  }
  const order = { location_id: location.id, items: [{ product_id: product.id, quantity: 1 }] };
  const place = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= 5) {
      const some = Array.from({ length: Math.min(5, left) }, () => call('POST', '/v1/orders', order));
      written.orders.push(...(await Promise.all(some)).map(({ id }) => id as string));
    }
  };
  await place(orderCount);
  while (accepted.size < orderCount * receiverCount) await sleep(500);
  // The results of the last deliveries are written.
  await sleep(5_000);
  isHanging = true;
  await place(waitingCount);
  for (const id of written.integrations) {
    const list = `/api/v1/integrations/${id}/deliveries?limit=1`;
    while ((await call('GET', list)).pagination.total < orderCount + waitingCount) await sleep(500);
  }
  await service.stop();
  await release.remove();
  receiver.closeAllConnections();
  isHanging = false;
  return written;
}

/** SecantusDB's Python server is what a newcomer gets: not another one that this machine happens to have. */
const withoutOtherEngines = {
  PATH: (process.env['PATH'] ?? '')
    .split(':')
    .filter((folder) => !folder.includes('.cargo'))
    .join(':'),
};

const start = (folder: string) =>
  startServiceProcess({
    DATA_DIR: folder,
    PORT: '0',
    ADMIN_API_KEY: adminKey,
    RATE_LIMIT: 'off',
    ...withoutOtherEngines,
  });

// oxlint-disable-next-line typescript/no-explicit-any -- read by name
async function get(url: string): Promise<any> {
  for (;;) {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${adminKey}`, accept: 'application/json' },
    }).catch(() => undefined);
    if (response?.ok === true) return response.json();
    await response?.body?.cancel();
    await sleep(500);
  }
}

async function untilMigrated(url: string): Promise<void> {
  while ((await get(url)).migration !== undefined) await sleep(500);
}

/** Counts what was written and cannot be read. */
async function countLost(url: string, written: Written): Promise<number> {
  let lost = 0;
  const all = new Set<string>();
  for (let next: string | undefined = '/v1/orders?limit=100'; next !== undefined;) {
    const { data, pagination } = await get(url + next);
    for (const { id } of data as { id: string }[]) all.add(id);
    next =
      pagination.next === undefined || pagination.next === null
        ? undefined
        : `/v1/orders?limit=100&after=${pagination.next}`;
  }
  lost += written.orders.filter((id) => !all.has(id)).length;
  for (const id of written.prompts) if ((await get(`${url}/api/v1/prompts/${id}`)).id !== id) lost += 1;
  for (const id of written.integrations) {
    // Walks the deliveries by the new indexes.
    let found = 0;
    const list = `/api/v1/integrations/${id}/deliveries?limit=100`;
    for (let after = ''; ;) {
      const { data, pagination } = await get(`${url}${list}${after}`);
      found += data.length as number;
      if (pagination.next === undefined || pagination.next === null) break;
      after = `&after=${pagination.next}`;
    }
    lost += Math.max(0, orderCount + waitingCount - found);
  }
  return lost;
}

/** Waits until the waiting deliveries are sent, or until no more come. */
async function countUnsent(): Promise<number> {
  for (let [before, end] = [accepted.size, performance.now() + patienceMs]; performance.now() < end; await sleep(500)) {
    if (accepted.size >= waitingDeliveries) return 0;
    if (accepted.size > before) [before, end] = [accepted.size, performance.now() + patienceMs];
  }
  return waitingDeliveries - accepted.size;
}

async function upgrade(
  what: string,
  folder: string,
  interrupt: () => Promise<string[]>,
  written: Written,
): Promise<number> {
  accepted.clear();
  const notes = await interrupt();
  const begin = performance.now();
  const service = await start(folder);
  const listening = seconds(begin);
  await untilMigrated(service.url);
  const migrated = seconds(begin);
  const unsent = await countUnsent();
  const sent = seconds(begin);
  const lost = await countLost(service.url, written);
  await service.stop();
  const again = [...accepted.values()].reduce((sum, times) => sum + times - 1, 0);
  console.log(
    `${what}: ${notes.map((note) => `${note}; `).join('')}listening after ${listening}, migrated after ${migrated}, ${lost} lost; ` +
      `${unsent} of ${waitingDeliveries} waiting deliveries not sent after ${sent}, ${again} sent again`,
  );
  return lost + unsent;
}

let begin = performance.now();
const written = await fill();
console.log(
  `${values.commit} wrote ${promptCount} prompts, ${orderCount} orders and ${orderCount * receiverCount} deliveries in ${seconds(begin)}`,
);
let lost = 0;
const killed = path.join(temporary, 'killed');
await cp(original, killed, { recursive: true });
lost += await upgrade('undisturbed', original, () => Promise.resolve([]), written);
lost += await upgrade(
  'killed',
  killed,
  async () => {
    const notes: string[] = [];
    for (let kill = 0; kill < Number(values.kills); kill += 1) {
      begin = performance.now();
      const service = await start(killed);
      const listening = seconds(begin);
      await sleep(2_000 + Math.random() * 6_000);
      await service.kill();
      const isWithDatabase = kill % 2 === 1;
      if (isWithDatabase) {
        const record = await readFile(path.join(killed, 'database', 'server.json'), 'utf8');
        process.kill((JSON.parse(record) as { pid: number }).pid, 'SIGKILL');
      }
      notes.push(`listening after ${listening}, killed${isWithDatabase ? ' with its database' : ''}`);
    }
    return notes;
  },
  written,
);
receiver.closeAllConnections();
receiver.close();
await rm(temporary, { recursive: true, force: true });
console.log(lost === 0 ? 'Nothing was lost.' : 'FAILED');
process.exitCode = lost === 0 ? 0 : 1;
