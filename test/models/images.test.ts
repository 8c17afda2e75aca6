import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Message } from '../../src/models/language-model.ts';
import { findImageMistakes } from '../../src/models/images.ts';
import { collect, provider, remoteIds, request, startHarness, streamOf, type Harness } from './providers-harness.ts';

let harness: Harness;

/** Of every request that this process makes, with undici or the built-in `fetch`. */
const origins: string[] = [];
const note = (message: unknown): void => {
  origins.push((message as { request: { origin: string } }).request.origin);
};

beforeAll(async () => {
  harness = await startHarness();
  subscribe('undici:request:create', note);
});
afterEach(() => {
  harness.mock.reset();
  origins.length = 0;
});
afterAll(async () => {
  unsubscribe('undici:request:create', note);
  await harness.close();
});

const withImage = (url: string): Message[] => [
  {
    role: 'user',
    content: [
      { type: 'text', text: 'What is this?' },
      { type: 'image', url },
    ],
  },
];
const isAllowed = (url: string): boolean => findImageMistakes(withImage(url)).length === 0;

describe('images', () => {
  it.each([
    'https://example.com/cat.png',
    'https://images.example.com:8443/a%20b?size=1#top',
    'HTTPS://EXAMPLE.COM/A.PNG',
    'https://93.184.215.14/cat.png',
    'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/cat.png',
    'https://bücher.example/cat.png',
    'data:image/png;base64,iVBORw0KGgo=',
    'data:image/jpeg;base64,/9j/4AAQ',
    'data:image/gif;base64,R0lGODlh',
    'data:image/webp;base64,UklGRg==',
    'data:image/jpg;base64,/9j/4AAQ',
    'data:image/pjpeg;base64,/9j/4AAQ',
    'data:image/x-png;base64,iVBORw0KGgo=',
    'data:IMAGE/JPEG;base64,/9j/4AAQ',
    'DATA:image/Png;BASE64,iVBORw0KGgo=',
  ])('can be at %s', (url) => {
    expect(findImageMistakes(withImage(url))).toEqual([]);
  });

  it.each([
    ['another scheme', 'http://example.com/a.png'],
    ['a bucket that the operator can read', 's3://bucket/key'],
    ['a bucket of another cloud', 'gs://bucket/key'],
    ['a file', 'file:///etc/passwd'],
    ['a blob', 'blob:https://example.com/1'],
    ['a script', 'javascript:alert(1)'],
    ['a path', '/images/a.png'],
    ['nothing', ''],
    ['a user name', 'https://user@example.com/a.png'],
    ['more characters than an address has', `https://example.com/${'a'.repeat(65_536)}`],
    ['a password', 'https://user:secret@example.com/a.png'],
    ['the loopback', 'https://127.0.0.1/a.png'],
    ['the loopback in hexadecimal', 'https://0x7f.1/a.png'],
    ['the loopback as one number', 'https://2130706433/a.png'],
    ['the loopback in octal', 'https://0177.0.0.1/a.png'],
    ['the loopback in full-width digits', 'https://１２７.０.０.１/a.png'],
    ['the loopback of IPv6', 'https://[::1]/a.png'],
    ['the loopback inside IPv6', 'https://[::ffff:127.0.0.1]/a.png'],
    ['the metadata of a cloud', 'https://169.254.169.254/latest/meta-data'],
    ['the metadata of a cloud in IPv6', 'https://[fd00:ec2::254]/latest/meta-data'],
    ['the metadata of a cloud by name', 'https://metadata.google.internal/computeMetadata/v1/'],
    ['a private address', 'https://10.1.2.3/a.png'],
    ['a private address', 'https://172.16.0.1/a.png'],
    ['a private address', 'https://192.168.1.1/a.png'],
    ['a link-local address', 'https://[fe80::1]/a.png'],
    ['a shared address', 'https://100.64.0.1/a.png'],
    ['no address', 'https://0.0.0.0/a.png'],
    ['localhost', 'https://localhost/a.png'],
    ['localhost with a dot', 'https://localhost./a.png'],
    ['localhost with two dots', 'https://localhost../a.png'],
    ['localhost in capitals', 'https://LOCALHOST:8443/a.png'],
    ['a part of localhost', 'https://a.localhost/a.png'],
    ['a local name', 'https://printer.local/a.png'],
    ['a name of one label', 'https://intranet/a.png'],
    ['a service of a cluster', 'https://api.default.svc/a.png'],
    ['a cluster', 'https://api.default.svc.cluster.local/a.png'],
    ['data of another type', 'data:text/html;base64,PGI+'],
    ['data of a vector image', 'data:image/svg+xml;base64,PHN2Zz4='],
    ['data without base64', 'data:image/png,abc'],
    ['data that is not base64', 'data:image/png;base64,a b'],
    ['data with parameters', 'data:image/png;name=x;base64,iVBORw0KGgo='],
    ['empty data', 'data:image/png;base64,'],
    ['data after a blank', ' data:image/png;base64,iVBORw0KGgo='],
  ])('cannot be at %s: %.100s', (_what, url) => {
    expect(isAllowed(url)).toBe(false);
  });

  it('are found where they are, and without their addresses', () => {
    const mistakes = findImageMistakes([
      { role: 'system', content: 'http://10.0.0.1' },
      ...withImage('https://10.0.0.1/secret'),
      ...withImage('https://example.com/fine'),
      ...withImage('s3://bucket/secret'),
    ]);
    expect(mistakes).toEqual([
      { member: 'messages/1/content/1', detail: 'The address of an image must be on a public host.' },
      { member: 'messages/3/content/1', detail: 'The image must be an https URL or a data URL.' },
    ]);
  });

  it('are at most 1000', () => {
    const images = (count: number): Message[] => Array.from({ length: count }, () => withImage('s3://a')).flat();
    expect(findImageMistakes(images(1_000))).toHaveLength(1_000);
    expect(findImageMistakes(images(30_000))).toEqual([
      { member: 'messages/1000/content/1', detail: 'A request can have at most 1000 images.' },
    ]);
  });

  it('can have many megabytes of data', () => {
    const data = `data:image/png;base64,${'A'.repeat(16 * 1024 * 1024)}`;
    expect([isAllowed(data), isAllowed(`${data}!`), isAllowed(`${data}=`)]).toEqual([true, false, true]);
  });

  it('have only digits of base64', () => {
    const isBase64 = (text: string): boolean => isAllowed(`data:image/png;base64,${text}`);
    const others = Array.from({ length: 0x400 }, (_, code) => String.fromCharCode(code))
      .filter((character) => !/[A-Za-z0-9+/=]/.test(character))
      .flatMap((other) => [
        `${other}AAA`,
        `AA${other}A`,
        `AAAA${other}`,
        `AAAAA${other}`,
        `${'A'.repeat(64)}${other}AAA`,
      ]);
    expect(others.filter(isBase64)).toEqual([]);
    expect(['AA', 'AA==', 'AAA=', 'AAA', 'AAAA', '+/Az'].filter((text) => !isBase64(text))).toEqual([]);
    expect(['A', 'AAAAA', '=', '==', 'AA===', 'A=A='].filter(isBase64)).toEqual([]);
  });
});

/** The others open images themselves. */
const notOpening = ['google', 'mistral', 'amazon-bedrock', 'local'];

describe.each([...remoteIds, 'local'])('%s', (id) => {
  it('gets the address only if it opens images; nobody else opens them', async () => {
    const url = 'https://images.example.com/cat.png';
    await provider(harness.registry, id).generate(request('llama', { messages: withImage(url) }));
    expect(harness.mock.requests).toHaveLength(1);
    expect(origins).toEqual([harness.mock.url]);
    const sent = JSON.stringify(harness.mock.requests[0]?.body);
    expect(sent).toContain('What is this?');
    expect(sent.includes(url)).toBe(!notOpening.includes(id));
  });

  it.each(['s3://bucket/key', 'gs://bucket/key', 'http://127.0.0.1:1/a.png', 'file:///etc/passwd'])(
    'never gets %s, even unchecked',
    async (url) => {
      await provider(harness.registry, id).generate(request('llama', { messages: withImage(url) }));
      expect(JSON.stringify(harness.mock.requests[0]?.body)).not.toContain(url.slice(5));
    },
  );

  it.each(['whole', 'streamed'])('gets large data as it is, for a %s answer', async (kind) => {
    const images = ['A', 'B'].map((digit) => digit.repeat(20_000));
    const messages = images.flatMap((data) => withImage(`data:image/png;base64,${data}`));
    const call = request('llama', { messages });
    if (kind === 'whole') await provider(harness.registry, id).generate(call);
    else await collect(streamOf(harness.registry, id, call));
    const sent = JSON.stringify(harness.mock.requests[0]?.body);
    expect(sent.match(/A{20000}.*[^B]B{20000}[^B]/)).not.toBeNull();
    expect(sent).not.toMatch(/image-[0-9a-f]{8}-/);
  });

  it('gets a message whose only image it cannot get', async () => {
    const messages: Message[] = [
      ...withImage('https://example.com/a.png'),
      { role: 'user', content: [{ type: 'image', url: 's3://bucket/key' }] },
    ];
    await provider(harness.registry, id).generate(request('llama', { messages }));
    expect(harness.mock.requests).toHaveLength(1);
  });
});

describe('a compatible server', () => {
  it('gets addresses if its settings say so', async () => {
    const server = { id: 'own', name: 'Own', baseUrl: harness.mock.url, models: ['a'], imageUrls: true };
    const registry = harness.with({ settings: { compatible: [server] } });
    const messages = withImage('https://images.example.com/cat.png');
    await provider(registry, 'own').generate(request('a', { messages }));
    expect(JSON.stringify(harness.mock.requests[0]?.body)).toContain('https://images.example.com/cat.png');
    expect(await registry.get('own')?.unsupported({ model: 'a', messages })).toEqual([]);
  });
});
