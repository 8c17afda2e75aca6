import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLookUp, type LookUp } from '../../src/base/outbound/look-up.ts';
import { createAddressRule, loopbackNetworks } from '../../src/base/outbound/address-rules.ts';
import { createSender, type Sender } from '../../src/webhooks/sending/sender.ts';
import { checkTarget } from '../../src/webhooks/sending/target.ts';
import { defaultLimits } from '../../src/webhooks/timing.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';

const strict = createAddressRule([]);

describe('checkTarget', () => {
  it.each([
    ['https://example.com/hook?a=b', 'https://example.com/hook?a=b'],
    ['HTTP://EXAMPLE.com:80', 'http://example.com/'],
    ['https://example.com/hook#part', 'https://example.com/hook'],
    ['http://8.8.8.8:8080/', 'http://8.8.8.8:8080/'],
    ['http://[2606:4700::1111]/', 'http://[2606:4700::1111]/'],
  ])('accepts %s', (text, url) => {
    expect(checkTarget(text, strict)).toEqual({ url });
  });

  it.each([
    ...[
      'example.com/hook',
      '/hook',
      'ftp://example.com/',
      'file:///etc/passwd',
      'gopher://example.com',
      'javascript:1',
    ],
    ...['https://user@example.com/', 'https://user:password@example.com/', `https://example.com/${'x'.repeat(2_048)}`],
    // The same addresses in the notations that the URL parser accepts.
    ...['http://127.0.0.1/', 'http://2130706433/', 'http://0x7f000001/', 'http://0177.0.0.1/', 'http://127.1/'],
    ...['http://0x7f.1/', 'http://127.0.0.1./', 'http://①②⑦.⓪.⓪.①/', 'http://0/', 'http://169.254.169.254/latest/'],
    ...['http://[::1]/', 'http://[::ffff:127.0.0.1]/', 'http://[::ffff:7f00:1]/', 'http://[64:ff9b::10.0.0.1]/'],
    ...['http://[2002:7f00:1::]/', 'http://[fd00:ec2::254]/', 'http://[0:0:0:0:0:ffff:a00:1]/'],
  ])('refuses %s', (text) => {
    expect(checkTarget(text, strict)).toHaveProperty('mistake');
  });
});

describe('connections', () => {
  let receiver: Receiver;
  const senders: Sender[] = [];
  const lookUps: string[] = [];
  const names: Record<string, string[]> = {
    'private.test': ['10.0.0.1'],
    'loopback.test': ['127.0.0.1'],
    'mixed.test': ['127.0.0.1', '8.8.8.8'],
    'mapped.test': ['::ffff:127.0.0.1'],
    'nothing.test': [],
  };
  const lookUp: LookUp = (hostname) => {
    lookUps.push(hostname);
    const addresses = names[hostname];
    return addresses === undefined
      ? Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }))
      : Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
  };
  const post = (url: string, isOpen: boolean) => {
    const sender = createSender({
      mayConnect: isOpen ? createAddressRule(loopbackNetworks) : strict,
      timing: { connectTimeout: 500, totalTimeout: 1_000 },
      limits: defaultLimits,
      lookUp,
    });
    senders.push(sender);
    return sender.post({ integrationId: 'i', url, headers: [], body: Buffer.from('{}') });
  };

  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(async () => {
    await Promise.all(senders.map((sender) => sender.close()));
    await receiver.close();
  });

  it.each([
    ...['127.0.0.1', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '[::1]', '[64:ff9b::127.0.0.1]'],
    ...['loopback.test', 'mapped.test', 'mixed.test', 'private.test'],
  ])('are not made to %s', async (host) => {
    const before = receiver.connections;
    const result = await post(`http://${host}:${receiver.port}/hook`, false);
    expect(result).toMatchObject({ status: undefined, error: 'target-refused' });
    expect(receiver.connections).toBe(before);
  });

  it('are made to a name if all its addresses are permitted, and to exactly these addresses', async () => {
    const before = lookUps.length;
    expect(await post(`http://loopback.test:${receiver.port}/hook`, true)).toMatchObject({ status: 200 });
    expect(lookUps.slice(before)).toEqual(['loopback.test']);
  });

  it('are not made to a name with one refused address', async () => {
    names['half.test'] = ['127.0.0.1', '10.0.0.1'];
    const result = await post(`http://half.test:${receiver.port}/hook`, true);
    expect(result.error).toBe('target-refused');
  });

  it('work while many names are not answered, and check the addresses from name servers', async () => {
    const server = await startDnsServer((name) => {
      if (name.startsWith('dead')) return 'silence';
      return name === 'private.test' ? ['127.0.0.1', '10.0.0.1'] : ['127.0.0.1'];
    });
    const sender = createSender({
      mayConnect: createAddressRule(loopbackNetworks),
      timing: { connectTimeout: 5_000, totalTimeout: 6_000 },
      limits: defaultLimits,
      lookUp: createLookUp({ servers: [server.address], timeoutMs: 500 }),
    });
    senders.push(sender);
    const send = (host: string) =>
      sender.post({
        integrationId: host,
        url: `http://${host}:${receiver.port}/`,
        headers: [],
        body: Buffer.from('{}'),
      });
    const dead = Promise.all(Array.from({ length: 32 }, (_, index) => send(`dead-${index}.test`)));
    const slow = dead.then(() => 'the dead were first');
    for (const host of ['alive.test', 'localhost']) {
      expect(await Promise.race([slow, send(host)])).toMatchObject({ status: 200 });
    }
    expect(await send('private.test')).toMatchObject({ error: 'target-refused' });
    expect(new Set((await dead).map(({ error }) => error))).toEqual(new Set(['name-not-found']));
    await server.close();
  });

  it('fail for names without an address', async () => {
    expect((await post('http://unknown.test/', true)).error).toBe('name-not-found');
    expect((await post('http://nothing.test/', true)).error).toBe('name-not-found');
  });

  it('are not made to the target of a redirect', async () => {
    const inner = await startReceiver();
    receiver.next({ kind: 'answer', status: 302, headers: { Location: inner.url } });
    expect(await post(receiver.url, true)).toMatchObject({ status: 302 });
    expect(inner.connections).toBe(0);
    await inner.close();
  });
});
