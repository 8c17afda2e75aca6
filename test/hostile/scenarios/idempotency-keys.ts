import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../../support/send.ts';
import { startServiceProcess, type ServiceProcess } from '../../support/service-process.ts';
import type { Figure, Scenario, Target } from '../hostile-world.ts';

const kills = 5;
const writers = 24;
/** The time that a key may stay in use before the scenario gives up, in milliseconds. */
const limitMs = 120_000;

interface KeyedRequest {
  readonly path: string;
  readonly key: string;
  readonly body: Record<string, unknown>;
}

/** Sends a request. @returns its status and the seconds to wait; status 0 if the connection broke */
async function attempt(
  url: string,
  { path, key, body }: KeyedRequest,
): Promise<{ status: number; retryAfter: number }> {
  try {
    const limit = AbortSignal.timeout(30_000);
    const response = await send({ url }, 'POST', path, body, { 'idempotency-key': key }, limit);
    await response.text();
    return { status: response.status, retryAfter: Number(response.headers.get('retry-after') ?? 0) };
  } catch {
    return { status: 0, retryAfter: 0 };
  }
}

/** Repeats a request until it succeeds, and follows `Retry-After`. @returns milliseconds */
async function untilAnswered(url: string, request: KeyedRequest): Promise<number> {
  const started = performance.now();
  for (;;) {
    const { status, retryAfter } = await attempt(url, request);
    const took = performance.now() - started;
    if (status >= 200 && status < 300) return took;
    if (took > limitMs) return Infinity;
    await sleep(Math.max(100, retryAfter * 1_000));
  }
}

const killed: Scenario = {
  name: 'idempotency-keys',
  about: `${kills} times kill -9 of one of two processes in the middle of ${writers} requests with Idempotency-Keys`,
  async run(world) {
    const target = await world.startTarget();
    const start = (): Promise<ServiceProcess> => startServiceProcess(target.environment);
    const requests = await preparedRequests(target);
    const written: number[] = [];
    const paid: number[] = [];
    let names = 0;
    for (let round = 0; round < kills; round += 1) {
      const victim = await start();
      const cut: KeyedRequest[] = [];
      const write = async (): Promise<void> => {
        for (;;) {
          const request = requests();
          if ('name' in request.body) names += 1;
          const { status } = await attempt(victim.url, request);
          if (status >= 200 && status < 300) continue;
          cut.push(request);
          return;
        }
      };
      const writing = Array.from({ length: writers }, write);
      await sleep(1_500 + 500 * Math.random());
      await victim.kill();
      await Promise.all(writing);
      const again = async (request: KeyedRequest): Promise<void> => {
        const took = await untilAnswered(target.url, request);
        (request.path.endsWith('/test') ? paid : written).push(took);
      };
      await Promise.all(cut.map(again));
    }
    const { body } = await target.call('GET', '/api/v1/prompts?limit=1');
    const figures: Figure[] = [
      { name: 'requests that were cut off', value: written.length + paid.length, atLeast: kills },
      { name: 'until the last key of a write was answered', value: Math.max(...written), unit: 'ms', atMost: 6_000 },
      {
        name: 'until the last key of a test run was answered',
        value: Math.max(0, ...paid),
        unit: 'ms',
        atMost: 60_000,
      },
      { name: 'prompts made twice', value: body.pagination.total - 1 - names, atMost: 0 },
      { name: 'prompts lost', value: names - (body.pagination.total - 1), atMost: 0 },
    ];
    return figures;
  },
};

/**
 * Creates the resources that requests change. @returns a function that makes the next request, each with its own key
 */
async function preparedRequests(target: Target): Promise<() => KeyedRequest> {
  const made = async (path: string, body: unknown): Promise<string> =>
    ((await target.call('POST', path, { body })).body as { id: string }).id;
  const messages = [{ role: 'user', content: 'Hello' }];
  const prompt = await made('/api/v1/prompts', { name: 'Tested', messages });
  const location = await made('/v1/locations', { name: 'Here', currency: 'EUR', time_zone: 'Europe/Berlin' });
  const category = await made('/v1/categories', { location_id: location, name: 'Coffee' });
  const product = await made('/v1/products', { location_id: location, category_id: category, name: 'Flat', price: 1 });
  let count = 0;
  return () => {
    count += 1;
    const key = randomUUID();
    if (count % 3 === 0) {
      return {
        path: '/v1/orders',
        key,
        body: { location_id: location, items: [{ product_id: product, quantity: 1 }] },
      };
    }
    if (count % 3 === 1) return { path: '/api/v1/prompts', key, body: { name: `Prompt ${key}`, messages } };
    return { path: `/api/v1/prompts/${prompt}/test`, key, body: { providers: [{ provider: 'echo' }] } };
  };
}

export const scenarios: readonly Scenario[] = [killed];
