/**
 * The upper bound of the benchmark, in a process of its own. It sends the same bodies, signed and with the same
 * headers, to the same receiver over as many connections, and does nothing else: no database, no retries, no checks of
 * addresses.
 */
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { serialiseEvent } from '../../src/webhooks/events/serialise.ts';
import { deliveryHeaders, settingsHeaders } from '../../src/webhooks/sending/delivery-headers.ts';
import { defaultLimits } from '../../src/webhooks/timing.ts';
import { percentile } from '../faults/webhooks/percentile.ts';

export interface TransportOptions {
  readonly url: string;
  /** Secrets by integration id. */
  readonly secrets: Readonly<Record<string, string>>;
  /** `data` of each event. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly seconds: number;
}

export interface TransportResult {
  readonly deliveriesPerSecond: number;
  /** The duration of one request with its response, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

async function transport({ url, secrets, data, seconds }: TransportOptions): Promise<TransportResult> {
  const { origin, pathname: path } = new URL(url);
  const body = (): { id: string; orderId: string; bytes: Uint8Array } => {
    const [id, orderId] = [randomUUID(), randomUUID()];
    const entry = {
      id,
      type: 'ORDER_PLACED',
      targetId: orderId,
      createdAt: new Date(),
    } as const;
    return { id, orderId, bytes: serialiseEvent({ ...entry, locationId: randomUUID(), data }) };
  };
  const times: number[] = [];
  const started = performance.now();
  const end = started + seconds * 1_000;
  await Promise.all(
    Object.entries(secrets).map(async ([integrationId, secret]) => {
      const pool = new Pool(origin, { connections: defaultLimits.perReceiver, pipelining: 1 });
      const context = { custom: [], secrets: { secret, nextSecret: undefined }, version: '0.0.0' };
      const loop = async (): Promise<void> => {
        while (performance.now() < end) {
          const { id, orderId, bytes } = body();
          const message = { integrationId, eventId: id, eventType: 'ORDER_PLACED', targetId: orderId, body: bytes };
          const at = new Date();
          const headers = deliveryHeaders(settingsHeaders(message, context, at), message, at);
          const before = performance.now();
          const answer = await pool.request({ path, method: 'POST', headers, body: bytes });
          await answer.body.dump();
          times.push(performance.now() - before);
        }
      };
      await Promise.all(Array.from({ length: defaultLimits.perReceiver }, loop));
      await pool.close();
    }),
  );
  const elapsed = (performance.now() - started) / 1_000;
  return { deliveriesPerSecond: times.length / elapsed, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

if (import.meta.main) {
  process.send?.(await transport(JSON.parse(process.argv[2] ?? '') as TransportOptions));
  process.disconnect();
}
