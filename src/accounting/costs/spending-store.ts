import { hash } from 'node:crypto';
import type { AnyBulkWriteOperation, Collection } from 'mongodb';
import { fromStored, toStoredSum, type StoredMoney } from '../../base/runtime/money.ts';
import { isDuplicateKey } from '../../storage/db/database-errors.ts';
import { expiryIndex, type CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase, Span } from '../../storage/db/pages.ts';
import { read, writeIdempotently } from '../../storage/db/writes.ts';
import { dayMs, floorTo, quarterMs } from '../../base/runtime/intervals.ts';
import { defined } from '../../base/runtime/objects.ts';
import { addSums, identityOf, noSums, type CallGroup, type GroupSums, type Sums } from './sums.ts';

/** The sums of closed quarters of an hour in the database. Every method can throw `database-unavailable`. */
export interface SpendingStore {
  /** Until when all quarters are closed, in milliseconds since 1970; undefined before the first. */
  closedUntil(): Promise<number | undefined>;
  /**
   * Notes until when all quarters are closed.
   * @param from what it was before, as `closedUntil` has it
   * @returns false if another process has closed quarters meanwhile, and goes on. Also after a lost answer
   */
  advance(from: number | undefined, until: number): Promise<boolean>;
  /**
   * Stores the sums of a quarter of an hour. The same sums can be stored again.
   * @param start in milliseconds since 1970
   */
  write(start: number, sums: readonly GroupSums[]): Promise<void>;
  /** The sums of days, as far as their quarters begin in a span. @param isTagged whether by tag */
  walk(span: Required<Span>, where: SpendingFilter, isTagged: boolean): AsyncIterable<DaySums[]>;
}

/** Which calls are added up. */
export interface SpendingFilter {
  readonly promptIds?: ReadonlySet<string> | undefined;
  readonly keyId?: string | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly tag?: string | undefined;
}

export interface DaySums extends GroupSums {
  /** Midnight in UTC. */
  readonly day: Date;
}

export const keptMs = 400 * dayMs;
const writtenAtOnce = 100;
/** Days that one command reads. */
const daysAtOnce = 7;

/** The sums of a group on a day in UTC; `quarters` has those of each quarter of an hour, by its number on the day. */
interface SumsDocument {
  _id: string;
  /** Whether the group has a tag. Calls count in one group without a tag, and once for each of their tags. */
  tagged: boolean;
  day: Date;
  key_id: string;
  key_name: string;
  prompt_id?: string;
  prompt_slug?: string;
  prompt_version?: number;
  provider: string;
  model: string;
  tag?: string;
  quarters: Record<string, StoredSums>;
  expires_at: Date;
}

type StoredSums = readonly [
  calls: number,
  inputTokens: number,
  outputTokens: number,
  cost: StoredMoney,
  ceilingCost: StoredMoney,
  withoutCost: number,
  failedCalls: number,
  estimatedInputTokens: number,
  estimatedOutputTokens: number,
];

interface ProgressDocument {
  _id: 'closed';
  until: Date;
}

const collectionName = 'costs';
const progressName = 'costs_progress';

export const spendingIndexes: CollectionIndexes = {
  collection: collectionName,
  indexes: [{ key: { tagged: 1, day: -1, _id: 1 }, name: 'tagged_1_day_-1__id_1' }, expiryIndex],
};

export function createSpendingStore({ db, pages }: PagedDatabase): SpendingStore {
  const costs: Collection<SumsDocument> = db.collection(collectionName);
  const progress: Collection<ProgressDocument> = db.collection(progressName);

  const closedUntil = async (): Promise<number | undefined> =>
    (await read(() => progress.findOne({ _id: 'closed' })))?.until.getTime();

  return {
    closedUntil,
    async advance(from, until) {
      const next = { until: new Date(until) };
      try {
        if (from === undefined) {
          return (await writeIdempotently(() => progress.insertOne({ _id: 'closed', ...next }))).acknowledged;
        }
        const before = { _id: 'closed' as const, until: new Date(from) };
        return (await writeIdempotently(() => progress.updateOne(before, { $set: next }))).matchedCount === 1;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        return false;
      }
    },
    async write(start, sums) {
      for (let first = 0; first < sums.length; first += writtenAtOnce) {
        const writes = sums.slice(first, first + writtenAtOnce).map((one) => toWrite(start, one));
        await orAgain(() => costs.bulkWrite(writes, { ordered: false }));
      }
    },
    async *walk({ since, until }, filter, isTagged) {
      if (since === undefined || until === undefined) return;
      const end = until.getTime();
      for (let from = floorTo(dayMs, since.getTime()); from < end; from += daysAtOnce * dayMs) {
        const span = { since: new Date(from), until: new Date(Math.min(from + daysAtOnce * dayMs, end)) };
        const source = { collection: costs, where: { tagged: isTagged }, time: 'day' as const, span };
        for await (const found of pages.walk({ ...source, rest: toRest(filter) })) {
          yield found.flatMap((document) => toDaySums(document, since.getTime(), end));
        }
      }
    },
  };
}

/** Two processes can begin a document at the same time. Then it is there at the second attempt. */
function orAgain(write: () => Promise<unknown>): Promise<unknown> {
  return writeIdempotently(async () => {
    try {
      await write();
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      await write();
    }
  });
}

function toWrite(start: number, { group, sums }: GroupSums): AnyBulkWriteOperation<SumsDocument> {
  const day = floorTo(dayMs, start);
  const _id = `${new Date(day).toISOString().slice(0, 10)}/${hash('sha256', identityOf(group)).slice(0, 32)}`;
  const { tag } = group;
  const $set: Readonly<Record<string, unknown>> = {
    tagged: tag !== undefined,
    day: new Date(day),
    key_id: group.keyId,
    key_name: group.keyName,
    ...defined({ prompt_id: group.promptId, prompt_slug: group.promptSlug, prompt_version: group.promptVersion }),
    provider: group.provider,
    model: group.model,
    ...defined({ tag }),
    [`quarters.${(start - day) / quarterMs}`]: toStoredSums(sums),
    expires_at: new Date(day + keptMs),
  };
  return { updateOne: { filter: { _id }, update: { $set }, upsert: true } };
}

function toStoredSums({
  calls,
  failedCalls,
  inputTokens,
  outputTokens,
  estimatedInputTokens: estimatedInput,
  estimatedOutputTokens: estimatedOutput,
  cost,
  ceilingCost,
  withoutCost,
}: Sums): StoredSums {
  const counts = [withoutCost, failedCalls, estimatedInput, estimatedOutput] as const;
  return [calls, inputTokens, outputTokens, toStoredSum(cost), toStoredSum(ceilingCost), ...counts];
}

function toDaySums(document: SumsDocument, since: number, until: number): DaySums[] {
  const { day } = document;
  const sums = noSums();
  for (const [number, stored] of Object.entries(document.quarters)) {
    const start = day.getTime() + Number(number) * quarterMs;
    if (start < since || start >= until) continue;
    const [calls, inputTokens, outputTokens, cost, ceilingCost, ...counts] = stored;
    const [withoutCost, failedCalls, estimatedInputTokens, estimatedOutputTokens] = counts;
    const more = { calls, failedCalls, inputTokens, outputTokens, withoutCost };
    const estimated = { estimatedInputTokens, estimatedOutputTokens };
    addSums(sums, { ...more, ...estimated, cost: fromStored(cost), ceilingCost: fromStored(ceilingCost) });
  }
  if (sums.calls === 0) return [];
  const group: CallGroup = {
    keyId: document.key_id,
    keyName: document.key_name,
    ...defined({
      promptId: document.prompt_id,
      promptSlug: document.prompt_slug,
      promptVersion: document.prompt_version,
    }),
    provider: document.provider,
    model: document.model,
    ...defined({ tag: document.tag }),
  };
  return [{ day, group, sums }];
}

function toRest({ promptIds, keyId, provider, model, tag }: SpendingFilter): object | undefined {
  const rest = defined({ prompt_id: promptIds && { $in: [...promptIds] }, key_id: keyId, provider, model, tag });
  return Object.keys(rest).length > 0 ? rest : undefined;
}
