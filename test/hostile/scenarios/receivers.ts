import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { percentile } from '../../faults/webhooks/percentile.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { startMockProvider } from '../../support/mock-provider.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import type { EndlessKind } from '../endless-receiver.ts';
import { figuresOf, type Figure, type Scenario, type Target } from '../hostile-world.ts';

const ordersPerSecond = 20;
const seconds = 10;

/** Names whose servers never answer must not delay receivers and providers with other names. */
const silentNames: Scenario = {
  name: 'silent-names',
  about: `12 receivers and a provider by names that are never answered, healthy ones by name beside them, for ${seconds} s`,
  async run(world) {
    const names = await startDnsServer((name) => (name.startsWith('healthy') ? ['127.0.0.1'] : 'silence'));
    const provider = await startMockProvider();
    const receiver = await startReceiver();
    try {
      const compatible = (id: string, host: string): object => ({
        id,
        name: id,
        models: ['m'],
        api_key: 'EXAMPLE',
        base_url: `http://${host}:${new URL(provider.url).port}/v1`,
      });
      const target = await world.startTarget({
        DNS_SERVERS: names.address,
        OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([
          compatible('healthy', 'healthy-provider.test'),
          compatible('silent', 'silent-provider.test'),
        ]),
      });
      const order = await createShop(target);
      for (let each = 0; each < 12; each += 1) await addReceiver(target, `http://silent-${each}.test/hook`);
      await addReceiver(target, `http://healthy.test:${receiver.port}/hook`);
      const watching = await world.watch(target);
      const [deliveries, invocations] = await Promise.all([
        placeOrders(target, order, receiver),
        invokeAgainAndAgain(target),
      ]);
      return [...deliveries, ...invocations, ...figuresOf(await watching.stop())];
    } finally {
      await Promise.all([names.close(), provider.close(), receiver.close()]);
    }
  },
};

/** Answers that never reach their status must cost no more than other failures. */
const endlessHeads: Scenario = {
  name: 'endless-heads',
  about: `6 receivers whose status line, headers or informational answers never end, a healthy one, for ${seconds} s`,
  async run(world) {
    const receiver = await startReceiver();
    const kinds: EndlessKind[] = ['status-line', 'headers', 'informational', 'status-line', 'headers', 'informational'];
    const workers: Worker[] = [];
    try {
      const target = await world.startTarget();
      const order = await createShop(target);
      for (const kind of kinds) {
        const worker = new Worker(path.join(import.meta.dirname, '../endless-receiver.ts'), { workerData: kind });
        workers.push(worker);
        const [port] = (await once(worker, 'message')) as [number];
        await addReceiver(target, `http://127.0.0.1:${port}/hook`);
      }
      await addReceiver(target, receiver.url);
      const watching = await world.watch(target);
      const deliveries = await placeOrders(target, order, receiver);
      return [...deliveries, ...figuresOf(await watching.stop())];
    } finally {
      await Promise.all([receiver.close(), ...workers.map((worker) => worker.terminate())]);
    }
  },
};

export const scenarios: readonly Scenario[] = [silentNames, endlessHeads];

async function create(target: Target, at: string, body: unknown): Promise<string> {
  const answer = await target.call('POST', at, { body });
  if (answer.status !== 201) throw new Error(`POST ${at} was answered ${answer.status}`);
  return (answer.body as { id: string }).id;
}

function addReceiver(target: Target, url: string): Promise<string> {
  return create(target, '/api/v1/integrations', { name: 'Receiver', url, event_types: ['ORDER_PLACED'] });
}

/** @returns the body of a request for an order */
async function createShop(target: Target): Promise<unknown> {
  const location_id = await create(target, '/v1/locations', {
    name: 'Canal',
    currency: 'EUR',
    time_zone: 'Europe/Amsterdam',
  });
  const category_id = await create(target, '/v1/categories', { location_id, name: 'Drinks' });
  const product_id = await create(target, '/v1/products', { location_id, category_id, name: 'Coffee', price: 380 });
  return { location_id, items: [{ product_id, quantity: 1 }] };
}

/** Places orders at a steady rate. @returns the time from an order to the arrival at the healthy receiver */
async function placeOrders(target: Target, order: unknown, receiver: Receiver): Promise<Figure[]> {
  const count = ordersPerSecond * seconds;
  const placing: Promise<{ status: number }>[] = [];
  for (let each = 0; each < count; each += 1) {
    placing.push(target.call('POST', '/v1/orders', { body: order }));
    await sleep(1_000 / ordersPerSecond);
  }
  const answers = await Promise.all(placing);
  await Promise.race([receiver.received(count), sleep(5_000)]);
  const times = receiver.requests.map(({ at, body }) => {
    const { createdAt } = JSON.parse(body.toString()) as { createdAt: string };
    return at - Date.parse(createdAt);
  });
  return [
    { name: 'orders refused', value: answers.filter(({ status }) => status !== 201).length, atMost: 0 },
    { name: 'events that the healthy receiver did not get', value: count - times.length, atMost: 0 },
    { name: "healthy deliveries' p50", value: percentile(times, 0.5), unit: 'ms' },
    { name: "healthy deliveries' p95", value: percentile(times, 0.95), unit: 'ms', atMost: 250 },
  ];
}

/** Calls the healthy provider while other callers wait for the silent one. */
async function invokeAgainAndAgain(target: Target): Promise<Figure[]> {
  const prompt = await create(target, '/api/v1/prompts', {
    name: 'Greeting',
    messages: [{ role: 'user', content: 'Hello' }],
  });
  const invoke = (provider: string): Promise<{ status: number }> =>
    target.call('POST', `/api/v1/prompts/${prompt}/invoke`, { body: { provider, model: 'm' } });
  const silent: Promise<{ status: number }>[] = [];
  const statuses: number[] = [];
  const times: number[] = [];
  for (const end = performance.now() + seconds * 1_000; performance.now() < end;) {
    silent.push(invoke('silent'));
    const started = performance.now();
    statuses.push((await invoke('healthy')).status);
    times.push(performance.now() - started);
    await sleep(200);
  }
  await Promise.all(silent);
  return [
    {
      name: 'invocations of the healthy provider that failed',
      value: statuses.filter((each) => each !== 200).length,
      atMost: 0,
    },
    { name: "healthy invocations' p95", value: percentile(times, 0.95), unit: 'ms', atMost: 200 },
  ];
}
