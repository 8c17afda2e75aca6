import { Pool } from 'undici';
import type { LookUp } from '../../outbound/look-up.ts';
import type { WebhookLimits, WebhookTiming } from '../timing.ts';
import type { AddressRule } from '../../outbound/address-rules.ts';
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
}

/** Milliseconds that an unused connection stays open; a shorter time that a receiver announces applies. */
const keepAlive = 10_000;
/** Milliseconds without a request after which a receiver's pool is closed. */
const poolIdle = 60_000;

interface ReceiverPool {
  readonly pool: Pool;
  usedAt: number;
  inProgress: number;
}

/**
 * Creates a sender. It uses undici's dispatcher directly, because `fetch` costs three to four times the CPU and follows
 * redirects.
 */
export function createSender({ mayConnect, timing, limits, lookUp }: SenderOptions): Sender {
  const connect = guardedConnector({
    mayConnect,
    lookUp,
    timeout: timing.connectTimeout,
    longestAnswer: limits.framingRead + limits.responseRead,
  });
  const receivers = new Map<string, ReceiverPool>();
  const inProgress = new Set<AttemptRequest>();
  const attemptLimits = { ...limits, totalTimeout: timing.totalTimeout };

  const receiverOf = (integrationId: string, origin: string): ReceiverPool => {
    const key = `${integrationId} ${origin}`;
    let receiver = receivers.get(key);
    if (receiver === undefined) {
      const pool = new Pool(origin, {
        connect,
        connections: limits.perReceiver,
        pipelining: 1,
        allowH2: false,
        keepAliveTimeout: keepAlive,
        // Off, because an attempt has its own time limit.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      receiver = { pool, usedAt: 0, inProgress: 0 };
      receivers.set(key, receiver);
    }
    return receiver;
  };

  const sweep = setInterval(() => {
    const before = performance.now() - poolIdle;
    for (const [key, receiver] of receivers) {
      if (receiver.inProgress > 0 || receiver.usedAt > before) continue;
      receivers.delete(key);
      void receiver.pool.destroy();
    }
  }, poolIdle / 2).unref();

  return {
    async post({ integrationId, url, headers, body }) {
      const { origin, pathname, search } = new URL(url);
      const receiver = receiverOf(integrationId, origin);
      const request = new AttemptRequest(attemptLimits);
      receiver.inProgress += 1;
      inProgress.add(request);
      try {
        const options = {
          path: pathname + search,
          method: 'POST' as const,
          headers: [...headers],
          body: asBuffer(body),
        };
        try {
          receiver.pool.dispatch(options, request);
        } catch (error) {
          request.refused(error);
        }
        return await request.result;
      } finally {
        inProgress.delete(request);
        receiver.inProgress -= 1;
        receiver.usedAt = performance.now();
      }
    },
    async close() {
      clearInterval(sweep);
      for (const request of inProgress) request.end(new AttemptEndedError('ATTEMPT_ABORTED'));
      await Promise.all([...receivers.values()].map(({ pool }) => pool.destroy()));
      receivers.clear();
    },
  };
}

/** The same bytes, without a copy, in the class that undici accepts. */
function asBuffer(body: Uint8Array): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}
