import { LRUCache } from 'lru-cache';
import type { Document } from 'mongodb';
import type { Span } from './pages.ts';

/** What is divided: the documents with certain values, by a date. */
export interface Division {
  readonly collection: { readonly collectionName: string };
  readonly where: Document;
  readonly time: string;
}

/** Documents of a window, about. One with twice as many is divided, and neighbours with fewer together are joined. */
const usual = 250;
/** Divisions that are known: those that were used last. */
const mostKnown = 1_000;
/** Bounds that a division takes over from a larger one. */
const mostTaken = 64;
/** Milliseconds before now where windows begin of which nothing is known: seconds to half a year. */
const firstAges = Array.from({ length: 8 }, (_, index) => 8_000 * 8 ** (7 - index));

interface Known {
  readonly division: Division;
  /** Where windows begin, ascending, in milliseconds. */
  readonly bounds: readonly number[];
  /** Whether there were too many documents for one window. */
  readonly isLarge: boolean;
}

/**
 * Windows of time in which a division has some hundred documents each. They are learnt from what was read, so the first
 * reads of a division can find windows with very many documents. They always cover all of time.
 */
export class Windows {
  readonly #known = new LRUCache<string, Known>({ max: mostKnown });

  /** The last window of a span. */
  last(division: Division, { since, until }: Span): Span {
    const [start, end] = edgesOf({ since, until });
    const bound = this.#find(division).bounds.findLast((at) => at < end);
    return { since: bound === undefined || bound <= start ? since : new Date(bound), until };
  }

  /** The first window of a span. */
  first(division: Division, { since, until }: Span): Span {
    const [start, end] = edgesOf({ since, until });
    const bound = this.#find(division).bounds.find((at) => at > start);
    return { since, until: bound === undefined || bound >= end ? until : new Date(bound) };
  }

  /**
   * Learns what a window holds.
   * @param times of its documents, ascending, in milliseconds
   * @returns whether it is divided now
   */
  learn(division: Division, window: Span, times: readonly number[]): boolean {
    const [start, end] = edgesOf(window);
    const { bounds, isLarge } = this.#find(division);
    const some = times.length < 2 * usual ? [] : times.filter((at, index) => index % usual === 0 && at > start);
    const added = [...new Set(some)];
    this.#known.set(keyOf(division), {
      division,
      bounds: [...bounds.filter((at) => at <= start), ...added, ...bounds.filter((at) => at >= end)],
      isLarge: isLarge || times.length > usual,
    });
    return added.length > 0;
  }

  /**
   * Joins neighbouring windows with few documents.
   * @param at where the later one begins
   * @returns whether they are one now
   */
  join(division: Division, at: Date | undefined, documents: number): boolean {
    if (documents >= usual) return false;
    const { bounds, isLarge } = this.#find(division);
    const left = bounds.filter((bound) => bound !== at?.getTime());
    this.#known.set(keyOf(division), { division, bounds: left, isLarge: isLarge && left.length > 0 });
    return true;
  }

  /** The values of a field that are known to have had too many documents for one window, in order. */
  large(collection: string, field: string): readonly { readonly value: string; readonly time: string }[] {
    const found = [...this.#known.values()].flatMap(({ isLarge, division: { collection: of, where, time } }) =>
      isLarge && of.collectionName === collection && Object.keys(where).join() === field
        ? [[where[field] as string, time] as const]
        : [],
    );
    return [...new Map(found)].map(([value, time]) => ({ value, time })).sort((a, b) => (a.value < b.value ? -1 : 1));
  }

  #find(division: Division): Known {
    return this.#known.get(keyOf(division)) ?? { division, bounds: this.#firstBounds(division), isLarge: false };
  }

  /** Those of the smallest known division that contains this one. */
  #firstBounds({ collection, where, time }: Division): readonly number[] {
    const { collectionName } = collection;
    const containing = [...this.#known.values()].filter(
      ({ division: other }) =>
        other.collection.collectionName === collectionName &&
        other.time === time &&
        Object.entries(other.where).every(([name, value]) => where[name] === value),
    );
    const sizeOf = ({ division: other }: Known): number => Object.keys(other.where).length;
    const [smallest] = containing.sort((a, b) => sizeOf(b) - sizeOf(a));
    const now = Date.now();
    if (smallest === undefined) return firstAges.map((age) => now - age);
    const step = Math.ceil(smallest.bounds.length / mostTaken);
    return smallest.bounds.filter((_, index) => index % step === 0);
  }
}

function edgesOf({ since, until }: Span): readonly [start: number, end: number] {
  return [since?.getTime() ?? -Infinity, until?.getTime() ?? Infinity];
}

function keyOf({ collection, where, time }: Division): string {
  return JSON.stringify([collection.collectionName, time, where]);
}
