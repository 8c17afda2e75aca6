/** Answers as old and careless servers send them, and ways to reach such a server. */
import type { Authority } from './certificates.ts';
import { startConnectProxy } from './connect-proxy.ts';
import { startRawServer, type RawServer, type RawServerOptions } from './raw-server.ts';
import type { LookUp } from '../../src/base/outbound/look-up.ts';
import type { ProxySettings } from '../../src/base/outbound/proxy.ts';

export interface Way {
  readonly scheme: 'http' | 'https';
  readonly isProxied: boolean;
}
export const ways: readonly Way[] = [
  { scheme: 'http', isProxied: false },
  { scheme: 'https', isProxied: false },
  { scheme: 'http', isProxied: true },
  { scheme: 'https', isProxied: true },
];

/** Stands for the server of the test where there is a proxy: this machine is never reached through one. */
const publicAddress = '93.184.216.34';

export interface Reached {
  readonly server: RawServer;
  readonly origin: string;
  readonly lookUp: LookUp;
  readonly proxy: ProxySettings | undefined;
}

/** @param closing gets what ends the servers */
export async function reach(
  { scheme, isProxied }: Way,
  authority: Authority,
  options: RawServerOptions,
  closing: (() => Promise<void>)[],
): Promise<Reached> {
  const tls = scheme === 'https' ? authority.issue(['shop.test']) : undefined;
  const server = await startRawServer({ ...options, tls });
  closing.push(() => server.close());
  const proxy = isProxied ? await startConnectProxy({ route: () => server.port }) : undefined;
  if (proxy !== undefined) closing.push(() => proxy.close());
  return {
    server,
    origin: `${scheme}://shop.test:${server.port}`,
    lookUp: () => Promise.resolve([{ address: isProxied ? publicAddress : '127.0.0.1', family: 4 }]),
    proxy: proxy && { origin: proxy.origin, authorization: undefined, resolves: false, isBypassed: () => false },
  };
}

export const plain = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
/** A name, what the server sends, and whether the connection is kept. */
export const readable: readonly (readonly [string, string, boolean])[] = [
  ['an ordinary answer', plain, true],
  ['a 100 that nobody asked for', `HTTP/1.1 100 Continue\r\n\r\n${plain}`, true],
  [
    'interim answers of all kinds',
    `${['100 Continue', '102', '103 Hints\r\nLink: </a>', '199 ?'].map((each) => `HTTP/1.1 ${each}\r\n\r\n`).join('')}${plain}`,
    true,
  ],
  ['many interim answers', `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(100)}${plain}`, true],
  ['an interim answer with bare line feeds', `HTTP/1.1 100 Continue\n\n${plain}`, true],
  ['an interim answer of HTTP/1.0', `HTTP/1.0 100 Continue\r\n\r\n${plain}`, true],
  ['a 101 that changes nothing', `HTTP/1.1 101 Again\r\n\r\n${plain}`, true],
  [
    'the offer of another protocol',
    'HTTP/1.1 200 OK\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 2\r\n\r\nok',
    true,
  ],
  ['a status without a reason', 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok', true],
  ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', true],
  ['a 204 with a length of 0', 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n', true],
  ['a folded header', 'HTTP/1.1 200 OK\r\nX-Two: a\r\n\tb\r\n  c\r\nContent-Length: 2\r\n\r\nok', false],
  ['a folded length', 'HTTP/1.1 200 OK\r\nX-Two: a b c\r\nContent-Length:\r\n 2\r\n\r\nok', false],
  ['a blank before the first header', 'HTTP/1.1 200 OK\r\n Nothing: 1\r\nContent-Length: 2\r\n\r\nok', false],
  ['bare line feeds', 'HTTP/1.1 200 OK\nX-Two: a b c\nContent-Length: 2\n\nok', false],
  ['one bare line feed', 'HTTP/1.1 200 OK\r\nX-Two: a b c\nContent-Length: 2\r\n\r\nok', false],
  ['a bare line feed as its empty line', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\nok', false],
  ['an empty line after bare line feeds', 'HTTP/1.1 200 OK\nContent-Length: 2\n\r\nok', false],
  ['the same length twice', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 2\r\n\r\nok', false],
  ['the same length in a list', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok', false],
  [
    'a length before chunks',
    'HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    false,
  ],
  [
    'a length after chunks',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    false,
  ],
  [
    'an encoding that changes nothing',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok',
    false,
  ],
  ['a blank before a colon', 'HTTP/1.1 200 OK\r\nX-Two : a b c\r\nContent-Length : 2\r\n\r\nok', false],
  ['a 204 with a length', 'HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n', false],
  ['a 304 with a length', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n', false],
  ['an old server that keeps connections', 'HTTP/1.0 200 OK\nConnection: keep-alive\nContent-Length: 2\n\nok', false],
  ['long headers', `HTTP/1.1 200 OK\r\nX-Long: ${'é'.repeat(30_000)}\r\nContent-Length: 2\r\n\r\nok`, true],
  ['many headers', `HTTP/1.1 200 OK\r\n${'Set-Cookie: a=b\r\n'.repeat(3_000)}Content-Length: 2\r\n\r\nok`, true],
];
export const refused: readonly (readonly [string, string, string])[] = [
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n', 'not-http'],
  ['lengths that differ', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nokk', 'not-http'],
  ['lengths in a list that differ', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nokk', 'not-http'],
  ['a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok', 'not-http'],
  ['a length that is not finite', `HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(40)}\r\n\r\nok`, 'not-http'],
  ['a line without a colon', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nWarning\r\n\r\nok', 'not-http'],
  ['a line without a colon after a folded one', 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\nWarning\r\n\r\nok', 'not-http'],
  ['a header without a name', 'HTTP/1.1 200 OK\r\n: 1\r\nContent-Length: 2\r\n\r\nok', 'not-http'],
  ['a header with a zero byte', 'HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 2\r\n\r\nok', 'not-http'],
  ['a status that is none', 'HTTP/1.1 099 Early\r\nContent-Length: 2\r\n\r\nok', 'not-http'],
  ['a status of four digits', 'HTTP/1.1 1000 Many\r\nContent-Length: 2\r\n\r\nok', 'not-http'],
  ['another version', 'HTTP/3.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 'not-http'],
  ['other words', '220 mail.test ESMTP\r\n', 'not-http'],
  ['other words after an interim answer', 'HTTP/1.1 100 Continue\r\n\r\nok\r\n', 'not-http'],
  [
    'headers of more than 64 KiB',
    `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(66_000)}\r\nContent-Length: 2\r\n\r\nok`,
    'head-too-large',
  ],
  [
    'interim answers of more than 64 KiB',
    `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(3_000)}${plain}`,
    'head-too-large',
  ],
];
