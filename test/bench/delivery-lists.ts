/**
 * `npm run program -- bench:deliveries [deliveries] [engine]` measures how long pages and counts of long lists of deliveries
 * take, also of lists that few of the deliveries match. It fills a database of its own, on the engine that the service
 * would start or on the server in `TEST_MONGODB_URI`, and reads through the store of deliveries.
 */
import { randomUUID } from 'node:crypto';
import { Binary } from 'mongodb';
import type { DeliveryFilter } from '../../src/webhooks/deliveries/delivery-lists.ts';
import { createDeliveryStore, deliveryIndexes } from '../../src/webhooks/deliveries/delivery-store.ts';
import { fillLists } from './measure-lists.ts';

const size = Number(process.argv[2] ?? 100_000);
/** One delivery a second until now. */
const start = Date.now() - size * 1_000;
/** The first integration has nine of ten deliveries. */
const integrations = Array.from({ length: 100 }, () => randomUUID());
const [integrationId = ''] = integrations;
const body = new Binary(Buffer.from(JSON.stringify({ data: 'x'.repeat(500) })));
/** One of this many is rare in some way. */
const rarely = 5_000;

const lists = await fillLists(
  { collection: 'deliveries', indexes: deliveryIndexes },
  size,
  process.argv[3],
  (index) => {
    const receiver = (index % 10 === 0 ? integrations[Math.floor(index / 10) % 100] : undefined) ?? integrationId;
    const turn = index % rarely;
    const createdAt = new Date(start + index * 1_000);
    const nextAttemptAt = new Date(createdAt.getTime() + 300_000);
    const waits = { status: 'pending', lane: receiver, next_attempt_at: nextAttemptAt };
    const ended = { finished_at: createdAt, expires_at: new Date(start + 365 * 86_400_000) };
    const delivered = { status: 'delivered', last_outcome: '2xx', ...ended };
    const end =
      turn === 1
        ? { status: 'failed', last_outcome: 'timeout', ...ended }
        : turn === 2
          ? { ...waits, last_outcome: '5xx' }
          : turn === 3
            ? waits
            : delivered;
    return {
      _id: randomUUID(),
      event_id: randomUUID(),
      event_type: turn === 4 ? 'FISCAL_DAY_END' : 'ORDER_PLACED',
      integration_id: receiver,
      target_id: randomUUID(),
      event_created_at: createdAt,
      created_at: createdAt,
      body,
      stamp: 1,
      tries: 1,
      failures: 0,
      ...end,
    };
  },
);
const store = createDeliveryStore(lists.database);
const oneIn = rarely.toLocaleString('en');
const filters: readonly (readonly [string, DeliveryFilter])[] = [
  ['all', {}],
  ['delivered', { status: 'delivered' }],
  [`failed (1 in ${oneIn})`, { status: 'failed' }],
  [`pending (2 in ${oneIn})`, { status: 'pending' }],
  [`retrying (1 in ${oneIn})`, { status: 'pending', hasFailed: true }],
  [`pending without an attempt (1 in ${oneIn})`, { status: 'pending', hasFailed: false }],
  ['expired (none)', { status: 'expired' }],
  ['outcome 2xx', { lastOutcome: '2xx' }],
  [`outcome timeout (1 in ${oneIn})`, { lastOutcome: 'timeout' }],
  ['outcome 3xx (none)', { lastOutcome: '3xx' }],
  [`a type (1 in ${oneIn})`, { eventType: 'FISCAL_DAY_END' }],
  ['a type (none)', { eventType: 'CATEGORY_UPDATED' }],
  ['a target (none)', { targetId: randomUUID() }],
  [`a type and failed (none)`, { eventType: 'FISCAL_DAY_END', status: 'failed' }],
];
for (const [name, filter] of filters) {
  await lists.measure(name, store.list(filter));
  await lists.measure(`${name}, of a busy integration`, store.list({ ...filter, integrationId }));
}
await lists.close();
