/**
 * What very many waiting deliveries cost other integrations: of a receiver that never answers, of integrations that were
 * deleted, and of integrations that are enabled again. Engine, database and receivers run in a process each.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { newDelivery } from '../../src/webhooks/deliveries/delivery.ts';
import { createDeliveryStore } from '../../src/webhooks/deliveries/delivery-store.ts';
import { percentile } from '../faults/webhooks/percentile.ts';
import { openCrowd } from './webhooks-crowd-world.ts';

/** Receivers from 1 on that answer, and get every event. */
const healthy = 20;
const eventsPerSecond = 10;
/** Integrations that share the other waiting deliveries. */
const many = 1_000;
const firstOfMany = 100;
const baselineSeconds = 20;
const measuredSeconds = 40;
const insertedAtOnce = 500;
const activatedAtOnce = 100;

/** Measures with a number of waiting deliveries, and prints a table. */
export async function benchBacklog(databaseUri: string, waiting: number): Promise<void> {
  const crowd = await openCrowd(databaseUri, `bench_${randomUUID().slice(0, 8)}`);
  const { database, receivers, webhooks, add, place } = crowd;
  const busy = randomUUID();
  const rows: Record<string, string | number>[] = [];
  const deliveries = createDeliveryStore(database);

  const seed = async (integrationIds: readonly string[]): Promise<void> => {
    for (let done = 0; done < waiting; done += insertedAtOnce) {
      const at = new Date();
      const some = Array.from({ length: insertedAtOnce }, (_, offset) => {
        const [eventId, id] = [randomUUID(), integrationIds[(done + offset) % integrationIds.length] ?? ''];
        const body = Buffer.from(JSON.stringify({ id: eventId, createdAt: at, data: 'x'.repeat(300) }));
        const event = { eventId, eventType: 'ORDER_PLACED', targetId: randomUUID(), eventCreatedAt: at, body } as const;
        return newDelivery({ ...event, integrationId: id }, at);
      });
      await deliveries.insertMissing(some);
    }
  };
  const activate = async (ids: readonly string[]): Promise<void> => {
    const integrations = database.db.collection<{ _id: string }>('integrations');
    // By few commands: while the first ones already get their deliveries, each command takes long.
    for (let start = 0; start < ids.length; start += activatedAtOnce) {
      const some = ids.slice(start, start + activatedAtOnce);
      await integrations.updateMany({ _id: { $in: some } }, { $set: { status: 'active' } });
    }
    for (const id of ids) webhooks.engine.nudge(id);
  };
  /** Measures how soon the healthy receivers get events, and prints it. */
  const measure = async (what: string, seconds: number): Promise<void> => {
    receivers.react({ hang: 1 });
    let placed = 0;
    const begin = performance.now();
    for (; performance.now() < begin + seconds * 1_000; placed += 1) {
      await place(busy);
      await sleep(Math.max(0, begin + ((placed + 1) * 1_000) / eventsPerSecond - performance.now()));
    }
    await sleep(3_000);
    const arrivals = await receivers.until(0);
    const delays = arrivals.flatMap(([index, at, createdAt]) => (index > 0 && index <= healthy ? at - createdAt : []));
    const at = (share: number): number => Math.round(percentile(delays, share));
    const row = { '': what, 'p50 ms': at(0.5), 'p95 ms': at(0.95), 'p99 ms': at(0.99), 'most ms': at(1) };
    const others = arrivals.length - delays.length;
    rows.push({ ...row, missing: placed * healthy - delays.length, 'requests to others': others });
    console.log(rows.at(-1));
  };

  try {
    const hanging = await add(0, [], 'paused');
    for (let index = 1; index <= healthy; index += 1) await add(index, [busy]);
    const enabled = await Promise.all(
      Array.from({ length: many }, (_, index) => add(firstOfMany + index, [], 'paused')),
    );
    const deleted = Array.from({ length: many }, () => randomUUID());
    for (const ids of [[hanging], deleted, enabled]) await seed(ids);
    webhooks.start();
    await sleep(5_000);
    await measure('warm-up', 5);
    await measure('nothing else happens', baselineSeconds);
    await activate([hanging]);
    await measure(`a receiver hangs, and ${waiting} deliveries wait for it`, measuredSeconds);
    await measure('nothing else happens', baselineSeconds);
    const sweeping = webhooks.retention.sweepOrphans();
    await measure(`${waiting} deliveries of ${many} deleted integrations are removed`, measuredSeconds);
    const begin = performance.now();
    await sweeping;
    console.log('the removal took', Math.round((performance.now() - begin) / 1_000), 's more');
    await measure('nothing else happens', baselineSeconds);
    await activate(enabled);
    await measure(`${many} integrations with ${waiting} deliveries are enabled`, measuredSeconds);
    console.table(rows);
  } finally {
    await crowd.close();
  }
}
