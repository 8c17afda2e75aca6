/** `listen`, which sends events of the feed to a receiver. */
import { describe, expect, it } from '@jest/globals';
import { runCli } from '../../clients/typescript/src/cli/cli.ts';
import { unwrap } from '../../clients/typescript/src/webhooks.ts';
import { openShop, placeOrder } from '../orders/orders-harness.ts';
import { setUp } from '../support/per-operation.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

const setup = setUp();
const secret = 'EXAMPLE-not-a-real-secret-0123456789';

interface Running {
  readonly output: () => string;
  readonly errors: () => string;
  readonly code: Promise<number>;
  interrupt(): void;
}

function start(args: readonly string[], environment: Record<string, string> = {}): Running {
  let [output, errors] = ['', ''];
  const stopping = new AbortController();
  const code = runCli(
    ['listen', ...args],
    { PROMPT_GATEWAY_URL: setup.service.url, PROMPT_GATEWAY_API_KEY: setup.service.adminKey, ...environment },
    {
      write: (text) => (output += text),
      writeError: (text) => (errors += text),
      maxRetries: 0,
      interruption: () => stopping.signal,
    },
  );
  return {
    output: () => output,
    errors: () => errors,
    code,
    interrupt() {
      stopping.abort();
    },
  };
}

/** Waits until it knows where the feed ends. */
async function listening(running: Running): Promise<void> {
  const shop = await openShop(setup.service);
  await until(async () => {
    await placeOrder(setup.service, shop);
    return running.output().includes('ORDER_PLACED');
  });
}

describe('listen', () => {
  it('sends what happens from now on, signed, prints the answers, and goes on later', async () => {
    const receiver = await startReceiver();
    const shop = await openShop(setup.service);
    const running = start(['--forward-to', `${receiver.url}/hooks`, '--types', 'ORDER_PLACED,ORDER_CANCELED'], {
      PROMPT_GATEWAY_WEBHOOK_SECRET: secret,
    });
    await listening(running);
    const { id } = await placeOrder(setup.service, shop);
    await setup.service.call('POST', `/v1/orders/${id}/cancel`);
    await until(() => running.output().includes('ORDER_CANCELED'));
    const events = await Promise.all(receiver.requests.map(({ body, headers }) => unwrap(body, headers, secret)));
    expect(events.filter(({ targetId }) => targetId === id).map(({ type }) => type)).toEqual([
      'ORDER_PLACED',
      'ORDER_CANCELED',
    ]);
    const own = receiver.requests.find(({ headers }) => headers['x-service-event-target-id'] === id);
    expect(own?.headers).toMatchObject({ 'x-service-event-type': 'ORDER_PLACED' });
    running.interrupt();
    expect(await running.code).toBe(0);
    expect(running.output()).toMatch(/^\d\d:\d\d:\d\d ORDER_CANCELED [0-9a-f-]{36} 200 \d+ ms$/m);

    const [, after = ''] = /Go on with --after (\S+)/.exec(running.output()) ?? [];
    const next = await placeOrder(setup.service, shop);
    const again = start(['--forward-to', receiver.url, '--after', after]);
    await until(() => again.output().includes(' 200 '));
    expect(receiver.requests.at(-1)?.headers).toMatchObject({ 'x-service-event-target-id': next.id });
    const [, made = ''] = /secret (whsec_\S+)/.exec(again.output()) ?? [];
    const last = receiver.requests.at(-1);
    expect(await unwrap(last?.body ?? '', last?.headers ?? {}, made)).toMatchObject({ targetId: next.id });
    again.interrupt();
    await again.code;
    await receiver.close();
  });

  it('prints that a receiver does not answer, and does not send the event again', async () => {
    const receiver = await startReceiver();
    await receiver.close();
    const running = start(['--forward-to', receiver.url]);
    await listening(running);
    expect(running.output()).toMatch(/ORDER_PLACED [0-9a-f-]{36} ECONNREFUSED \d+ ms/);
    running.interrupt();
    expect(await running.code).toBe(0);
  });

  it('ends with the reason if the service refuses', async () => {
    const key = await setup.service.createKey('orders:read');
    const target = ['--forward-to', 'http://localhost:9'];
    for (const [args, environment, code, said] of [
      [target, { PROMPT_GATEWAY_API_KEY: key }, 1, 'events:read'],
      [[...target, '--after', 'x-y-z-'], {}, 1, 'must be the next of a page'],
      [['--forward-to', 'localhost'], {}, 2, '--forward-to must be'],
      [[], {}, 2, '--forward-to must be'],
    ] as const) {
      const running = start(args, environment);
      expect(await running.code).toBe(code);
      expect(running.errors()).toContain(said);
    }
  });
});
