import { isIP } from 'node:net';
import type { buildConnector } from 'undici';
import {
  ConnectionError,
  directConnector,
  withoutBrackets,
  type ConnectorOptions,
} from '../../base/outbound/connector.ts';
import type { Address } from '../../base/outbound/look-up.ts';
import type { AddressRule } from '../../base/outbound/address-rules.ts';
import { withProxy, type ProxySettings } from '../../base/outbound/proxy.ts';

/** The most characters of an integration's address. */
const longestUrl = 2_048;

const notPublic =
  'points to an address that is not public; the operator can allow its network with WEBHOOK_ALLOWED_NETWORKS';

/** Why events cannot be sent to an address: a sentence that begins with "The URL ". */
export type TargetMistake = string;

/**
 * Checks an address without looking up its name; each connection checks the rest.
 *
 * @returns the address as the WHATWG URL parser writes it (`http://0x7f.1` is `http://127.0.0.1/`), or what is wrong
 */
export function checkTarget(text: string, mayConnect: AddressRule): { url: string } | { mistake: TargetMistake } {
  if (text.length > longestUrl) return { mistake: `is longer than ${longestUrl} characters` };
  if (!URL.canParse(text)) return { mistake: 'is not an absolute URL' };
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return { mistake: 'is not an http or https address' };
  if (url.username !== '' || url.password !== '') return { mistake: 'contains a user name or password' };
  if (!/^[a-z0-9.:_[\]-]+$/.test(url.host)) return { mistake: 'contains a character that host names do not have' };
  url.hash = '';
  const host = withoutBrackets(url.hostname);
  if (isIP(host) !== 0 && !mayConnect(host)) return { mistake: notPublic };
  return { url: url.href };
}

export interface GuardedConnectorOptions extends Pick<ConnectorOptions, 'lookUp' | 'timeout' | 'longestAnswer'> {
  readonly mayConnect: AddressRule;
  /** Undefined for direct connections. */
  readonly proxy?: ProxySettings | undefined;
}

/**
 * Creates a connector for undici that connects only to permitted addresses. It checks the addresses that the socket
 * then uses, so a name cannot resolve to one address for the check and to another for the connection. It also covers
 * literal addresses, which sockets do not look up. A name with a refused address is refused as a whole.
 *
 * Through a proxy the addresses are checked before the proxy gets one of them. If the proxy looks up names, only literal
 * addresses are checked.
 */
export function guardedConnector(options: GuardedConnectorOptions): buildConnector.connector {
  const { mayConnect, timeout, lookUp, longestAnswer, proxy } = options;
  const check = (found: readonly Address[]): void => {
    if (!found.every(({ address }) => mayConnect(address))) throw new ConnectionError('TARGET_REFUSED');
  };
  const connect = directConnector({ lookUp, timeout, check });
  const direct: buildConnector.connector = (target, callback) => {
    const host = withoutBrackets(target.hostname);
    if (isIP(host) !== 0 && !mayConnect(host)) {
      queueMicrotask(() => {
        callback(new ConnectionError('TARGET_REFUSED'), null);
      });
      return;
    }
    connect({ ...target, hostname: host }, (...result) => {
      const [error, socket] = result;
      // A second safeguard: nothing has been sent yet.
      if (error === null && !mayConnect(socket.remoteAddress ?? '')) {
        socket.destroy();
        callback(new ConnectionError('TARGET_REFUSED'), null);
        return;
      }
      callback(...result);
    });
  };
  return withProxy(direct, proxy, { lookUp, timeout, check, longestAnswer });
}
