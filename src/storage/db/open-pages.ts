import type { Document } from 'mongodb';
import { CHECK_COLLECTION, type Database } from './client.ts';
import type { PagedDatabase } from './pages.ts';
import { withPlainPages } from './plain-pages.ts';
import { withRetry } from './retry.ts';
import { withWindowedPages } from './windowed-pages.ts';

/** An index of the check, for which no documents are needed. */
const probe = { key: { order_a: 1, order_b: -1, _id: 1 }, name: 'order_a_1_order_b_-1__id_1', sparse: true } as const;

/**
 * Finds out whether the server reads in the order of an index, and adds the reads for it.
 *
 * @param isReadOnly whether the probe, which an earlier start has left, must not be created
 * @throws ProblemError `database-unavailable`
 */
export async function openPages(database: Database, isReadOnly = false): Promise<PagedDatabase> {
  const readsInOrder = await withRetry(() => findOrder(database, isReadOnly));
  return readsInOrder ? withPlainPages(database) : withWindowedPages(database);
}

/** The server explains how it would read such an index: a server that reads it in its order sorts nothing. */
async function findOrder({ db }: Database, isReadOnly: boolean): Promise<boolean> {
  // SecantusDB's Rust server explains an order in which it does not read: a page of 20,000 documents takes 200 ms.
  if ((await db.command({ buildInfo: 1 }))['secantusVersion'] !== undefined) return false;
  const collection = db.collection(CHECK_COLLECTION);
  if (!isReadOnly) await collection.createIndexes([probe]);
  const query = collection.find({ order_a: 1 }).sort({ order_b: -1, _id: 1 }).limit(1).hint(probe.name);
  return !sorts(await query.explain('queryPlanner'));
}

/** Whether a plan has a step that sorts, in the form of MongoDB or in that of PostgreSQL. */
export function sorts(explained: Document): boolean {
  return stagesOf(explained).some((stage) => stage.toLowerCase() === 'sort');
}

/** The steps of the chosen plan, such as `IXSCAN` or `Index Scan`. */
export function stagesOf({ queryPlanner }: Document): string[] {
  const { winningPlan, Plan } = queryPlanner as { winningPlan?: unknown; Plan?: unknown };
  const plan = JSON.stringify(winningPlan ?? Plan ?? null);
  return [...plan.matchAll(/"(?:stage|Node Type)":"([\w ]+)"/g)].map(([, stage = '']) => stage);
}
