import type { Collection, UpdateFilter } from 'mongodb';
import { auditIndex } from '../../storage/db/audit.ts';
import type { CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { createResourceStore, type ResourceDocument, type ResourceStore } from '../../storage/db/resource-store.ts';
import { writeIdempotently } from '../../storage/db/writes.ts';
import { budgetFields, type BlockedModel } from './budget.ts';

/** The budgets in the database, by name. Every method can throw `database-unavailable`. */
export interface BudgetStore extends Pick<ResourceStore<typeof budgetFields.table>, 'all' | 'find' | 'put' | 'remove'> {
  /** Adds a model to those that every budget blocks. A repetition changes nothing. */
  block(blocked: BlockedModel): Promise<void>;
}

/** The most blocked models of a budget. */
const mostBlocked = 100;

type BudgetDocument = ResourceDocument<typeof budgetFields.table>;

const collectionName = 'budgets';

export const budgetIndexes: CollectionIndexes = { collection: collectionName, indexes: [auditIndex] };

export function createBudgetStore(database: PagedDatabase): BudgetStore {
  const budgets: Collection<BudgetDocument> = database.db.collection(collectionName);
  return {
    ...createResourceStore(database, collectionName, budgetFields, ({ id }) => ({ budget_id: id })),
    async block({ model, since, invocationId }) {
      // The revision changes, so that other processes read it, and nobody lifts it without having seen it.
      const blocked = { $each: [{ model, since, invocation_id: invocationId }], $slice: -mostBlocked };
      const change = { $push: { blocked }, $inc: { revision: 1 } } as unknown as UpdateFilter<BudgetDocument>;
      await writeIdempotently(() => budgets.updateMany({ 'blocked.model': { $ne: model } }, change));
    },
  };
}
