import { setTimeout as sleep } from 'node:timers/promises';
import { createLayoutStore, type LayoutStore } from '../../../src/webhooks/partitions/layout-store.ts';
import { defaultTiming } from '../../../src/webhooks/timing.ts';
import { LossyProxy } from '../../support/lossy-proxy.ts';
import type { ReceivedRequest, Reaction } from '../../support/receiver.ts';
import type { OrderStream } from './order-stream.ts';
import { faultTiming } from './timing.ts';
import { verify, type Findings } from './verify.ts';
import { startWorld, type World, type WorldSettings } from './faults-world.ts';

/** Findings, and the number of times that the fault really happened. A scenario without its fault shows nothing. */
export interface ScenarioResult {
  readonly faults: number;
  readonly findings: Findings;
}

export interface ScenarioSettings {
  readonly databaseUri: string;
  /** Orders per second. */
  readonly rate: number;
  /** The lowest number of orders that are acknowledged between two faults. */
  readonly ordersBetweenFaults: number;
}

/** A slow receiver that sometimes answers 500 or cuts the connection. */
function flaky(random: () => number = Math.random): (request: ReceivedRequest) => Reaction {
  return () => {
    const dice = random();
    if (dice < 0.03) return { kind: 'answer', status: 500 };
    if (dice < 0.05) return { kind: 'cut' };
    return { kind: 'answer', status: 200, delay: 50 * random() };
  };
}

async function scenario(
  { rate }: ScenarioSettings,
  settings: WorldSettings,
  disturb: (world: World, stream: OrderStream) => Promise<number>,
  others: readonly ((request: ReceivedRequest) => Reaction)[] = [],
): Promise<ScenarioResult> {
  const world = await startWorld(settings);
  try {
    await world.addLedger();
    await world.addLedger(flaky());
    for (const react of others) await world.addLedger(react);
    const stream = world.placeOrders(rate);
    const faults = await disturb(world, stream);
    return { faults, findings: await verify(world, stream) };
  } finally {
    await world.close();
  }
}

/** Waits for this number of acknowledged orders and a random time, so that faults hit every step. */
async function progress(stream: OrderStream, orders: number): Promise<void> {
  const goal = stream.acknowledged.size + orders;
  const end = performance.now() + 60_000;
  while (stream.acknowledged.size < goal) {
    if (performance.now() > end) throw new Error('orders are not acknowledged any more');
    await sleep(10);
  }
  await sleep(Math.random() * 300);
}

/**
 * Kills service processes with kill -9 and restarts them, repeatedly.
 *
 * @param together whether both die at the same moment; else one of them, and the other runs alone for a moment
 */
export function killServices(settings: ScenarioSettings, kills: number, together: boolean): Promise<ScenarioResult> {
  return scenario(settings, settings, async ({ nodes }, stream) => {
    let done = 0;
    for (; done < kills; done += 1) {
      await progress(stream, settings.ordersBetweenFaults);
      const victims = together ? nodes : nodes.slice(done % nodes.length, (done % nodes.length) + 1);
      await Promise.all(victims.map((victim) => victim.kill()));
      await sleep(Math.random() * 1_000);
      await Promise.all(victims.map((victim) => victim.start()));
    }
    await progress(stream, settings.ordersBetweenFaults);
    return done;
  });
}

/** Kills one of two service processes that have the ordinary times, and starts it again when the other has its partitions. */
export function takeOver(settings: ScenarioSettings, kills: number): Promise<ScenarioResult> {
  const receivers = Array.from({ length: 6 }, () => (): Reaction => ({ kind: 'answer' }));
  return scenario(
    settings,
    { ...settings, timing: { ...defaultTiming, schedule: faultTiming.schedule } },
    async ({ nodes }, stream) => {
      for (let kill = 0; kill < kills; kill += 1) {
        await progress(stream, settings.ordersBetweenFaults);
        const victim = nodes[kill % nodes.length];
        await victim?.kill();
        await sleep(defaultTiming.lease * 2);
        await victim?.start();
      }
      await progress(stream, settings.ordersBetweenFaults);
      return kills;
    },
    receivers,
  );
}

/**
 * Kills the database with kill -9, repeatedly. The process that started it restarts it.
 *
 * @param databasePid of the server that currently runs
 */
export function killDatabases(
  settings: ScenarioSettings,
  kills: number,
  databasePid: () => Promise<number>,
): Promise<ScenarioResult> {
  return scenario(settings, settings, async (_world, stream) => {
    const killed = new Set<number>();
    for (let kill = 0; kill < kills; kill += 1) {
      await progress(stream, settings.ordersBetweenFaults);
      const pid = await databasePid();
      process.kill(pid, 'SIGKILL');
      killed.add(pid);
    }
    await progress(stream, settings.ordersBetweenFaults);
    return killed.size;
  });
}

const collections = [
  ...['orders', 'products', 'events', 'deliveries', 'attempts', 'lanes', 'layout', 'integrations', 'categories'],
] as const;

/** After a loss the driver needs half a second to find the server again. */
const lossPauseMs = 300;

/** Loses answers, requests and confirmations of writes between services and database, all the time. */
export async function loseAnswers(settings: ScenarioSettings, seconds: number): Promise<ScenarioResult> {
  const proxy = await LossyProxy.start(settings.databaseUri);
  try {
    return await scenario(settings, { ...settings, serviceUri: proxy.uri }, async (_world, stream) => {
      const end = performance.now() + seconds * 1_000;
      let lost = 0;
      for (let turn = 0; performance.now() < end; turn += 1) {
        const collection = collections[turn % collections.length] ?? 'orders';
        // Mostly answers, because a write that is applied but not confirmed is the hardest case.
        const of = turn % 5 === 3 ? 'request' : turn % 5 === 4 ? 'confirmation' : 'answer';
        void proxy.lose({ collection, of }).then(() => (lost += 1));
        await sleep(lossPauseMs);
      }
      await progress(stream, settings.ordersBetweenFaults);
      return lost;
    });
  } finally {
    await proxy.stop();
  }
}

/** Suspends one process for longer than its leases last, and then continues it. */
export function stopWorker(settings: ScenarioSettings, stops: number, leaseMs: number): Promise<ScenarioResult> {
  return scenario(settings, settings, async ({ nodes, database }, stream) => {
    const layout = createLayoutStore(database);
    const owners = async (): Promise<readonly (string | undefined)[]> => (await layout.read()).holders;
    let takenOver = 0;
    for (let stop = 0; stop < stops; stop += 1) {
      await progress(stream, settings.ordersBetweenFaults);
      const before = await owners();
      const victim = nodes[stop % nodes.length];
      victim?.signal('SIGSTOP');
      await sleep(leaseMs * 1.8);
      const after = await owners();
      victim?.signal('SIGCONT');
      takenOver += before.filter((holder, partition) => holder !== after[partition]).length;
    }
    await progress(stream, settings.ordersBetweenFaults);
    return takenOver;
  });
}

/** Sets the clocks of two processes a minute apart. Each process dies once and then continues the work of the other. */
export function skewClocks(settings: ScenarioSettings, seconds: number): Promise<ScenarioResult> {
  return scenario(settings, { ...settings, clockShifts: [-30_000, 30_000] }, async ({ nodes }, stream) => {
    for (const node of nodes) {
      await sleep((seconds * 1_000) / (nodes.length + 1));
      await progress(stream, settings.ordersBetweenFaults);
      await node.kill();
      await sleep(500);
      await node.start();
    }
    await sleep((seconds * 1_000) / (nodes.length + 1));
    await progress(stream, settings.ordersBetweenFaults);
    return nodes.length;
  });
}

/** A third process joins two others and leaves again, repeatedly. Partitions move to it and back. */
export function joinAndLeave(settings: ScenarioSettings, rounds: number): Promise<ScenarioResult> {
  return scenario(settings, { ...settings, clockShifts: [0, 0, 0] }, async ({ nodes, database, ledgers }, stream) => {
    const layout = createLayoutStore(database);
    const third = nodes[2];
    let moved = 0;
    for (let round = 0; round < rounds; round += 1) {
      await third?.stop();
      const before = await settledLayout(layout, 2);
      await progress(stream, settings.ordersBetweenFaults);
      await third?.start();
      const after = await settledLayout(layout, 3);
      await progress(stream, settings.ordersBetweenFaults);
      moved += before.filter((holder, partition) => holder !== after[partition]).length;
    }
    const [steady] = ledgers;
    if (steady !== undefined) {
      const again = steady.arrivals - steady.events.size;
      console.log(`  ${again} of ${steady.events.size} events sent again to the receiver that always answers 200`);
    }
    return moved;
  });
}

/** Waits until a number of processes share the partitions. @returns the holder of each */
async function settledLayout(layout: LayoutStore, members: number): Promise<readonly (string | undefined)[]> {
  for (const end = performance.now() + 60_000; performance.now() < end; await sleep(100)) {
    const { members: present, holders } = await layout.read();
    const least = Math.floor(holders.length / members);
    const isShared = [...present.keys()].every((id) => holders.filter((holder) => holder === id).length >= least - 2);
    if (present.size === members && isShared && !holders.includes(undefined)) return holders;
  }
  throw new Error(`the partitions were not divided among ${members} processes`);
}

/**
 * Takes the database away for some seconds, after a receiver has failed for a while. Then everything is due, and the
 * receiver works again.
 */
export async function loseDatabase(settings: ScenarioSettings, seconds: number): Promise<ScenarioResult> {
  const proxy = await LossyProxy.start(settings.databaseUri);
  let isFailing = true;
  try {
    return await scenario(
      settings,
      { ...settings, serviceUri: proxy.uri },
      async (_world, stream) => {
        await progress(stream, 2 * settings.ordersBetweenFaults);
        await stream.stop();
        await proxy.stop();
        await sleep(seconds * 1_000);
        isFailing = false;
        await proxy.restart();
        return 1;
      },
      [() => ({ kind: 'answer', status: isFailing ? 500 : 200 })],
    );
  } finally {
    await proxy.stop();
  }
}
