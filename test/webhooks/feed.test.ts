import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createEventStore } from '../../src/webhooks/events/event-store.ts';
import { createBlockStore, type Block } from '../../src/webhooks/feed/block-store.ts';
import type { Feed, FeedPage } from '../../src/webhooks/feed/feed.ts';
import type { FeedPosition } from '../../src/webhooks/feed/cursor.ts';
import { until } from '../support/until.ts';
import { startHarness, type Harness } from './webhooks-harness.ts';

const day = 24 * 3_600_000;
const everything = { types: undefined, locationId: undefined, targetId: undefined, reach: undefined };

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const idsOf = ({ events }: FeedPage): string[] =>
  events.map(({ body }) => (JSON.parse(Buffer.from(body).toString()) as { id: string }).id);

/** Reads the feed from a position to its end. */
async function readAll(feed: Feed, from: FeedPosition): Promise<string[]> {
  const ids: string[] = [];
  for (let at = from; ;) {
    const page = await feed.page(everything, at, 7);
    ids.push(...idsOf(page));
    if (!page.more) return ids;
    at = page.next;
  }
}

describe('several processes', () => {
  it('give each event one place, the same for all', async () => {
    const engines = [harness.createEngine(), harness.createEngine(), harness.createEngine()];
    for (const engine of engines) engine.start();
    const start = await engines[0]?.feed.start('oldest');
    const placed: string[] = [];
    for (let each = 0; each < 90; each += 1) placed.push(await harness.placeOrder(engines[each % engines.length]));
    const feeds = engines.map(({ feed }) => feed);
    const read = (feed: Feed | undefined): Promise<string[]> =>
      feed === undefined || start === undefined ? Promise.resolve([]) : readAll(feed, start);
    await until(
      () => read(feeds[0]),
      (ids) => ids.length >= placed.length,
    );
    const orders = await Promise.all(feeds.map(read));
    expect(orders[0]?.toSorted()).toEqual(placed.toSorted());
    expect(new Set(orders.map((ids) => ids.join())).size).toBe(1);
    await harness.stopEngines();
  });

  it('finish what another one began and left', async () => {
    const events = createEventStore(harness.database);
    const blocks = createBlockStore(harness.database);
    const newest = await blocks.newest(undefined);
    const event = (): Parameters<typeof events.insertMissing>[0][number] => ({
      ...{ id: randomUUID(), type: 'ORDER_PLACED', targetId: randomUUID(), locationId: undefined },
      ...{ createdAt: new Date(), body: Buffer.from('{}'), recipients: [] },
    });
    // One process died before it placed an event, another one after it had placed one.
    const [left, placed] = [event(), event()];
    await events.insertMissing([left, placed], new Date(Date.now() + day));
    const { id, type, targetId, locationId } = placed;
    const number = (newest?.number ?? 0) + 1;
    await blocks.insert({ number, createdAt: new Date(), entries: [{ id, type, targetId, locationId }] });
    harness.createEngine().start();
    const next = await until(
      () => blocks.read(number + 1, 5),
      (found) => found.length > 0,
    );
    expect(next.map(({ entries }) => entries.map((entry) => entry.id))).toEqual([[left.id]]);
    await until(
      () => events.unplaced(10),
      (found) => found.length === 0,
    );
    await harness.stopEngines();
  });
});

describe('old blocks', () => {
  it('are removed, but not the newest, from which the numbers go on', async () => {
    const blocks = createBlockStore(harness.database);
    const first = ((await blocks.newest(undefined))?.number ?? 0) + 1;
    const block = (number: number, ageMs: number): Block => ({
      number,
      createdAt: new Date(Date.now() - ageMs),
      entries: [{ id: randomUUID(), type: 'ORDER_PLACED', targetId: randomUUID(), locationId: undefined }],
    });
    await harness.database.db
      .collection<{ _id: string }>('feed_blocks')
      .updateMany({ _id: { $ne: 'kept' } }, { $set: { created_at: new Date(Date.now() - 31 * day) } });
    for (let number = first; number < first + 250; number += 1) await blocks.insert(block(number, 31 * day));
    const engine = harness.createEngine();
    const before = await engine.feed.start('oldest');
    await engine.shortenFeed();
    expect(await blocks.first()).toBe(first + 249);
    expect(await blocks.read(first + 248, 3)).toEqual([]);
    expect((await blocks.newest(undefined))?.number).toBe(first + 249);
    await expect(engine.feed.page(everything, before, 10)).rejects.toMatchObject({ type: 'cursor-expired' });

    await blocks.insert(block(first + 250, 0));
    await engine.shortenFeed();
    expect(await blocks.first()).toBe(first + 250);
    expect((await blocks.newest(undefined))?.number).toBe(first + 250);
  });
});
