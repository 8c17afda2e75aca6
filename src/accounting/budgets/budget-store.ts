import type { Collection, UpdateFilter } from 'mongodb';
import type { Document } from '../../base/fields/fields.ts';
import {
  auditIndex,
  firstAudit,
  handOver,
  pushAudit,
  removeAudited,
  type AuditEntry,
  type Audited,
} from '../../storage/db/audit.ts';
import type { CollectionIndexes } from '../../storage/db/indexes.ts';
import type { PagedDatabase } from '../../storage/db/pages.ts';
import { compareAndSet, insertOnce, read, writeIdempotently, type StampedDocument } from '../../storage/db/writes.ts';
import { budgetFields, type BlockedModel, type Budget } from './budget.ts';

/** The budgets in the database. Every method can throw `database-unavailable`. */
export interface BudgetStore {
  /** All, at most {@link mostBudgets}. */
  all(): Promise<Budget[]>;
  find(name: string): Promise<Budget | undefined>;
  /**
   * Writes a budget in place of the present one, or of none.
   * @returns undefined if another writer was first
   */
  put(budget: Omit<Budget, 'revision'>, present: Budget | undefined, entry: AuditEntry): Promise<Budget | undefined>;
  /** Adds a model to those that every budget blocks. A repetition changes nothing. */
  block(blocked: BlockedModel): Promise<void>;
  /** Removes a budget. False if another writer was first. */
  remove(present: Budget, entry: AuditEntry): Promise<boolean>;
}

/** The most blocked models of a budget. */
const mostBlocked = 100;
/** Every process keeps all of them in memory. */
export const mostBudgets = 1_000;

type BudgetDocument = StampedDocument & Audited & Document<typeof budgetFields.table>;

const collectionName = 'budgets';

export const budgetIndexes: CollectionIndexes = { collection: collectionName, indexes: [auditIndex] };

export function createBudgetStore(database: PagedDatabase): BudgetStore {
  const budgets: Collection<BudgetDocument> = database.db.collection(collectionName);
  return {
    async all() {
      const found = await read(() => budgets.find({}, { limit: mostBudgets }).toArray());
      return found.filter(({ removed }) => !removed).map(fromDocument);
    },
    async find(name) {
      const document = await read(() => budgets.findOne({ _id: name }));
      // Its deletion was interrupted. Its name must be free for a new budget.
      if (document?.removed) await handOver(database.db, collectionName, name);
      return document === null || document.removed ? undefined : fromDocument(document);
    },
    async put(budget, present, entry) {
      if (present === undefined) {
        const { outcome } = await insertOnce(budgets, { ...budgetFields.toDocument(budget), ...firstAudit(entry) });
        return outcome === 'done' ? { ...budget, revision: 1 } : undefined;
      }
      const { name, id, revision } = present;
      const change = { ...budgetFields.toUpdate(budget), $push: pushAudit(entry) };
      const written = await compareAndSet(budgets, { id: name, revision, where: { budget_id: id }, change });
      return written.outcome === 'done' ? { ...budget, revision: written.revision } : undefined;
    },
    async block({ model, since, invocationId }) {
      // The revision changes, so that other processes read it, and nobody lifts it without having seen it.
      const blocked = { $each: [{ model, since, invocation_id: invocationId }], $slice: -mostBlocked };
      const change = { $push: { blocked }, $inc: { revision: 1 } } as unknown as UpdateFilter<BudgetDocument>;
      await writeIdempotently(() => budgets.updateMany({ 'blocked.model': { $ne: model } }, change));
    },
    remove({ name, id, revision }, entry) {
      return removeAudited(database.db, budgets, { id: name, revision, where: { budget_id: id } }, entry);
    },
  };
}

function fromDocument(document: BudgetDocument): Budget {
  return { ...budgetFields.fromDocument(document), revision: document.revision };
}
