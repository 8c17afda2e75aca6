import { isIP, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { hasCode } from '../runtime/system-error.ts';
import { AnswerHead } from './answer-head.ts';
import { parseNetwork, isInNetworks, isLoopback, type Network } from './address-rules.ts';
import {
  ConnectionError,
  directConnector,
  socketConnector,
  withHeadReader,
  withoutBrackets,
  type ConnectorOptions,
} from './connector.ts';

/** A proxy (HTTP CONNECT, RFC 9110, section 9.3.6) through which connections leave. It contains a credential. */
export interface ProxySettings {
  /** `http` or `https`, host and port, without credentials. */
  readonly origin: string;
  /** The value of `Proxy-Authorization`. Never log it. */
  readonly authorization: string | undefined;
  /** Whether the proxy looks up names. Otherwise it gets an address, which was looked up and checked here. */
  readonly resolves: boolean;
  /** Whether connections to this host and port are made directly. */
  readonly isBypassed: (hostname: string, port: number) => boolean;
}

/**
 * Creates a connector for undici that connects through a proxy. undici's own `ProxyAgent` sends names to the proxy, which
 * looks them up again: a name could have another address there than the one that was checked. So the name is looked up
 * here, CONNECT has the address, and TLS, certificate and `Host` have the name. Plain HTTP goes through CONNECT, too.
 */
function proxyConnector(proxy: ProxySettings, options: ConnectorOptions): buildConnector.connector {
  const { lookUp, timeout, check = () => undefined, connect = {} } = options;
  const { protocol, hostname, host, port } = new URL(proxy.origin);
  const toProxy = directConnector({ lookUp, timeout });
  const toTarget = socketConnector({ timeout, ...connect });

  const openProxy = (tunnel: Tunnel): Promise<Socket> =>
    opened((callback) => {
      toProxy({ hostname: withoutBrackets(hostname), host, protocol, port: port || defaultPort(protocol) }, callback);
    }, tunnel);

  /** @param authority host and port of the target, as CONNECT has it */
  const openTunnel = async (authority: string, tunnel: Tunnel): Promise<Socket> => {
    tunnel.isAtProxy = true;
    const socket = await openProxy(tunnel).catch((error: unknown) => {
      // There is no free file descriptor.
      if (hasCode(error, 'EMFILE') || hasCode(error, 'ENFILE')) throw error;
      throw new ConnectionError('PROXY_UNREACHABLE', error);
    });
    tunnel.isAtProxy = false;
    const status = await sendConnect(socket, authority, proxy.authorization);
    if (status >= 200 && status < 300) return socket;
    socket.destroy();
    if (status === 504) throw new ConnectionError('ETIMEDOUT');
    if (status === 502 || status === 503) throw new ConnectionError('EHOSTUNREACH');
    throw new ConnectionError(status === 407 ? 'PROXY_CREDENTIALS' : 'PROXY_REFUSED');
  };

  const open = async (target: buildConnector.Options, tunnel: Tunnel): Promise<Socket> => {
    const name = withoutBrackets(target.hostname);
    const targetPort = target.port || defaultPort(target.protocol);
    const hosts = await hostsOf(name);
    for (const [index, each] of hosts.entries()) {
      try {
        const socket = await openTunnel(`${isIP(each) === 6 ? `[${each}]` : each}:${targetPort}`, tunnel);
        if (target.protocol !== 'https:') return socket;
        return await opened((callback) => {
          toTarget({ ...target, hostname: name, httpSocket: socket }, callback);
        }, tunnel);
      } catch (error) {
        if (!isUnreached(error) || index === hosts.length - 1 || tunnel.isOver()) throw error;
      }
    }
    throw new ConnectionError('EHOSTUNREACH');
  };

  /** What CONNECT asks for: the checked addresses, or the name if the proxy looks it up. */
  const hostsOf = async (name: string): Promise<readonly string[]> => {
    const family = isIP(name);
    if (family === 4 || family === 6) check([{ address: name, family }]);
    if (family !== 0 || proxy.resolves) return [name];
    const found = await lookUp(name);
    check(found);
    return found.map(({ address }) => address);
  };

  return (target, callback) => {
    const tunnel = createTunnel();
    let isSettled = false;
    const settle: typeof callback = (...result) => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      callback(...result);
    };
    const timer = setTimeout(() => {
      settle(new ConnectionError(tunnel.isAtProxy ? 'PROXY_UNREACHABLE' : 'UND_ERR_CONNECT_TIMEOUT'), null);
      tunnel.end();
    }, timeout);
    open(target, tunnel).then(
      (socket) => {
        if (isSettled) socket.destroy();
        else settle(null, socket);
      },
      (error: unknown) => {
        settle(error instanceof Error ? error : new Error(String(error)), null);
      },
    );
  };
}

/**
 * Connects through the proxy, if there is one, except to what it is not for, and to this machine: for the proxy its
 * addresses would be those of another one. Go does the same.
 */
export function withProxy(
  direct: buildConnector.connector,
  proxy: ProxySettings | undefined,
  options: ConnectorOptions,
): buildConnector.connector {
  if (proxy === undefined) return withHeadReader(direct, options.longestAnswer);
  const through = proxyConnector(proxy, options);
  return withHeadReader((target, callback) => {
    const port = Number(target.port || defaultPort(target.protocol));
    const isDirect = isThisMachine(target.hostname) || proxy.isBypassed(target.hostname, port);
    (isDirect ? direct : through)(target, callback);
  }, options.longestAnswer);
}

/** Whether a host is the loopback. Names are compared, not looked up (RFC 6761, section 6.3). */
function isThisMachine(hostname: string): boolean {
  const host = withoutBrackets(hostname).toLowerCase().replace(/\.$/, '');
  return host === 'localhost' || host.endsWith('.localhost') || isLoopback(host);
}

/** The proxy says that it could not connect to the target. */
function isUnreached(error: unknown): boolean {
  return error instanceof ConnectionError && (error.code === 'EHOSTUNREACH' || error.code === 'ETIMEDOUT');
}

/** The sockets of a connection that is being made. */
interface Tunnel {
  /** Whether the proxy is being connected to, not yet the target. */
  isAtProxy: boolean;
  add(socket: Socket): void;
  isOver(): boolean;
  /** Ends them. */
  end(): void;
}

function createTunnel(): Tunnel {
  const sockets: Socket[] = [];
  let isOver = false;
  return {
    isAtProxy: false,
    add(socket) {
      sockets.push(socket);
      if (isOver) socket.destroy();
    },
    isOver: () => isOver,
    end() {
      isOver = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

function opened(open: (callback: buildConnector.Callback) => void, tunnel: Tunnel): Promise<Socket> {
  return new Promise((resolve, reject) => {
    open((error, socket) => {
      if (error !== null) {
        reject(error);
        return;
      }
      tunnel.add(socket);
      resolve(socket);
    });
  });
}

/** Sends CONNECT. @returns the status of the answer @throws ConnectionError if there is none */
function sendConnect(socket: Socket, authority: string, authorization: string | undefined): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const answerHead = new AnswerHead();
  const read = (): void => {
    const chunk = socket.read() as Buffer | null;
    const answer = chunk === null ? undefined : answerHead.take(chunk)?.toString('latin1');
    if (answer === undefined) return;
    const [head, status] = /^HTTP\/1\.\d (\d{3})[^]*?\r\n\r\n/.exec(answer) ?? [];
    if (head === undefined) throw new ConnectionError('PROXY_UNREACHABLE');
    // Neither HTTP nor TLS lets a target speak first. After a refusal it is the proxy's answer.
    if (head.length < answer.length && Number(status) < 300) throw new ConnectionError('ECONNRESET');
    resolve(Number(status));
  };
  const onReadable = (): void => {
    try {
      read();
    } catch (error) {
      fail(error);
    }
  };
  const fail = (error?: unknown): void => {
    socket.destroy();
    reject(error instanceof ConnectionError ? error : new ConnectionError('PROXY_UNREACHABLE', error));
  };
  socket.on('readable', onReadable).on('error', fail).on('end', fail).on('close', fail);
  const credentials = authorization === undefined ? '' : `Proxy-Authorization: ${authorization}\r\n`;
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n`);
  return promise.finally(() => {
    socket.off('readable', onReadable).off('error', fail).off('end', fail).off('close', fail);
  });
}

function defaultPort(protocol: string): string {
  return protocol === 'https:' ? '443' : '80';
}

/**
 * Reads what `NO_PROXY` has in most programs: host names, which also mean the names below them, `.suffix`, addresses and
 * networks, each with an optional port, separated by commas; `*` is everything. Names are compared, not looked up.
 * @returns whether a connection to this host and port is made directly
 */
export function readNoProxy(text: string): ProxySettings['isBypassed'] {
  const entries = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(readEntry);
  return (hostname, port) => {
    const host = withoutBrackets(hostname).toLowerCase().replace(/\.$/, '');
    return entries.some((entry) => (entry.port === undefined || entry.port === port) && entry.matches(host));
  };
}

function readEntry(entry: string): { readonly port: number | undefined; readonly matches: (host: string) => boolean } {
  const whole = parseNetwork(withoutBrackets(entry));
  const [, before = entry, port] = whole === undefined ? (/^(.*):(\d{1,5})$/.exec(entry) ?? []) : [];
  const network: Network | undefined = whole ?? parseNetwork(withoutBrackets(before));
  const name = before.replace(/^\*(?=\.)/, '').replace(/\.$/, '');
  return {
    port: port === undefined ? undefined : Number(port),
    matches(host) {
      if (name === '*') return true;
      if (network !== undefined) return isInNetworks(host, [network]);
      if (isIP(host) !== 0) return false;
      return name.startsWith('.') ? host.endsWith(name) : host === name || host.endsWith(`.${name}`);
    },
  };
}
