import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Pool } from 'undici';
import { createPools, type Pools } from '../../../src/base/outbound/pools.ts';

let server: Server;
let origin: string;
let waiting: ServerResponse[];
let onRequest: () => void;
let pools: Pools;
beforeEach(async () => {
  waiting = [];
  onRequest = () => undefined;
  server = createServer((_request, response) => {
    waiting.push(response);
    onRequest();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  pools = createPools({});
});
afterEach(async () => {
  await pools.destroy();
  server.closeAllConnections();
  server.close();
});

/** A request that the server has got, and its status or the code of its failure. */
async function begin(pool: Pool): Promise<{ answered: Promise<unknown> }> {
  const got = new Promise<void>((resolve) => {
    onRequest = resolve;
  });
  const answered = pool.request({ method: 'GET', path: '/' }).then(
    async ({ statusCode, body }) => {
      await body.dump();
      return statusCode;
    },
    ({ code }: { code: string }) => code,
  );
  await got;
  return { answered };
}

/** Ways in which a key gets another pool. */
const ways: Record<string, (pool: Pool) => void> = {
  renewed: (pool) => {
    pools.renew('key', pool);
  },
  'of a key that was not used for long': () => {
    for (let other = 0; other < 2_048; other += 1) pools.of(`other ${other}`, origin);
  },
};

describe.each(Object.entries(ways))('a pool that was %s', (_name, leave) => {
  it('ends its requests, and is replaced', async () => {
    const pool = pools.of('key', origin);
    const { answered } = await begin(pool);
    leave(pool);
    expect(pools.of('key', origin)).not.toBe(pool);
    waiting[0]?.end();
    expect(await answered).toBe(200);
    await expect(pool.request({ method: 'GET', path: '/' })).rejects.toMatchObject({ code: 'UND_ERR_CLOSED' });
  });

  it('is waited for', async () => {
    const pool = pools.of('key', origin);
    const { answered } = await begin(pool);
    leave(pool);
    let isClosed = false;
    const closed = pools.close().then(() => {
      isClosed = true;
    });
    await begin(createPools({}).of('key', origin));
    expect(isClosed).toBe(false);
    waiting[0]?.end();
    waiting[1]?.end();
    await closed;
    expect(await answered).toBe(200);
  });

  it('is destroyed with the others', async () => {
    const pool = pools.of('key', origin);
    const { answered } = await begin(pool);
    leave(pool);
    await pools.destroy();
    expect(await answered).toBe('UND_ERR_DESTROYED');
  });
});
