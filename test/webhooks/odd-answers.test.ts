import { afterEach, describe, expect, it } from '@jest/globals';
import { createAddressRule, loopbackNetworks } from '../../src/base/outbound/address-rules.ts';
import { createSender, type Sender } from '../../src/webhooks/sending/sender.ts';
import { defaultLimits } from '../../src/webhooks/timing.ts';
import { createAuthority, trust } from '../support/certificates.ts';
import { plain, reach, readable, refused, ways, type Way } from '../support/odd-answers.ts';
import type { RawServer, RawServerOptions } from '../support/raw-server.ts';

const authority = trust(createAuthority('Example authority'));
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A receiver that is reached in this way, and a POST to it. */
async function receiverWith(
  way: Way,
  options: RawServerOptions,
): Promise<{ server: RawServer; post: () => ReturnType<Sender['post']> }> {
  const { server, origin, lookUp, proxy } = await reach(way, authority, options, closing);
  const sender = createSender({
    mayConnect: createAddressRule(loopbackNetworks),
    lookUp,
    proxy,
    timing: { connectTimeout: 20_000, totalTimeout: 60_000 },
    limits: { ...defaultLimits, perReceiver: 1 },
  });
  closing.push(() => sender.close());
  const request = { integrationId: 'i', url: `${origin}/hook`, headers: ['X-Test', '1'], body: Buffer.from('{"é":1}') };
  return { server, post: () => sender.post(request) };
}

describe.each(ways)('by $scheme, through a proxy: $isProxied', (way) => {
  describe.each(way === ways[0] ? [false, true] : [false])('byte by byte: %s', (isSlow) => {
    const short = (length: number): boolean => !isSlow || length < 5_000;

    it.each(readable.filter(([, { length }]) => short(length)))('reads %s', async (_what, answer, isKept) => {
      // The second request of a connection gets it; the third tells whether the connection is kept.
      const { server, post } = await receiverWith(way, {
        isSlow,
        answer: (_nth, number) => (number === 1 ? answer : plain),
      });
      expect(await post()).toMatchObject({ status: 200, error: undefined });
      const result = await post();
      const [, status] = /^HTTP\/1.\d (2\d\d|304)/m.exec(answer) ?? [];
      expect([result.error, result.status]).toEqual([undefined, Number(status)]);
      expect(String(result.response)).toBe(status === '200' ? 'ok' : '');
      if (answer.includes('X-Two')) expect(result.headers).toMatchObject({ 'x-two': 'a b c' });
      expect(await post()).toMatchObject({ status: 200, error: undefined });
      expect(server.requests).toEqual(isKept ? [0, 0, 0] : [0, 0, 1]);
    });

    it.each(refused.filter(([, { length }]) => short(length)))('refuses %s', async (_what, answer, error) => {
      const { server, post } = await receiverWith(way, {
        isSlow,
        answer: (_nth, number) => (number === 1 ? answer : plain),
      });
      await post();
      expect(await post()).toMatchObject({ status: undefined, error });
      expect(await post()).toMatchObject({ status: 200, error: undefined });
      expect(server.requests).toEqual([0, 0, 1]);
    });
  });

  describe.each(['end', 'reset'] as const)('where an old connection closes: %s', (then) => {
    /** @param begin of the answer to the second request of each connection */
    const closingAt = (second: string, third: string | { then: typeof then }) =>
      receiverWith(way, {
        answer: (nth, number) => (number === 2 ? third : nth === 1 ? { text: second, then } : plain),
      });

    it('sends again over a new one, and it is no failure', async () => {
      const { server, post } = await closingAt('', plain);
      await post();
      expect(await post()).toMatchObject({ status: 200, error: undefined });
      expect(server.requests).toEqual([0, 0, 1]);
      // The new one is as good as any other.
      expect(await post()).toMatchObject({ status: 200, error: undefined });
      expect(server.requests).toEqual([0, 0, 1, 1, 2]);
    });

    it('sends again once', async () => {
      const { server, post } = await closingAt('', { then });
      await post();
      expect(await post()).toMatchObject({ status: undefined, error: 'connection-lost' });
      expect(server.requests).toEqual([0, 0, 1]);
    });

    it.each([
      ['a byte', 'H'],
      ['a part of the head', 'HTTP/1.1 200 OK\r\nContent-'],
      ['an interim answer', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ])('does not send again after %s', async (_what, begin) => {
      const { server, post } = await closingAt(begin, plain);
      await post();
      expect(await post()).toMatchObject({ status: undefined, error: 'connection-lost' });
      expect(server.requests).toEqual([0, 0]);
    });

    it('does not send again over a connection that had no answer yet', async () => {
      const { server, post } = await receiverWith(way, { answer: () => ({ then }) });
      expect(await post()).toMatchObject({ status: undefined, error: 'connection-lost' });
      expect(server.requests).toEqual([0]);
    });
  });
});

it('does not send again over a new connection if the old one closes after 5 seconds', async () => {
  const { server, post } = await receiverWith(
    { scheme: 'http', isProxied: false },
    { answer: (nth) => (nth === 1 ? { then: 'reset', afterMs: 5_500 } : plain) },
  );
  await post();
  expect(await post()).toMatchObject({ status: undefined, error: 'connection-lost' });
  expect(server.requests).toEqual([0, 0]);
});

describe('an answer that ends too early', () => {
  it.each([
    ['its length', 'Content-Length: 9\r\n\r\nok'],
    ['its length, and that it closes', 'Connection: close\r\nContent-Length: 9\r\n\r\nok'],
  ])('is named as that: %s', async (_what, rest) => {
    const { post } = await receiverWith(
      { scheme: 'http', isProxied: false },
      { answer: () => ({ text: `HTTP/1.1 200 OK\r\n${rest}`, then: 'end' }) },
    );
    expect(await post()).toMatchObject({ status: 200, error: 'connection-lost' });
  });
});
