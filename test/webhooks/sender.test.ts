import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createLookUp } from '../../src/base/outbound/look-up.ts';
import { createAddressRule, loopbackNetworks } from '../../src/base/outbound/address-rules.ts';
import { createSender, type Sender } from '../../src/webhooks/sending/sender.ts';
import { defaultLimits } from '../../src/webhooks/timing.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';

let receiver: Receiver;
let sender: Sender;
const post = (url = receiver.url, headers: readonly string[] = ['X-Test', '1'], body = '{"é":1}') =>
  sender.post({ integrationId: 'i', url, headers, body: Buffer.from(body) });

beforeAll(async () => {
  receiver = await startReceiver();
});
const senderWithin = (connectTimeout: number, totalTimeout: number): Sender =>
  createSender({
    mayConnect: createAddressRule(loopbackNetworks),
    lookUp: createLookUp(),
    timing: { connectTimeout, totalTimeout },
    limits: { ...defaultLimits, perReceiver: 4 },
  });
beforeEach(() => {
  receiver.forget();
  sender = senderWithin(300, 600);
});
afterAll(async () => {
  await receiver.close();
});

describe('post', () => {
  it('sends exactly these bytes and headers', async () => {
    await post();
    const [request] = receiver.requests;
    expect(String(request?.body)).toBe('{"é":1}');
    expect(request?.rawHeaders).toEqual([
      ...['host', `127.0.0.1:${receiver.port}`, 'connection', 'keep-alive'],
      ...['X-Test', '1', 'content-length', '8'],
    ]);
    await sender.close();
  });

  it('keeps status, headers without cookies and the first 16 KiB of the body', async () => {
    receiver.next({
      kind: 'answer',
      status: 500,
      body: 'x'.repeat(20_000),
      headers: { 'X-Why': 'because', 'Set-Cookie': 'session=1' },
    });
    const result = await post();
    expect(result).toMatchObject({ status: 500, error: undefined, responseCut: true });
    expect(result.response).toHaveLength(16 * 1_024);
    expect(result.headers).toMatchObject({ 'x-why': 'because' });
    expect(result.headers).not.toHaveProperty('set-cookie');
    await sender.close();
  });

  it('uses an open connection again', async () => {
    const before = receiver.connections;
    for (let each = 0; each < 5; each += 1) await post();
    // The second request can come before the connection of the first one is marked as free.
    expect(receiver.connections - before).toBeLessThanOrEqual(2);
    await sender.close();
  });

  it('opens no more connections than allowed; the time limit includes the wait for one', async () => {
    // A receiver of its own: what it still reads afterwards must not take another test's answer.
    const slow = await startReceiver();
    slow.always({ kind: 'hang' });
    const startedAt = performance.now();
    const results = await Promise.all(Array.from({ length: 10 }, () => post(slow.url)));
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(results.map(({ error }) => error)).toEqual(Array.from({ length: 10 }, () => 'timeout'));
    expect(slow.connections).toBeLessThanOrEqual(8);
    await sender.close();
    await slow.close();
  });

  it.each([
    ['hangs', { kind: 'hang' }, { status: undefined, error: 'timeout' }],
    ['trickles its head', { kind: 'trickle-head' }, { status: undefined, error: 'timeout' }],
    ['closes the connection', { kind: 'cut' }, { status: undefined, error: 'connection-lost' }],
    ['does not speak HTTP', { kind: 'garbage' }, { status: undefined, error: 'not-http' }],
    // The status line decides, because the receiver has the event.
    ['trickles its body', { kind: 'trickle-body' }, { status: 200, error: 'timeout' }],
    ['closes the connection in the body', { kind: 'cut-body' }, { status: 200, error: 'connection-lost' }],
  ] as const)('survives a receiver that %s', async (_name, reaction, expected) => {
    receiver.next(reaction);
    const result = await post();
    expect(result).toMatchObject(expected);
    expect(result.milliseconds).toBeLessThan(1_500);
    expect(await post()).toMatchObject({ status: 200 });
    await sender.close();
  });

  it('cuts an endless answer instead of reading it', async () => {
    const before = receiver.floodedBytes;
    receiver.next({ kind: 'flood', bytes: 100 * 1_024 * 1_024 });
    const result = await post();
    expect(result).toMatchObject({ status: 200, responseCut: true });
    expect(result.response).toHaveLength(16 * 1_024);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(receiver.floodedBytes - before).toBeLessThan(8 * 1_024 * 1_024);
    await sender.close();
  });

  describe('reads only a part of', () => {
    // None of these waits for a time limit.
    beforeEach(() => {
      sender = senderWithin(5_000, 60_000);
    });
    const head = 'HTTP/1.1 200 OK\r\n';
    const long = 'x'.repeat(65_536);
    it.each([
      ['a status line that never ends', 'HTTP/1.1 200 ', long, { status: undefined, error: 'head-too-large' }],
      ['blank lines before a status line', '', '\r\n'.repeat(32_768), { status: undefined, error: 'head-too-large' }],
      ['a header that never ends', `${head}X-Long: `, long, { status: undefined, error: 'head-too-large' }],
      ['blanks before a value', `${head}X-Blank:`, ' '.repeat(65_536), { status: undefined, error: 'head-too-large' }],
      ['headers', head, 'X-Many: 1\r\n'.repeat(5_000), { status: undefined, error: 'head-too-large' }],
      [
        'informational answers',
        '',
        'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(1_000),
        { status: undefined, error: 'head-too-large' },
      ],
      // The receiver has the event, whatever follows.
      [
        'chunk extensions',
        `${head}Transfer-Encoding: chunked\r\n\r\n1;`,
        long,
        { status: 200, error: undefined, responseCut: true },
      ],
      [
        'trailers',
        `${head}Transfer-Encoding: chunked\r\n\r\n0\r\n`,
        'X-Many: 1\r\n'.repeat(5_000),
        { status: 200, error: undefined, responseCut: true },
      ],
      [
        'small chunks',
        `${head}Transfer-Encoding: chunked\r\n\r\n`,
        '1\r\nx\r\n'.repeat(10_000),
        { status: 200, error: undefined, responseCut: true },
      ],
      // Nothing is decompressed. These are compressed bytes.
      [
        'a compressed body',
        `${head}Content-Encoding: gzip\r\n\r\n`,
        long,
        { status: 200, error: undefined, responseCut: true },
      ],
    ] as const)('%s', async (_what, begin, repeated, expected) => {
      const before = receiver.floodedBytes;
      receiver.next({ kind: 'raw', begin, repeated });
      expect(await post()).toMatchObject(expected);
      await new Promise((resolve) => setTimeout(resolve, 50));
      // The kernel holds more bytes than the service reads.
      expect(receiver.floodedBytes - before).toBeLessThan(8 * 1_024 * 1_024);
      await sender.close();
    });

    it('an answer, on a new connection each time', async () => {
      receiver.always({ kind: 'answer', body: 'x'.repeat(60_000) });
      for (let each = 0; each < 10; each += 1) {
        expect(await post()).toMatchObject({ status: 200, error: undefined });
      }
      receiver.always({ kind: 'answer' });
      await sender.close();
    });

    it('informational answers, but accepts a few', async () => {
      receiver.next({ kind: 'raw', begin: 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(3), repeated: undefined });
      expect(await post()).toMatchObject({ status: 204, error: undefined });
      await sender.close();
    });
  });

  it('names a refused connection', async () => {
    const closed = await startReceiver();
    await closed.close();
    expect(await post(closed.url)).toMatchObject({ error: 'connection-refused' });
    await sender.close();
  });

  it('handles headers that cannot be sent', async () => {
    expect(await post(receiver.url, ['Keep-Alive', '1'])).toMatchObject({ status: undefined, error: 'other' });
    expect(await post(receiver.url, ['X-Split', 'a\r\nX-Other: b'])).toMatchObject({ error: 'other' });
    expect(receiver.requests).toHaveLength(0);
    await sender.close();
  });

  it('ends the requests in progress when it is closed', async () => {
    receiver.next({ kind: 'hang' });
    const result = post();
    await receiver.received(1);
    await sender.close();
    expect(await result).toMatchObject({ status: undefined, error: 'aborted' });
  });
});
