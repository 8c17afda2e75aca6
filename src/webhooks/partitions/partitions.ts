/**
 * Divides the partitions among the processes, without comparing clocks. A process that lives increments its beat in the
 * layout. It measures the end of its lease from before each beat, on its own monotonic clock. Another process frees its
 * partitions only after it has itself seen the beat unchanged for the full term, so the lease has ended by then.
 */
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';
import { createStalenessWatch } from '../../base/runtime/staleness-watch.ts';
import type { WebhookLog } from '../observer.ts';
import { repeat, type Repetition } from '../repeat.ts';
import type { WebhookTiming } from '../timing.ts';
import type { Layout, LayoutChange, LayoutStore } from './layout-store.ts';
import { partitionCount, partitionOf } from './partition.ts';

/** What happens to the partitions of this process. */
export interface PartitionEvents {
  /** This process holds them from now on. */
  taken(partitions: readonly number[]): void;
  /** Nothing more is begun in them. */
  lost(partitions: readonly number[]): void;
  /** Whether nothing is in progress in a partition that is lost. Only then it is passed on. */
  isDrained(partition: number): boolean;
  /** Another process has work for them. */
  called(partitions: readonly number[]): void;
  /** Attempts can begin, for another term. */
  renewed(): void;
}

/** The partitions that this process holds. */
export interface Partitions {
  /** Whether this process may begin attempts for an integration now. */
  holds(integrationId: string): boolean;
  /** Those that this process holds; after the end of its lease another process may hold them. */
  held(): ReadonlySet<number>;
  /** A number that is larger than all that this and other processes used before. */
  nextStamp(): number;
  /** Whether other processes hold partitions, as seen last. */
  hasOthers(): boolean;
  /** Asks the process that holds an integration to look for work. */
  call(integrationId: string): Promise<void>;
  start(events: PartitionEvents): void;
  /** Keeps what it holds, begins nothing in it, and takes nothing more. */
  settle(): Promise<void>;
  isSettled(): boolean;
  /** Frees everything at once. */
  leave(): Promise<void>;
}

/**
 * The stamp of a batch is `token * batchesPerToken + batch`, so it grows with each taking and each batch. A suspended
 * process that continues cannot settle a failure with its old stamp: in the worst case a receiver gets an event twice,
 * with the same id. A process gets another token when half of its batches are used.
 */
const batchesPerToken = 2 ** 20;
/** The part of the lease in which nothing is begun any more. */
const margin = 0.07;
/** The most looks of one poll, when other processes change the layout at the same time. */
const looksAtOnce = 5;
const leaveMs = 2_000;

export function createPartitions(
  store: LayoutStore,
  timing: Pick<WebhookTiming, 'lease' | 'beat' | 'poll'>,
  clock: Clock,
  random: Random,
  log: WebhookLog,
): Partitions {
  const beats = createStalenessWatch(() => clock.monotonic());
  /** After a longer gap between two readings, a beat that has not moved shows nothing. */
  const longestGap = Math.max(timing.lease * 0.3, timing.poll * 2);
  /** Unique to this run of this process. Undefined before it has joined. */
  let me: string | undefined;
  let events: PartitionEvents | undefined;
  /** On the monotonic clock. */
  let leaseEnd = 0;
  let token = 0;
  let batch = 0;
  const held = new Set<number>();
  /** Partitions that are passed on when they are drained. */
  const releasing = new Set<number>();
  const seenCalls = new Map<number, number>();
  let lastReadAt = 0;
  let members = 1;
  let isSettled = false;
  let isStopped = false;
  let watching: Promise<void> = Promise.resolve();

  const read = async (): Promise<Layout> => {
    try {
      return await store.read();
    } catch (error) {
      // The others cannot beat either while the database does not answer.
      beats.keepOnly(new Set());
      throw error;
    }
  };

  const join = async (): Promise<void> => {
    const begin = clock.monotonic();
    const id = random.uuid().replaceAll('-', '').slice(0, 16);
    await store.join(id);
    [me, leaseEnd, token, batch] = [id, begin + timing.lease, 0, 0];
  };

  const lose = (partitions: readonly number[]): void => {
    for (const partition of partitions) held.delete(partition);
    if (partitions.length > 0) events?.lost(partitions);
  };

  const loseAll = (): void => {
    me = undefined;
    releasing.clear();
    lose([...held]);
  };

  const beat = async (): Promise<void> => {
    if (me === undefined) return;
    const [id, begin] = [me, clock.monotonic()];
    const isMember = await store.beat(id);
    if (me !== id) return;
    if (!isMember) {
      loseAll();
      return;
    }
    leaseEnd = begin + timing.lease;
    events?.renewed();
  };

  /** Takes over what the layout says. A lost answer of a change is found out here. */
  const adopt = (layout: Layout, id: string): void => {
    const present = layout.members.get(id)?.token ?? 0;
    if (present > token) [token, batch] = [present, 0];
    const mine = new Set(layout.holders.flatMap((holder, partition) => (holder === id ? [partition] : [])));
    for (const partition of releasing) if (!mine.has(partition)) releasing.delete(partition);
    lose([...held].filter((partition) => !mine.has(partition)));
    const taken = [...mine].filter((partition) => !held.has(partition) && !releasing.has(partition));
    const called = [...held].filter((partition) => seenCalls.get(partition) !== layout.calls[partition]);
    for (const partition of taken) held.add(partition);
    for (const partition of held) seenCalls.set(partition, layout.calls[partition] ?? 0);
    if (taken.length > 0) events?.taken(taken);
    if (called.length > 0) events?.called(called);
  };

  /** What this process should change now, from what it sees. */
  const nextChange = (layout: Layout, id: string, readAt: number): LayoutChange | undefined => {
    for (const [member, { beat: mark }] of layout.members) {
      if (member === id || beats.observe(member, String(mark), readAt).unchangedMs < timing.lease) continue;
      log.info({ member }, 'a process shows no sign of life; its partitions are free');
      const holders = layout.holders.map((each) => (each === member ? undefined : each));
      return { removed: { member, beat: mark }, holders };
    }
    beginRelease(layout);
    const drained = new Set([...releasing].filter((partition) => events?.isDrained(partition) === true));
    if (drained.size > 0) {
      return { holders: layout.holders.map((holder, partition) => (drained.has(partition) ? undefined : holder)) };
    }
    const quota = Math.ceil(partitionCount / layout.members.size);
    const free = layout.holders.flatMap((holder, partition) => (holder === undefined ? [partition] : []));
    const wanted = new Set(isSettled ? [] : free.slice(0, Math.max(0, quota - held.size - releasing.size)));
    if (wanted.size > 0) {
      return { raised: id, holders: layout.holders.map((holder, partition) => (wanted.has(partition) ? id : holder)) };
    }
    return batch > batchesPerToken / 2 ? { raised: id } : undefined;
  };

  /** Begins to pass on what exceeds the share of this process, if another one has too few. */
  const beginRelease = ({ members: all, holders }: Layout): void => {
    const least = Math.floor(partitionCount / all.size);
    const hasFew = [...all.keys()].some((member) => holders.filter((holder) => holder === member).length < least);
    if (!hasFew || releasing.size > 0) return;
    const surplus = [...held].slice(Math.ceil(partitionCount / all.size));
    for (const partition of surplus) releasing.add(partition);
    lose(surplus);
  };

  const look = async (): Promise<void> => {
    for (let looks = 0; looks < looksAtOnce && !isStopped; looks += 1) {
      const readAt = clock.monotonic();
      const layout = await read();
      if (clock.monotonic() - lastReadAt > longestGap) beats.keepOnly(new Set());
      lastReadAt = clock.monotonic();
      members = layout.members.size;
      if (me === undefined || !layout.members.has(me)) {
        loseAll();
        if (isSettled) return;
        await join();
        continue;
      }
      adopt(layout, me);
      const change = nextChange(layout, me, readAt);
      if (change === undefined) return;
      await store.change(layout, change);
    }
  };

  let loops: readonly Repetition[] = [];
  const warn = (error: unknown): void => {
    log.warn({ error }, 'the layout of partitions could not be read or changed; retrying');
  };

  return {
    holds: (integrationId) =>
      !isSettled && held.has(partitionOf(integrationId)) && clock.monotonic() < leaseEnd - timing.lease * margin,
    held: () => held,
    nextStamp: () => token * batchesPerToken + (batch += 1),
    hasOthers: () => members > 1,
    call: (integrationId) => store.call(partitionOf(integrationId)),
    start(consumer) {
      events = consumer;
      const pause = (): number => (releasing.size > 0 ? timing.poll / 10 : timing.poll);
      loops = [repeat(() => (watching = look()), pause, warn, 0), repeat(beat, () => timing.beat, warn)];
    },
    async settle() {
      isSettled = true;
      await watching.catch(() => undefined);
    },
    isSettled: () => isSettled,
    async leave() {
      isStopped = true;
      for (const loop of loops) void loop.end();
      await watching.catch(() => undefined);
      const id = me;
      held.clear();
      me = undefined;
      for (const end = clock.monotonic() + leaveMs; id !== undefined && clock.monotonic() < end;) {
        try {
          const layout = await store.read();
          if (!layout.members.has(id)) return;
          const holders = layout.holders.map((holder) => (holder === id ? undefined : holder));
          if (await store.change(layout, { removed: { member: id }, holders })) return;
        } catch {
          // After its lease has ended, another process frees the partitions.
          return;
        }
      }
    },
  };
}
