import { LRUCache } from 'lru-cache';
import { Pool } from 'undici';
import { mostHeadBytes } from './answer-head.ts';

/** Pools of kept connections. */
export interface Pools {
  /** The pool of a key, whose origin is always the same. */
  of(key: string, origin: string): Pool;
  /** Gives the key another pool, because the unused connections of this one may have been closed by its server. */
  renew(key: string, pool: Pool): void;
  /** Waits for the requests in progress, then closes the connections. */
  close(): Promise<void>;
  /** Fails the requests in progress, and closes the connections. */
  destroy(): Promise<void>;
}

/** The most pools that are kept. Others end their requests, then close their connections. */
const mostPools = 2_048;

/** Creates pools whose connections speak HTTP/1.1 with one request at a time, and have no time limits but these. */
export function createPools(
  options: Pick<Pool.Options, 'connect' | 'connections' | 'keepAliveTimeout' | 'keepAliveMaxTimeout'>,
): Pools {
  /** Those that get no more requests, while they have some. */
  const leaving = new Set<Pool>();
  const leave = (pool: Pool): void => {
    leaving.add(pool);
    void pool
      .close()
      // It was destroyed.
      .catch(() => undefined)
      .finally(() => leaving.delete(pool));
  };
  const pools = new LRUCache<string, Pool>({ max: mostPools, dispose: leave });
  const all = (): Pool[] => [...leaving, ...pools.values()];
  return {
    of(key, origin) {
      let pool = pools.get(key);
      if (pool === undefined) {
        pool = new Pool(origin, {
          ...options,
          pipelining: 1,
          allowH2: false,
          headersTimeout: 0,
          bodyTimeout: 0,
          maxHeaderSize: mostHeadBytes,
        });
        pools.set(key, pool);
      }
      return pool;
    },
    renew(key, pool) {
      if (pools.peek(key) === pool) pools.delete(key);
    },
    async close() {
      await Promise.all(all().map((pool) => pool.close()));
    },
    async destroy() {
      await Promise.all(all().map((pool) => pool.destroy()));
    },
  };
}
