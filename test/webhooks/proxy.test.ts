import { once } from 'node:events';
import { createServer } from 'node:https';
import { connect, createServer as createPlainServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createAddressRule } from '../../src/base/outbound/address-rules.ts';
import type { LookUp } from '../../src/base/outbound/look-up.ts';
import { readNoProxy, type ProxySettings } from '../../src/base/outbound/proxy.ts';
import { createSender, type Sender } from '../../src/webhooks/sending/sender.ts';
import { defaultLimits } from '../../src/webhooks/timing.ts';
import { createAuthority, trust } from '../support/certificates.ts';
import { startConnectProxy, type ConnectProxy, type ConnectProxyOptions } from '../support/connect-proxy.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';

const authority = trust(createAuthority('Example authority'));
const strict = createAddressRule([]);
/** Nothing of the tests leads there: the proxy of the test connects to servers of the test instead. */
const publicAddress = '93.184.216.34';
const closing: (() => Promise<void>)[] = [];
let receiver: Receiver;
let looked: string[];

beforeEach(async () => {
  looked = [];
  receiver = await startReceiver();
  closing.push(() => receiver.close());
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function proxyWith(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const proxy = await startConnectProxy(options);
  closing.push(() => proxy.close());
  return proxy;
}

/** @param answers of look-ups, one after the other; the last one stays */
function lookUpOf(answers: Readonly<Record<string, readonly string[][]>>): LookUp {
  const left = new Map(Object.entries(answers).map(([name, each]) => [name, [...each]]));
  return async (name) => {
    looked.push(name);
    const next = left.get(name);
    const found = next !== undefined && next.length > 1 ? next.shift() : next?.[0];
    if (found === undefined) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
    return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
}

function senderTo(proxy: Partial<ProxySettings> & { origin: string }, lookUp: LookUp, connectTimeout = 2_000): Sender {
  const sender = createSender({
    mayConnect: strict,
    lookUp,
    proxy: { authorization: undefined, resolves: false, isBypassed: () => false, ...proxy },
    timing: { connectTimeout, totalTimeout: 5_000 },
    limits: defaultLimits,
  });
  closing.push(() => sender.close());
  return sender;
}

const post = (sender: Sender, url: string) =>
  sender.post({ integrationId: 'i', url, headers: ['X-Test', '1'], body: Buffer.from('{"é":1}') });
const authorities = (proxy: ConnectProxy): string[] => proxy.requests.map((request) => request.authority);

/** An https server of the test with a certificate for these names. */
async function secureReceiver(...names: string[]): Promise<{ port: number; servernames: unknown[]; hosts: unknown[] }> {
  const servernames: unknown[] = [];
  const hosts: unknown[] = [];
  const server = createServer(authority.issue(names), (request, response) => {
    hosts.push(request.headers.host);
    servernames.push((request.socket as unknown as { servername: unknown }).servername);
    response.end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { port: (server.address() as AddressInfo).port, servernames, hosts };
}

describe('a proxy', () => {
  it('gets the checked address, and the receiver its name', async () => {
    const { port, servernames, hosts } = await secureReceiver('shop.test');
    const proxy = await proxyWith({ route: () => port });
    const sender = senderTo(proxy, lookUpOf({ 'shop.test': [[publicAddress]] }));
    const result = await post(sender, 'https://shop.test/hook');
    expect([result.status, result.error, String(result.response)]).toEqual([200, undefined, 'ok']);
    expect(authorities(proxy)).toEqual([`${publicAddress}:443`]);
    expect([servernames, hosts]).toEqual([['shop.test'], ['shop.test']]);
    for (let each = 0; each < 5; each += 1) expect((await post(sender, 'https://shop.test/hook')).status).toBe(200);
    // The second request can come before the connection of the first one is marked as free.
    expect(proxy.requests.length).toBeLessThanOrEqual(2);
  });

  const accepted = 'HTTP/1.1 200 Connection established\r\n\r\n';
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
  it.each([
    ['a 100 that nobody asked for', `HTTP/1.1 100 Continue\r\n\r\n${accepted}`, undefined],
    ['interim answers', `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(50)}${accepted}`, undefined],
    ['bare line feeds', 'HTTP/1.0 200 OK\nVia: old\n\n', undefined],
    ['a folded header, and a length', 'HTTP/1.1 200 OK\r\nVia: a\r\n b\r\nContent-Length: 0\r\n\r\n', undefined],
    ['a refusal after an interim answer', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 407 No\r\n\r\n`, 'proxy-credentials'],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n', 'proxy-unreachable'],
    ['a head without end', `HTTP/1.1 200 ${'x'.repeat(70_000)}`, 'proxy-unreachable'],
  ])('answers CONNECT with %s', async (_what, head, error) => {
    // Behind its head it is the receiver.
    const target = await secureReceiver('shop.test');
    const server = createPlainServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        for (const byte of Buffer.from(head, 'latin1')) socket.write(Uint8Array.of(byte));
        const upstream = connect(target.port, '127.0.0.1').on('error', () => socket.destroy());
        socket.on('close', () => upstream.destroy());
        upstream.pipe(socket).pipe(upstream);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(async () => {
      server.close();
      await Promise.resolve();
    });
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const sender = senderTo({ origin }, lookUpOf({ 'shop.test': [[publicAddress]] }), 20_000);
    const result = await post(sender, 'https://shop.test/hook');
    expect([result.status, result.error]).toEqual([error === undefined ? 200 : undefined, error]);
  });

  it.each([
    ['ends the tunnel with its 200', accepted, true],
    ['sends an answer and the end with its 200', accepted + answer, true],
    ['sends an answer with its 200', accepted + answer, false],
    ['sends a byte and the end with its 200', `${accepted}x`, true],
    ['sends blank lines with its 200', `${accepted}\r\n\r\n`, false],
  ])('is asked once for each address if it %s', async (_what, sent, ends) => {
    let asked = 0;
    const server = createPlainServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        asked += 1;
        if (ends) socket.end(sent);
        else socket.write(sent);
      });
      closing.push(async () => {
        socket.destroy();
        await Promise.resolve();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(async () => {
      server.close();
      await Promise.resolve();
    });
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const [index, scheme] of ['http', 'https'].entries()) {
      const sender = senderTo({ origin }, lookUpOf({ 'shop.test': [[publicAddress]] }));
      const { status, error } = await post(sender, `${scheme}://shop.test/hook`);
      expect([status, error === 'timeout', asked]).toEqual([undefined, false, index + 1]);
    }
  });

  it('does not weaken the check of the certificate', async () => {
    const { port, hosts } = await secureReceiver('www.other.test', publicAddress);
    const proxy = await proxyWith({ route: () => port });
    const result = await post(senderTo(proxy, lookUpOf({ 'shop.test': [[publicAddress]] })), 'https://shop.test/');
    expect(result).toMatchObject({ status: undefined, error: 'certificate-other-name' });
    expect(result.certificateNames).toEqual(['www.other.test', publicAddress]);
    expect(hosts).toEqual([]);
    expect((await post(senderTo(proxy, lookUpOf({})), `https://${publicAddress}/`)).status).toBe(200);
  });

  it('gets CONNECT for plain HTTP, too', async () => {
    const proxy = await proxyWith({ route: () => receiver.port });
    const sender = senderTo(proxy, lookUpOf({ 'shop.test': [[publicAddress]] }));
    expect((await post(sender, 'http://shop.test:8080/hook?a=b')).status).toBe(200);
    expect(authorities(proxy)).toEqual([`${publicAddress}:8080`]);
    expect(receiver.requests.map(({ headers }) => headers['host'])).toEqual(['shop.test:8080']);
    expect(String(receiver.requests[0]?.body)).toBe('{"é":1}');
    expect(receiver.requests[0]?.rawHeaders.join()).not.toMatch(/proxy/i);
  });

  it.each([
    ['a private address', 'https://private.test/'],
    ['an address of this machine', 'http://loopback.test/'],
    ['a public and a private address', 'https://mixed.test/'],
    ['a literal address', 'http://10.0.0.1/'],
    ['a literal address of IPv6', 'http://[::1]/'],
    ['the metadata of clouds', 'http://169.254.169.254/'],
  ])('is not asked for %s', async (_what, url) => {
    const proxy = await proxyWith({ route: () => receiver.port });
    const names = {
      'private.test': [['10.0.0.1']],
      'loopback.test': [['127.0.0.1']],
      'mixed.test': [[publicAddress, '192.168.0.1']],
    };
    expect(await post(senderTo(proxy, lookUpOf(names)), url)).toMatchObject({ error: 'target-refused' });
    expect(proxy.requests).toEqual([]);
  });

  it('gets the address of the check, also if the name has another one a moment later', async () => {
    const proxy = await proxyWith({ route: () => receiver.port });
    const sender = senderTo(proxy, lookUpOf({ 'rebinding.test': [[publicAddress], ['127.0.0.1']] }));
    expect((await post(sender, 'http://rebinding.test/')).status).toBe(200);
    expect([authorities(proxy), looked]).toEqual([[`${publicAddress}:80`], ['rebinding.test']]);
    const later = senderTo(proxy, lookUpOf({ 'rebinding.test': [['127.0.0.1']] }));
    expect(await post(later, 'http://rebinding.test/')).toMatchObject({ error: 'target-refused' });
    expect(proxy.requests).toHaveLength(1);
  });

  it('gets the next address if it cannot reach the first one', async () => {
    const proxy = await proxyWith({
      refuse: (target) => (target.startsWith(publicAddress) ? 503 : undefined),
      route: () => receiver.port,
    });
    const sender = senderTo(proxy, lookUpOf({ 'shop.test': [[publicAddress, '2606:4700::1111']] }));
    expect((await post(sender, 'http://shop.test/')).status).toBe(200);
    expect(authorities(proxy)).toEqual([`${publicAddress}:80`, '[2606:4700::1111]:80']);
  });

  it('gets names if it looks them up, but no literal addresses that are refused', async () => {
    const { port, servernames } = await secureReceiver('shop.test');
    const proxy = await proxyWith({ route: () => port });
    const sender = senderTo({ ...proxy, resolves: true }, lookUpOf({}));
    expect((await post(sender, 'https://shop.test:8443/')).status).toBe(200);
    expect([authorities(proxy), servernames, looked]).toEqual([['shop.test:8443'], ['shop.test'], []]);
    expect(await post(sender, 'https://10.0.0.1/')).toMatchObject({ error: 'target-refused' });
    expect(proxy.requests).toHaveLength(1);
  });

  it('is itself reached by TLS, whose certificate is checked', async () => {
    const { port } = await secureReceiver('shop.test');
    const proxy = await proxyWith({ route: () => port, tls: authority.issue(['proxy.test']) });
    const names = { 'shop.test': [[publicAddress]], 'proxy.test': [['127.0.0.1']] };
    const named = senderTo({ origin: `https://proxy.test:${proxy.port}` }, lookUpOf(names));
    expect((await post(named, 'https://shop.test/')).status).toBe(200);
    expect(authorities(proxy)).toEqual([`${publicAddress}:443`]);
    const plain = senderTo({ origin: `https://proxy.test:${proxy.port}` }, lookUpOf(names));
    expect((await post(plain, 'https://shop.test/')).status).toBe(200);
    // By its address the certificate does not fit.
    const other = senderTo(proxy, lookUpOf(names));
    expect(await post(other, 'https://shop.test/')).toMatchObject({ error: 'proxy-unreachable', certificateNames: [] });
    expect(proxy.requests).toHaveLength(2);
  });

  it.each([
    [407, 'proxy-credentials'],
    [403, 'proxy-refused'],
    [502, 'unreachable'],
    [503, 'unreachable'],
    [504, 'connect-timeout'],
    [200, undefined],
  ])('answers CONNECT with %d', async (status, error) => {
    const proxy = await proxyWith({
      refuse: () => (status === 200 ? undefined : status),
      route: () => receiver.port,
    });
    const sender = senderTo(proxy, lookUpOf({ 'shop.test': [[publicAddress]] }));
    const result = await post(sender, 'http://shop.test/');
    expect([result.error, result.status]).toEqual([error, status === 200 ? 200 : undefined]);
    expect(String(result.response)).not.toContain('no');
  });

  it('cannot be reached, does not speak HTTP, or never answers', async () => {
    const names = lookUpOf({ 'shop.test': [[publicAddress]] });
    const closed = await startReceiver();
    await closed.close();
    expect(
      await post(senderTo({ origin: `http://127.0.0.1:${closed.port}` }, names), 'http://shop.test/'),
    ).toMatchObject({ error: 'proxy-unreachable' });
    expect(await post(senderTo({ origin: 'http://nowhere.test:3128' }, names), 'http://shop.test/')).toMatchObject({
      error: 'proxy-unreachable',
    });
    for (const answer of ['220 mail.test ESMTP\r\n', '']) {
      const odd = createPlainServer((socket) => socket.on('error', () => undefined).end(answer)).listen(0, '127.0.0.1');
      await once(odd, 'listening');
      const origin = `http://127.0.0.1:${(odd.address() as AddressInfo).port}`;
      expect(await post(senderTo({ origin }, names), 'http://shop.test/')).toMatchObject({
        error: 'proxy-unreachable',
      });
      odd.close();
    }
    // A proxy that waits for a receiver that does not answer cannot be told from one that hangs.
    const silent = await proxyWith({ refuse: () => 'silent' });
    const startedAt = performance.now();
    expect(await post(senderTo(silent, names, 300), 'http://shop.test/')).toMatchObject({ error: 'connect-timeout' });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it.each(['http', 'https'])('does not lift the limit of what is read of an answer: %s', async (scheme) => {
    let written = 0;
    const endless = (socket: Socket): void => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;');
        const more = (): void => {
          // An extension of a chunk, which no parser limits.
          while (socket.writable && written < 50_000_000) {
            written += 65_536;
            if (!socket.write('x'.repeat(65_536))) break;
          }
        };
        socket.on('drain', more);
        more();
      });
    };
    const server =
      scheme === 'http' ? createPlainServer(endless) : createTlsServer(authority.issue(['shop.test']), endless);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const proxy = await proxyWith({ route: () => port });
    const sender = senderTo(proxy, lookUpOf({ 'shop.test': [[publicAddress]] }));
    const startedAt = performance.now();
    expect(await post(sender, `${scheme}://shop.test/`)).toMatchObject({ status: 200, responseCut: true });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(written).toBeLessThan(50_000_000);
    server.close();
  });

  it('gets the credentials, and is passed by for what it is not for', async () => {
    const proxy = await proxyWith({ credentials: 'us er:p%ss', route: () => receiver.port });
    const authorization = `Basic ${Buffer.from('us er:p%ss').toString('base64')}`;
    const names = lookUpOf({ 'shop.test': [[publicAddress]] });
    expect((await post(senderTo({ ...proxy, authorization }, names), 'http://shop.test/')).status).toBe(200);
    expect(await post(senderTo(proxy, names), 'http://shop.test/')).toMatchObject({ error: 'proxy-credentials' });
    proxy.forget();
    const direct = createSender({
      mayConnect: createAddressRule([]),
      lookUp: lookUpOf({ 'local.test': [['127.0.0.1']] }),
      proxy: { ...proxy, authorization, resolves: true, isBypassed: readNoProxy('.test') },
      timing: { connectTimeout: 500, totalTimeout: 1_000 },
      limits: defaultLimits,
    });
    closing.push(() => direct.close());
    // The rules for addresses still hold.
    expect(await post(direct, 'http://local.test/')).toMatchObject({ error: 'target-refused' });
    expect(proxy.requests).toEqual([]);
  });

  it.each(['localhost', 'LOCALHOST.', 'db.localhost', '127.0.0.1', '127.9', '[::1]', '[::ffff:127.0.0.1]'])(
    'is not asked for this machine, also if it looks up names: %s',
    async (host) => {
      const proxy = await proxyWith({ route: () => receiver.port });
      const loopback = [['127.0.0.1']];
      const names = { localhost: loopback, 'localhost.': loopback, 'db.localhost': loopback };
      const sender = senderTo({ ...proxy, resolves: true }, lookUpOf(names));
      expect(await post(sender, `http://${host}/`)).toMatchObject({ error: 'target-refused' });
      expect(proxy.requests).toEqual([]);
    },
  );
});

describe('NO_PROXY', () => {
  it.each([
    ['example.com', 'example.com', true],
    ['example.com', 'api.EXAMPLE.com', true],
    ['example.com', 'notexample.com', false],
    ['.example.com', 'example.com', false],
    ['*.example.com', 'api.example.com', true],
    [' localhost , 10.0.0.0/8', '10.1.2.3', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.0.0.0/8', '10.example.com', false],
    ['127.0.0.1', '127.0.0.1', true],
    ['::1', '[::1]', true],
    ['[::1]:8080', '[::1]', false],
    ['fd00::/8', '[fd00::5]', true],
    ['localhost:8080', 'localhost', false],
    ['localhost:443', 'localhost', true],
    ['10.0.0.0/8:443', '10.0.0.1', true],
    ['*', 'anything.test', true],
    [',,', 'anything.test', false],
    ['localhost.', 'localhost', true],
    ['http://odd/', 'odd', false],
  ])('%s: %s at port 443 is %s', (text, host, isBypassed) => {
    expect(readNoProxy(text)(host, 443)).toBe(isBypassed);
  });
});
