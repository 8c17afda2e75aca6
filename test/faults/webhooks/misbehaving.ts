import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { startReceiver, type Reaction } from '../../support/receiver.ts';
import { askedSeconds, behaviourMistakes, misbehaviourTiming } from './behaviour.ts';
import type { Ledger } from './ledger.ts';
import { percentile } from './percentile.ts';
import { startReceivers } from './receivers-process.ts';
import type { ScenarioSettings } from './scenarios.ts';
import { startWorld, type World } from './faults-world.ts';

const behaviourSeconds = 15;
const roundSeconds = 5;
/** The pause between two rounds. Requests of one round are not measured in the next. */
const settleSeconds = 4;
/**
 * The resident memory that may be used in addition to that with good receivers. The floods have 100 MB each, 64 at a
 * time.
 */
const memoryMebibytes = 160;
/** How much slower the healthy receiver may be served beside bad receivers than beside good ones. */
const slowdownAllowed = 1.1;
/**
 * Far below the capacity of the service, so that this measures the effect of one receiver on another and not a queue.
 */
const ordersPerSecond = 15;
/** With a small heap, V8 collects garbage early, and the measured memory is the memory in use. */
const smallHeap = { NODE_OPTIONS: '--max-old-space-size=128', MALLOC_ARENA_MAX: '2' };

function reactions(elsewhere: string): Readonly<Record<string, Reaction>> {
  return {
    hang: { kind: 'hang' },
    'trickle-head': { kind: 'trickle-head' },
    'trickle-body': { kind: 'trickle-body' },
    500: { kind: 'answer', status: 500 },
    302: { kind: 'answer', status: 302, headers: { location: elsewhere } },
    410: { kind: 'answer', status: 410 },
    429: { kind: 'answer', status: 429, headers: { 'retry-after': String(askedSeconds) } },
    cut: { kind: 'cut' },
    flood: { kind: 'flood', status: 200, bytes: 100_000_000 },
  };
}

/**
 * Receivers that hang, trickle, fail, redirect, answer 410, send Retry-After, cut the connection and flood, beside a
 * healthy one. Each must get what the design requires, and the healthy one must hardly be slower. It is measured in
 * turn beside bad receivers and beside the same number of good ones.
 */
export async function misbehavingReceivers(
  { databaseUri }: Pick<ScenarioSettings, 'databaseUri'>,
  rounds: number,
): Promise<boolean> {
  const elsewhere = await startReceiver();
  const told = reactions(elsewhere.url);
  const bad = await startReceivers(told);
  const good = await startReceivers(Object.fromEntries(Object.keys(told).map((name) => [name, { kind: 'answer' }])));
  const world = await startWorld({ databaseUri, clockShifts: [0], timing: misbehaviourTiming, environment: smallHeap });
  const memory = watchMemory(world);
  try {
    const healthy = await world.addLedger();
    const subscribe = async (urls: Readonly<Record<string, string>>): Promise<Record<string, string>> => {
      const ids: Record<string, string> = {};
      for (const [name, url] of Object.entries(urls)) {
        ids[name] = await world.subscribe(url, randomBytes(16).toString('hex'));
      }
      return ids;
    };
    const goodOnes = Object.values(await subscribe(good.urls));
    const stream = world.placeOrders(ordersPerSecond);
    await sleep(5_000);
    memory.mark();
    await listen(world, goodOnes, false);

    const badOnes = await subscribe(bad.urls);
    await sleep(behaviourSeconds * 1_000);
    const accounts = await bad.accounts();
    const mistakes = await behaviourMistakes(world, badOnes, accounts, elsewhere.requests.length);
    console.log(
      `misbehaving receivers: ${Object.entries(accounts)
        .map(([name, { requestedAt }]) => `${name} ${requestedAt.length}`)
        .join(', ')} requests; redirects followed: ${elsewhere.requests.length}`,
    );
    for (const mistake of mistakes) console.log(`  WRONG: ${mistake}`);

    const pairs: { good: number; bad: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const measured = { good: Number.NaN, bad: Number.NaN };
      for (const kind of round % 2 === 0 ? (['good', 'bad'] as const) : (['bad', 'good'] as const)) {
        const ids = kind === 'good' ? goodOnes : Object.values(badOnes);
        await listen(world, kind === 'good' ? Object.values(badOnes) : goodOnes, false);
        await listen(world, ids, true);
        await sleep(settleSeconds * 1_000);
        measured[kind] = await measure(healthy);
      }
      pairs.push(measured);
    }
    await stream.stop();
    await sleep(3_000);
    const missed = stream.acknowledged.size - acceptedOrders(healthy);

    const slowdown = percentile(
      pairs.map((pair) => pair.bad / pair.good),
      0.5,
    );
    const list = (kind: 'good' | 'bad'): string => pairs.map((pair) => pair[kind]).join(' ');
    console.log(`  p95 of the healthy one in ms: beside good ones ${list('good')}, beside bad ones ${list('bad')}`);
    console.log(`  median of the pairs: ${slowdown.toFixed(2)} (at most ${slowdownAllowed})`);
    const { before, peak } = memory.stop();
    console.log(`  resident memory: ${before} MiB beside good ones, ${peak} MiB at most beside bad ones`);
    console.log(`  ${stream.acknowledged.size} orders, ${missed} of them missing at the healthy receiver`);
    return mistakes.length === 0 && missed === 0 && slowdown <= slowdownAllowed && peak - before <= memoryMebibytes;
  } finally {
    memory.stop();
    await world.close();
    await Promise.all([bad.stop(), good.stop(), elsewhere.close()]);
  }
}

/** Sets whether integrations get orders. Enables an integration that the service disabled. */
function listen(world: World, ids: readonly string[], isListening: boolean): Promise<void> {
  return world.edit(ids, (integration) => ({
    ...integration,
    eventTypes: isListening ? ['ORDER_PLACED'] : ['FISCAL_DAY_END'],
    status: 'active',
    disabled: undefined,
  }));
}

/** @returns p95, in milliseconds, of the events that are created in the next seconds */
async function measure({ delays }: Ledger): Promise<number> {
  const from = Date.now();
  await sleep(roundSeconds * 1_000);
  const to = Date.now();
  // Events that were created at the end may still be on their way.
  await sleep(500);
  const during = delays.filter(({ createdAt }) => createdAt >= from && createdAt < to);
  return percentile(
    during.map(({ milliseconds }) => milliseconds),
    0.95,
  );
}

function acceptedOrders({ events }: Ledger): number {
  return [...events.values()].filter(({ type, accepted }) => type === 'ORDER_PLACED' && accepted > 0).length;
}

interface MemoryWatch {
  /** The memory used until now is the base for the comparison. */
  mark(): void;
  stop(): { readonly before: number; readonly peak: number };
}

function watchMemory({ nodes }: World): MemoryWatch {
  let before = 0;
  let peak = 0;
  const look = async (): Promise<void> => {
    const status = await readFile(`/proc/${nodes[0]?.pid ?? 0}/status`, 'utf8');
    peak = Math.max(peak, Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024));
  };
  const timer = setInterval(() => void look().catch(() => undefined), 200);
  return {
    mark() {
      before = peak;
      peak = 0;
    },
    stop() {
      clearInterval(timer);
      return { before, peak };
    },
  };
}
