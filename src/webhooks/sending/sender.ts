import type { LookUp } from '../../base/outbound/look-up.ts';
import { createPools } from '../../base/outbound/pools.ts';
import type { ProxySettings } from '../../base/outbound/proxy.ts';
import type { WebhookLimits, WebhookTiming } from '../timing.ts';
import type { AddressRule } from '../../base/outbound/address-rules.ts';
import { AttemptRequest, AttemptEndedError, type SendResult } from './attempt-request.ts';
import { guardedConnector } from './target.ts';

/** A POST to a receiver. */
export interface SendRequest {
  /** Receivers do not share connections. */
  readonly integrationId: string;
  readonly url: string;
  /** Names and values alternate. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}

/** Posts to receivers over warm connections. */
export interface Sender {
  /** Sends a POST. Never throws, follows no redirects, and ends within the time limit. */
  post(request: SendRequest): Promise<SendResult>;
  /** Ends attempts in progress (`aborted`) and closes all connections. */
  close(): Promise<void>;
}

export interface SenderOptions {
  readonly mayConnect: AddressRule;
  readonly timing: Pick<WebhookTiming, 'connectTimeout' | 'totalTimeout'>;
  readonly limits: Pick<WebhookLimits, 'perReceiver' | 'responseKept' | 'responseRead' | 'framingRead'>;
  readonly lookUp: LookUp;
  /** Through which POSTs leave; undefined for direct connections. */
  readonly proxy?: ProxySettings | undefined;
}

/** Milliseconds that an unused connection stays open; a shorter time that a receiver announces applies. */
const keepAlive = 4_000;

/**
 * Creates a sender. It uses undici's dispatcher directly, because `fetch` costs three to four times the CPU and follows
 * redirects.
 */
export function createSender({ mayConnect, timing, limits, lookUp, proxy }: SenderOptions): Sender {
  const connect = guardedConnector({
    mayConnect,
    lookUp,
    proxy,
    timeout: timing.connectTimeout,
    longestAnswer: limits.framingRead + limits.responseRead,
  });
  const pools = createPools({
    connect,
    connections: limits.perReceiver,
    keepAliveTimeout: keepAlive,
    // Otherwise a receiver that announces a longer time decides.
    keepAliveMaxTimeout: keepAlive,
  });
  const inProgress = new Set<AttemptRequest>();
  const attemptLimits = { ...limits, totalTimeout: timing.totalTimeout };

  return {
    async post({ integrationId, url, headers, body }) {
      const { origin, href } = new URL(url);
      const key = `${integrationId} ${origin}`;
      const options = {
        // Not `search`: it is empty for a URL that ends with `?`.
        path: href.slice(origin.length),
        method: 'POST' as const,
        headers: [...headers],
        body: asBuffer(body),
      };
      let pool = pools.of(key, origin);
      const send = (): void => {
        try {
          pool.dispatch(options, request);
        } catch (error) {
          request.refused(error);
        }
      };
      const request = new AttemptRequest(attemptLimits, () => {
        pools.renew(key, pool);
        pool = pools.of(key, origin);
        send();
      });
      inProgress.add(request);
      try {
        send();
        return await request.result;
      } finally {
        inProgress.delete(request);
      }
    },
    async close() {
      for (const request of inProgress) request.end(new AttemptEndedError('ATTEMPT_ABORTED'));
      await pools.destroy();
    },
  };
}

/** The same bytes, without a copy, in the class that undici accepts. */
function asBuffer(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
