import { defaultTiming, type WebhookTiming } from '../../../src/webhooks/timing.ts';
import type { ReceiverAccount } from './receivers-program.ts';
import type { World } from './faults-world.ts';

/** The `Retry-After` of a receiver that answers 429, in seconds. */
export const askedSeconds = 2;

/** Short, so that every receiver times out, opens its breaker and gets several more attempts. */
export const misbehaviourTiming: WebhookTiming = {
  ...defaultTiming,
  schedule: [0, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000, 8_000, 8_000],
  connectTimeout: 1_000,
  totalTimeout: 3_000,
  breaker: { failures: 5, firstOpen: 1_000, longestOpen: 4_000 },
};

interface StoredAttempt {
  _id: string;
  status?: number;
  error?: string;
  milliseconds: number;
  response: { buffer: Uint8Array };
  response_cut: boolean;
}

/** The recorded deliveries of one integration. */
interface DeliveryRecord {
  readonly statuses: Readonly<Record<string, number>>;
  readonly attempts: readonly StoredAttempt[];
}

/** Milliseconds that a busy machine may need on top of a time limit. */
const tolerance = 1_000;
const responseKept = 16 * 1_024;
/** The bytes that the sockets of both sides hold in addition to what the service reads. */
const floodTaken = 8_000_000;

/** Compares what each bad receiver got with what the design requires. @returns sentences; none if all is correct */
export async function behaviourMistakes(
  world: World,
  integrations: Readonly<Record<string, string>>,
  accounts: Readonly<Record<string, ReceiverAccount>>,
  redirectsFollowed: number,
): Promise<string[]> {
  const mistakes: string[] = [];
  const expectThat = (holds: boolean, sentence: string): void => {
    if (!holds) mistakes.push(sentence);
  };
  const { totalTimeout } = misbehaviourTiming;

  const check = async (
    name: string,
    isExpected: (attempt: StoredAttempt) => boolean,
    outcome: string,
  ): Promise<DeliveryRecord> => {
    const record = await read(world, integrations[name] ?? '');
    const { attempts, statuses } = record;
    expectThat(attempts.length > 0, `${name}: no attempts are on record`);
    const odd = attempts.filter((attempt) => !isExpected(attempt));
    const [first] = odd;
    expectThat(
      odd.length === 0,
      `${name}: ${odd.length} odd attempts, such as ${first?.status ?? ''} ${first?.error ?? ''}`,
    );
    const slow = attempts.filter(({ milliseconds }) => milliseconds > totalTimeout + tolerance);
    expectThat(slow.length === 0, `${name}: ${slow.length} attempts took longer than the limit`);
    const others = Object.keys(statuses).filter((status) => status !== outcome && status !== 'pending');
    expectThat(others.length === 0, `${name}: deliveries are ${others.join(', ')}`);
    if (outcome !== 'pending') expectThat((statuses[outcome] ?? 0) > 0, `${name}: no delivery is ${outcome}`);
    return record;
  };

  await check('hang', ({ error }) => error === 'timeout', 'pending');
  await check('trickle-head', ({ error }) => error === 'timeout', 'pending');
  await check('trickle-body', ({ status }) => status === 200, 'delivered');
  await check('500', ({ status }) => status === 500, 'pending');
  await check('302', ({ status }) => status === 302, 'pending');
  await check('410', ({ status }) => status === 410, 'pending');
  await check('429', ({ status }) => status === 429, 'pending');
  await check('cut', ({ error }) => error === 'connection-lost', 'pending');
  const flood = await check('flood', ({ status, response_cut }) => status === 200 && response_cut, 'delivered');

  expectThat(redirectsFollowed === 0, `302: ${redirectsFollowed} redirects were followed`);
  expectThat(
    flood.attempts.every(({ response }) => response.buffer.length <= responseKept),
    'flood: more of a response is kept than allowed',
  );
  const floodAccount = accounts['flood'];
  const taken = (floodAccount?.floodedBytes ?? 0) / Math.max(1, floodAccount?.requestedAt.length ?? 0);
  expectThat(taken <= floodTaken, `flood: ${Math.round(taken)} bytes of each response were taken`);

  const gone = await world.integrations.find(integrations['410'] ?? '');
  expectThat(gone?.status === 'disabled' && gone.disabled?.reason === 'gone', '410: the integration is not disabled');
  // The first answer counts. The batch that it belongs to had begun by then.
  const asked = accounts['410']?.requestedAt ?? [];
  const late = asked.filter((at) => at > (asked[0] ?? 0) + totalTimeout);
  expectThat(late.length === 0, `410: asked ${late.length} times more afterwards`);

  const gaps = gapsBetween(spells(accounts['429']?.requestedAt ?? [], 500));
  expectThat(gaps.length > 0, '429: never tried again');
  const early = gaps.filter((gap) => gap < askedSeconds * 1_000 - 100);
  expectThat(early.length === 0, `429: tried again after ${early.join(', ')} ms`);

  for (const name of ['hang', '500', '302', 'cut', 'trickle-head']) {
    const requests = accounts[name]?.requestedAt.length ?? 0;
    const isBounded =
      requests > 0 && requests < ((await read(world, integrations[name] ?? '')).statuses['pending'] ?? 0);
    expectThat(isBounded, `${name}: ${requests} requests: the circuit breaker did not hold`);
  }
  return mistakes;
}

async function read({ database: { db } }: World, integrationId: string): Promise<DeliveryRecord> {
  const statuses: Record<string, number> = {};
  const attempts: StoredAttempt[] = [];
  const deliveries = await db
    .collection<{ _id: string; status: string }>('deliveries')
    .find({ integration_id: integrationId }, { projection: { status: 1 } })
    .toArray();
  for (const { _id, status } of deliveries) {
    statuses[status] = (statuses[status] ?? 0) + 1;
    const own = { integration_id: integrationId, delivery_id: _id };
    attempts.push(...(await db.collection<StoredAttempt>('attempts').find(own).toArray()));
  }
  return { statuses, attempts };
}

/** Beginnings and ends of groups of requests. Pauses within a group are shorter than this. */
function spells(times: readonly number[], pause: number): [number, number][] {
  const found: [number, number][] = [];
  for (const time of times) {
    const last = found.at(-1);
    if (last !== undefined && time - last[1] < pause) last[1] = time;
    else found.push([time, time]);
  }
  return found;
}

function gapsBetween(found: readonly [number, number][]): number[] {
  return found.slice(1).map(([begin], index) => begin - (found[index]?.[1] ?? 0));
}
