import { setTimeout as sleep } from 'node:timers/promises';
import type { PagedDatabase } from '../../../src/storage/db/pages.ts';
import { adminKey } from '../../support/send.ts';

/** A program that reads the feed of events, and goes on after each failure. */
export interface FeedReader {
  /** The ids of the events, in the order in which it got them. */
  readonly ids: readonly string[];
  /** When it got the event of a target for the first time, in milliseconds since the epoch. */
  readonly seenAt: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

interface FeedEvent {
  readonly id: string;
  readonly targetId: string;
}

const pauseMs = 50;
/** A stream has heartbeats every 10 seconds, so one that is silent for longer is dead. */
const silentMs = 12_000;

function startReader(
  read: (reader: { take(event: FeedEvent): void; signal: AbortSignal }) => Promise<void>,
): FeedReader {
  const ids: string[] = [];
  const seenAt = new Map<string, number>();
  const stopping = new AbortController();
  const { signal } = stopping;
  const take = ({ id, targetId }: FeedEvent): void => {
    ids.push(id);
    if (!seenAt.has(targetId)) seenAt.set(targetId, Date.now());
  };
  const running = (async () => {
    while (!signal.aborted) {
      // A process that is down or away; the reader keeps its cursor.
      await read({ take, signal }).catch(() => undefined);
      await sleep(pauseMs);
    }
  })();
  return {
    ids,
    seenAt,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

const headers = { authorization: `Bearer ${adminKey}` };

/** @param url of a process that runs, another one each time */
export function startPageReader(url: () => string | undefined): FeedReader {
  let after: string | undefined;
  return startReader(async ({ take, signal }) => {
    const target = `${url() ?? ''}/api/v1/events?limit=100${after === undefined ? '' : `&after=${after}`}`;
    const answer = await fetch(target, { headers, signal: AbortSignal.any([signal, AbortSignal.timeout(5_000)]) });
    if (!answer.ok) throw new Error(await answer.text());
    const page = (await answer.json()) as { data: FeedEvent[]; next: string };
    for (const event of page.data) take(event);
    after = page.next;
  });
}

/** @param url of a process that runs, another one each time */
export function startStreamReader(url: () => string | undefined): FeedReader {
  let last: string | undefined;
  return startReader(async ({ take, signal }) => {
    const silence = new AbortController();
    const timer = setTimeout(() => {
      silence.abort();
    }, silentMs);
    try {
      const answer = await fetch(`${url() ?? ''}/api/v1/events`, {
        headers: { ...headers, accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) },
        signal: AbortSignal.any([signal, silence.signal]),
      });
      if (!answer.ok || answer.body === null) throw new Error(await answer.text());
      let text = '';
      for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
        timer.refresh();
        text += chunk;
        for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
          const lines = text.slice(0, end).split('\n');
          text = text.slice(end + 2);
          const field = (name: string): string | undefined =>
            lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
          if (field('event') !== undefined) return;
          const data = field('data');
          if (data !== undefined) take(JSON.parse(data) as FeedEvent);
          last = field('id') ?? last;
        }
      }
    } finally {
      clearTimeout(timer);
    }
  });
}

export interface FeedFindings {
  /** Events that a reader did not get, counted for each reader. */
  readonly feedSkipped: number;
  readonly feedTwice: number;
  /** Readers that got another order than the first one. */
  readonly feedOrders: number;
}

const drainMs = 60_000;

/** Waits until the readers have all events of the database, stops them, and compares what they got. */
export async function compareReaders(readers: readonly FeedReader[], { db }: PagedDatabase): Promise<FeedFindings> {
  const stored: string[] = [];
  for await (const { _id } of db.collection<{ _id: string }>('events').find({}, { projection: { _id: 1 } })) {
    stored.push(_id);
  }
  const end = performance.now() + drainMs;
  while (readers.some(({ ids }) => ids.length < stored.length) && performance.now() < end) await sleep(100);
  // What comes twice comes now.
  await sleep(1_000);
  await Promise.all(readers.map((reader) => reader.stop()));
  const order = readers[0]?.ids.join() ?? '';
  const sum = (count: (ids: readonly string[]) => number): number =>
    readers.reduce((total, { ids }) => total + count(ids), 0);
  return {
    feedSkipped: sum((ids) => {
      const seen = new Set(ids);
      return stored.filter((id) => !seen.has(id)).length;
    }),
    feedTwice: sum((ids) => ids.length - new Set(ids).size),
    feedOrders: readers.filter(({ ids }) => ids.join() !== order).length,
  };
}
