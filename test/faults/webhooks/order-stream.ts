import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

export interface StreamSettings {
  /** Addresses of the services that are up. */
  readonly urls: () => readonly string[];
  readonly key: string;
  /** Of an order. */
  readonly body: unknown;
  /** Orders a second, as far as the services keep up. */
  readonly rate: number;
  /** Products whose prices are changed now and then. */
  readonly products: readonly string[];
}

/** Orders, placed at a steady rate whatever happens to the services, and a few changes of products beside them. */
export interface OrderStream {
  /** Ids of acknowledged orders by their idempotency keys. */
  readonly acknowledged: ReadonlyMap<string, string>;
  /** When each order was acknowledged, by its id, in milliseconds since the epoch. */
  readonly acknowledgedAt: ReadonlyMap<string, number>;
  /** Acknowledged changes of products. */
  readonly changes: number;
  /** Requests that were not acknowledged, and were sent again. */
  readonly repeated: number;
  /** Orders a second so far. */
  readonly rate: number;
  /** Places no more, and waits until all that were begun are acknowledged. */
  stop(): Promise<void>;
  /** Sends an order again under a key. @returns the order's id */
  repeat(key: string): Promise<string>;
}

/** Requests at once. What waits to be sent again is not counted: a killed process leaves many such behind. */
const activeAtMost = 64;
const pauseMs = 50;
const giveUpMs = 120_000;

export function startOrders({ urls, key, body, rate, products }: StreamSettings): OrderStream {
  const agent = new Agent({ connections: activeAtMost, headersTimeout: 3_000, bodyTimeout: 3_000 });
  const text = JSON.stringify(body);
  const acknowledged = new Map<string, string>();
  const acknowledgedAt = new Map<string, number>();
  let changes = 0;
  let repeated = 0;
  let turn = 0;
  let active = 0;
  let stopped = false;
  /** Told by `stop`. */
  let failure: unknown;

  /** Sends a request to one service after the other until one acknowledges it. */
  const persist = async (
    method: 'POST' | 'PUT',
    path: string,
    content: string,
    headers: Record<string, string>,
  ): Promise<{ id: string }> => {
    const end = performance.now() + giveUpMs;
    for (let last = 'nothing is up'; ;) {
      let pause = pauseMs;
      const up = urls();
      const url = up[(turn += 1) % Math.max(up.length, 1)];
      if (url !== undefined) {
        active += 1;
        try {
          const answer = await request(url + path, {
            ...{ method, body: content, dispatcher: agent },
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
          });
          const received = await answer.body.text();
          if (answer.statusCode < 300) return JSON.parse(received) as { id: string };
          last = `${answer.statusCode} ${received}`;
          // After a crash its key is in use until the lease of the dead request ends.
          pause = Math.max(pause, Number(answer.headers['retry-after'] ?? 0) * 1_000);
          if (answer.statusCode < 500 && answer.statusCode !== 409) throw new Error(`${method} ${path}: ${last}`);
        } catch (error) {
          // Errors of the connection have codes.
          if (error instanceof Error && !('code' in error)) throw error;
          last = String(error);
        } finally {
          active -= 1;
        }
      }
      if (performance.now() > end) throw new Error(`${method} ${path} was not acknowledged: ${last}`);
      repeated += 1;
      await sleep(pause);
    }
  };

  const place = async (idempotencyKey: string): Promise<string> => {
    const { id } = await persist('POST', '/v1/orders', text, { 'idempotency-key': idempotencyKey });
    return id;
  };

  const started = performance.now();
  let stoppedAt: number | undefined;

  const placing = (async () => {
    const underWay = new Set<Promise<void>>();
    for (let number = 0; !stopped; number += 1) {
      const wait = started + (number * 1_000) / rate - performance.now();
      if (wait > 1) await sleep(wait);
      while (active >= activeAtMost) await sleep(5);
      const idempotencyKey = randomUUID();
      const placed = place(idempotencyKey)
        .then((id) => {
          acknowledged.set(idempotencyKey, id);
          acknowledgedAt.set(id, Date.now());
        })
        .catch((error: unknown) => {
          failure ??= error;
        })
        .finally(() => underWay.delete(placed));
      underWay.add(placed);
    }
    await Promise.all(underWay);
  })();

  // One change after the other, each to a new price: a repetition of one that was applied changes nothing.
  const changing = products.map(async (id) => {
    for (let price = 1_000; !stopped; price += 1) {
      await persist('PUT', `/v1/products/${id}`, JSON.stringify({ price }), {});
      changes += 1;
      await sleep(200);
    }
  });
  for (const change of changing) change.catch((error: unknown) => (failure ??= error));

  return {
    acknowledged,
    acknowledgedAt,
    get changes() {
      return changes;
    },
    get repeated() {
      return repeated;
    },
    get rate() {
      return (acknowledged.size * 1_000) / ((stoppedAt ?? performance.now()) - started);
    },
    async stop() {
      stopped = true;
      stoppedAt ??= performance.now();
      await Promise.allSettled([placing, ...changing]);
      if (failure !== undefined) throw failure;
    },
    repeat: place,
  };
}
