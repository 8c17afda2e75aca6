/**
 * Lists and walks of many documents.
 *
 * MongoDB reads only what an answer needs, in the order of an index (`plain-pages.ts`). Some compatible servers fetch
 * every document that a filter matches, whatever the limit or the order is; there, short windows of time are read
 * (`windowed-pages.ts`). No store knows about it. `open-pages.ts` finds out which kind a server is.
 */
import type { Collection, Document } from 'mongodb';
import type { Listing } from '../../base/lists/listing.ts';
import type { Database } from './client.ts';
import type { CollectionIndexes } from './indexes.ts';

/** A document that can be listed. */
export type Stored = Document & { _id: string };

/** A span of time: from `since`, inclusive, to before `until`. Without one of them it is open at that end. */
export interface Span {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** Where the documents of a list or a walk are found. */
export interface Source<T extends Stored> {
  readonly collection: Collection<T>;
  /** Equalities on the fields that precede `time` in an index. */
  readonly where: Document;
  /** The date that orders it. */
  readonly time: string & keyof T;
  /**
   * The order by id of documents with the same time. Lists are ascending by default; a walk has no such order by
   * default.
   */
  readonly ties?: 'ascending' | 'descending';
  readonly span?: Span;
  /** Further conditions. */
  readonly rest?: Document | undefined;
}

/** A source without conditions that no index has. */
export type UnrestrictedSource<T extends Stored> = Omit<Source<T>, 'rest' | 'ties'>;

export interface FetchOptions {
  readonly projection?: Document;
  /** Bytes. If documents may be this large, few are fetched at first, and more when they turn out to be small. */
  readonly largeFrom?: number;
}

export interface ListOptions extends FetchOptions {
  /**
   * Whether the collection can have millions of documents. Then a page whose conditions no index has may end before its
   * limit, or be refused if its offset skips too many, and its total may count only a part of the list, so that none
   * walks through all of it.
   */
  readonly isLong?: boolean;
}

export interface WalkOptions {
  /** The time of the source must be in it. */
  readonly projection?: Document;
  /** The most documents. */
  readonly limit?: number;
}

/** Documents with certain values, and a field by which they can be divided. There is an index on these, in this order. */
export interface Selection<T extends Stored> {
  readonly collection: Collection<T>;
  readonly where: Document;
  /** A date, an id (a UUID), or a number from 1. */
  readonly along: { readonly time: string & keyof T } | { readonly id: string } | { readonly number: string };
}

/** A range of ids, both ends excluded. */
export interface IdRange {
  readonly after: string;
  readonly before?: string | undefined;
}

/** A range of values: from the first, inclusive, to before the second. */
export interface ValueSpan {
  readonly from: string;
  readonly before?: string | undefined;
}

/** Documents that are divided by the value of a field and a date. An index has the two, in this order. */
export interface Divided<T extends Stored> {
  readonly collection: Collection<T>;
  readonly field: string & keyof T;
  readonly time: string & keyof T;
}

/** The documents of a source in two groups: those whose time has come, and the others. */
export interface DueGroups<Group> {
  readonly due: (Group & { readonly count: number }) | undefined;
  readonly later: (Group & { readonly count: number }) | undefined;
  /** Whether only a part of them was read. */
  readonly isEstimated: boolean;
}

/** Every method can throw `database-unavailable`. */
export interface Pages {
  /** Whether the server reads in the order of an index. */
  readonly readsInOrder: boolean;
  /** Lists that a process may read at the same time. */
  readonly listsAtOnce: number;
  /** The indexes that a server needs. @param declared those of the stores */
  indexes(declared: readonly CollectionIndexes[]): readonly CollectionIndexes[];

  /**
   * Creates the lists of a collection that are ordered by time, newest first.
   * @param toItem returns undefined for documents that the list leaves out
   */
  listsOf<T extends Stored, Item>(
    toItem: (document: T) => Item | undefined,
    options?: ListOptions,
  ): (source: Source<T>) => Listing<Item>;
  /** The documents of a source in batches, the earliest first. */
  walk<T extends Stored>(source: Source<T>, options?: WalkOptions): AsyncIterable<T[]>;
  /** The number of documents of a source, or `most` if it has more. */
  count<T extends Stored>(source: Source<T>, most: number): Promise<number>;
  /** Groups the documents of a source, and counts them. @param group accumulators of `$group` */
  groupByDue<T extends Stored, Group>(
    source: Omit<UnrestrictedSource<T>, 'span'>,
    now: Date,
    group: Document,
  ): Promise<DueGroups<Group>>;

  /** As `groupByDue`, for all values of a field at the same time. */
  groupAllByDue<T extends Stored, Group>(
    divided: Divided<T>,
    now: Date,
    group: Document,
  ): Promise<ReadonlyMap<string, DueGroups<Group>>>;
  /** The values of a field, and the earliest time of the documents of each, in batches and in no order. */
  firsts<T extends Stored>(
    divided: Divided<T>,
    span: ValueSpan,
  ): AsyncIterable<readonly { readonly value: string; readonly at: Date }[]>;

  /** The values of a field, which are UUIDs, in their order and in batches. An index begins with the field. */
  values<T extends Stored>(collection: Collection<T>, field: string & keyof T, after: string): AsyncIterable<string[]>;
  /** Some values of such a field; empty only if there are none. */
  someValues<T extends Stored>(collection: Collection<T>, field: string & keyof T, range: IdRange): Promise<string[]>;

  /** Removes documents. @param pause called between commands */
  remove<T extends Stored>(selection: Selection<T>, pause?: () => Promise<void>): Promise<void>;
  /**
   * Removes the documents of a collection whose `expires_at` has passed. It has the index `expiryIndex`.
   * @param pause called after each command, with the number of documents that it removed
   */
  removeExpired(collection: string, now: Date, pause: (removed: number) => Promise<void>): Promise<void>;

  /** Documents by their ids, in the order of the ids, as long as the reader wants more; undefined if there is none. */
  fetch<T extends Stored>(
    collection: Collection<T>,
    ids: readonly string[],
    options?: FetchOptions,
  ): AsyncIterable<readonly [id: string, T | undefined]>;
  /** The ids for which a document exists. */
  existing<T extends Stored>(collection: Collection<T>, ids: readonly string[]): Promise<Set<string>>;
}

/** A database, and how its documents are listed. */
export interface PagedDatabase extends Database {
  readonly pages: Pages;
}
