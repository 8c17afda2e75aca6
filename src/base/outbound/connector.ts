import { buildConnector } from 'undici';
import { watchAnswers } from './answers.ts';
import { toLookupFunction, type Address, type LookUp } from './look-up.ts';

/** Why no connection was made, besides what sockets, look-ups and undici report in the same form. */
const messages = {
  PROXY_UNREACHABLE: 'There is no connection to the proxy.',
  PROXY_CREDENTIALS: 'The proxy does not accept the credentials.',
  PROXY_REFUSED: 'The proxy does not connect to this target.',
  EHOSTUNREACH: 'The proxy could not connect to the target.',
  ETIMEDOUT: 'The proxy could not connect to the target in time.',
  ECONNRESET: 'The connection ended, or had bytes, before anything was sent.',
  UND_ERR_CONNECT_TIMEOUT: 'The connection through the proxy was not made in time.',
  TARGET_REFUSED: 'A connection to this address is not permitted.',
} as const;

/** A connection that was not made. Callers read its `code`, as of a system error. */
export class ConnectionError extends Error {
  readonly code: keyof typeof messages;

  /** @param cause of a connection to the proxy */
  constructor(code: keyof typeof messages, cause?: unknown) {
    super(messages[code], { cause });
    this.name = 'ConnectionError';
    this.code = code;
  }
}

/** How connections to targets are made. */
export interface ConnectorOptions {
  readonly lookUp: LookUp;
  /** Milliseconds, with the look-up of the name and all handshakes. */
  readonly timeout: number;
  /** Throws if a connection to one of the addresses is not permitted. */
  readonly check?: (addresses: readonly Address[]) => void;
  /** Further options of the connection to the target. */
  readonly connect?: object;
  /** The longest answer that is read, in bytes, with all that surrounds its body; no limit if left out. */
  readonly longestAnswer?: number | undefined;
}

/** Creates a connector for undici that connects directly. */
export function directConnector({ lookUp, timeout, check, connect }: ConnectorOptions): buildConnector.connector {
  return socketConnector({ timeout, lookup: toLookupFunction(lookUp, check), ...connect });
}

/** A connector of undici. `lookup` reaches net.connect and tls.connect, but is missing in its type. */
export function socketConnector(options: object): buildConnector.connector {
  return buildConnector({ allowH2: false, ...options } as buildConnector.BuildOptions);
}

/**
 * Makes a connection usable for undici: answers are read as `watchAnswers` says. Refuses a socket that has ended, or on
 * which the other side has spoken first. undici drops such a connection and, as the request was not sent, makes another
 * one for it, without end.
 */
export function withHeadReader(connect: buildConnector.connector, longestAnswer?: number): buildConnector.connector {
  return (target, callback) => {
    connect(target, (...result) => {
      const [error, socket] = result;
      if (error !== null) {
        callback(...result);
      } else if (socket.readable && socket.writable && socket.readableLength === 0) {
        watchAnswers(socket, longestAnswer);
        callback(...result);
      } else {
        socket.destroy();
        callback(new ConnectionError('ECONNRESET'), null);
      }
    });
  };
}

/** The host of a URL as sockets want it: IPv6 addresses without brackets. */
export function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
