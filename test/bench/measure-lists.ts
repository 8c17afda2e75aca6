import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CollectionIndexes } from '../../src/storage/db/indexes.ts';
import type { PagedDatabase, Stored } from '../../src/storage/db/pages.ts';
import { ProblemError } from '../../src/base/errors/problem-error.ts';
import { readPage, type Listing } from '../../src/base/lists/listing.ts';
import { silentLog } from '../support/log.ts';
import { createIndexes, openDatabase } from '../support/database.ts';
import { fastEngine, startDatabaseServer, testEngineSchema } from '../support/database-server.ts';
import { median } from './statistics.ts';

const pageSize = 20;
const rounds = 7;
const batch = 5_000;

/** A database with documents to list. */
export interface LongLists {
  readonly database: PagedDatabase;
  /** Prints how long a page of 20 and the total of a list take. */
  measure(name: string, list: Listing<unknown>, offset?: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Fills a database of its own, on the server in `TEST_MONGODB_URI` or on one that is started.
 *
 * @param engine of the server that is started
 * @param documentAt the document with an index
 */
export async function fillLists<T extends Stored>(
  { collection, indexes }: { readonly collection: string; readonly indexes: readonly CollectionIndexes[] },
  size: number,
  engine: string | undefined,
  documentAt: (index: number) => T,
): Promise<LongLists> {
  const given = process.env['TEST_MONGODB_URI'];
  const server =
    given === undefined
      ? await startDatabaseServer(testEngineSchema.parse(engine ?? fastEngine), silentLog, false)
      : undefined;
  const database = await openDatabase(given ?? server?.uri ?? '', `lists_${randomUUID().slice(0, 8)}`);
  await createIndexes(database, indexes);
  const began = performance.now();
  let next = 0;
  const fill = async (): Promise<void> => {
    while (next < size) {
      const first = next;
      next += batch;
      const length = Math.min(batch, size - first);
      const documents = Array.from({ length }, (_, offset) => documentAt(first + offset));
      await database.db.collection<Stored>(collection).insertMany(documents, { ordered: false });
    }
  };
  // The server stores one batch while the next one is made.
  await Promise.all([fill(), fill()]);
  console.log(`Filled in ${Math.round((performance.now() - began) / 1_000)} s`);
  const order = database.pages.readsInOrder ? 'reads in the order of an index' : 'reads everything that matches';
  console.log(
    `\n${size.toLocaleString('en')} ${collection} on ${server?.engine ?? 'the given server'}, which ${order}\n`,
  );
  console.log(
    `| List | of | page of ${pageSize} | page, ms | page and total, ms | the first time, ms |\n|---|---|---|---|---|---|`,
  );
  return {
    database,
    async measure(name, list, offset = 0) {
      const pages: number[] = [];
      const times: number[] = [];
      let page = '';
      let all = '';
      try {
        for (let round = 0; round < rounds; round += 1) {
          const before = performance.now();
          const { data, isCut } = await readPage(list, { offset }, pageSize, (item) => ({ item }));
          pages.push(performance.now() - before);
          const total = await list.total();
          times.push(performance.now() - before);
          page = `${data.length}${isCut === true ? ', not whole' : ''}`;
          all =
            typeof total === 'number' ? total.toLocaleString('en') : `at least ${total.atLeast.toLocaleString('en')}`;
        }
      } catch (error) {
        // The service would answer 503: a request waits no longer than the database's time limit.
        if (!(error instanceof ProblemError)) throw error;
        // The server continues the query after the client stops waiting. It must not run during the next measurement.
        await sleep(30_000);
      }
      const inTime = (found: readonly number[]): string =>
        times.length < rounds ? 'no answer within 6 s' : median(found).toFixed(1);
      // Afterwards the total of a long list is known for two seconds.
      const first = inTime(times.slice(0, 1));
      console.log(`| ${name} | ${all} | ${page} | ${inTime(pages)} | ${inTime(times)} | ${first} |`);
    },
    async close() {
      // A server of its own is removed with its files.
      if (server === undefined) await database.db.dropDatabase();
      await database.close();
      await server?.stop();
    },
  };
}
