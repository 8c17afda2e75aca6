import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';

export interface StreamSettings {
  /** Addresses of the running services. */
  readonly urls: () => readonly string[];
  readonly key: string;
  /** The location of an order. */
  readonly body: unknown;
  /** Orders per second, as far as the services can keep up. */
  readonly rate: number;
  /** Products whose prices change. */
  readonly products: readonly string[];
}

/** Places orders at a steady rate, whatever happens to the services, and changes some products. */
export interface OrderStream {
  /** Ids of acknowledged orders by their idempotency keys. */
  readonly acknowledged: ReadonlyMap<string, string>;
  /** The time of each acknowledgment, by the id of the order, in milliseconds since the epoch. */
  readonly acknowledgedAt: ReadonlyMap<string, number>;
  /** Acknowledged changes of products. */
  readonly changes: number;
  /** Requests that were not acknowledged, and were sent again. */
  readonly repeated: number;
  /** Orders per second so far. */
  readonly rate: number;
  /** Places no more orders, and waits until all orders that were started are acknowledged. */
  stop(): Promise<void>;
  /** Sends the order of a key again. @returns the id of the order */
  repeat(key: string): Promise<string>;
}

/**
 * The limit of simultaneous requests. Requests that wait to be sent again do not count, because a killed process leaves
 * many of them.
 */
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
  /** Set by `stop`. */
  let failure: unknown;

  /** Sends a request to one service after the other until one of them acknowledges it. */
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
            method,
            body: content,
            dispatcher: agent,
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
          });
          const received = await answer.body.text();
          if (answer.statusCode < 300) return JSON.parse(received) as { id: string };
          last = `${answer.statusCode} ${received}`;
          // After a crash the key is in use until the lease of the failed request ends.
          pause = Math.max(pause, Number(answer.headers['retry-after'] ?? 0) * 1_000);
          if (answer.statusCode < 500 && answer.statusCode !== 409) throw new Error(`${method} ${path}: ${last}`);
        } catch (error) {
          // Connection errors have codes.
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

  // Changes are sent one after the other, each with a new price. So a repeated change has no second effect.
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
