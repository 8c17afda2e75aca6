import type { Collection, UpdateFilter } from 'mongodb';
import { fromStored, type StoredMoney } from '../../base/runtime/money.ts';
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
import { defined } from '../../base/runtime/objects.ts';
import type { BlockedModel, Budget, BudgetPeriod } from './budget.ts';

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

/** The id is the name. */
interface BudgetDocument extends StampedDocument, Audited {
  budget_id: string;
  scope: { key_id?: string; prompt_id?: string; tag?: string };
  /** In nano-dollars, as int64. */
  limit: StoredMoney;
  period: BudgetPeriod;
  time_zone: string;
  unpriced: 'refuse' | 'allow';
  assume_max_output_tokens: number | null;
  thresholds: number[];
  blocked: { model: string; since: Date; invocation_id: string }[];
  created_at: Date;
  set_at: Date;
  set_by: { id: string; name: string };
}

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
      const { _id, ...content } = toDocument(budget);
      if (present === undefined) {
        const { outcome } = await insertOnce(budgets, { _id, ...content, ...firstAudit(entry) });
        return outcome === 'done' ? { ...budget, revision: 1 } : undefined;
      }
      const { id, revision } = present;
      const change = { $set: content, $push: pushAudit(entry) };
      const written = await compareAndSet(budgets, { id: _id, revision, where: { budget_id: id }, change });
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

function toDocument(budget: Omit<Budget, 'revision'>): Omit<BudgetDocument, 'revision' | 'writes'> {
  const { name, id, scope, limit, period, timeZone, unpriced, assumedOutputTokens, thresholds } = budget;
  const { blocked, createdAt, setAt, setBy } = budget;
  return {
    _id: name,
    budget_id: id,
    scope: defined({ key_id: scope.keyId, prompt_id: scope.promptId, tag: scope.tag }),
    limit: BigInt(limit),
    period,
    time_zone: timeZone,
    unpriced,
    assume_max_output_tokens: assumedOutputTokens ?? null,
    thresholds: [...thresholds],
    blocked: blocked.map(({ model, since, invocationId }) => ({ model, since, invocation_id: invocationId })),
    created_at: createdAt,
    set_at: setAt,
    set_by: { id: setBy.id, name: setBy.name },
  };
}

function fromDocument({ _id, budget_id, scope, ...document }: BudgetDocument): Budget {
  return {
    name: _id,
    id: budget_id,
    scope: { keyId: scope.key_id, promptId: scope.prompt_id, tag: scope.tag },
    limit: Number(fromStored(document.limit)),
    period: document.period,
    timeZone: document.time_zone,
    unpriced: document.unpriced,
    assumedOutputTokens: document.assume_max_output_tokens ?? undefined,
    thresholds: document.thresholds,
    blocked: document.blocked.map((each) => ({
      model: each.model,
      since: each.since,
      invocationId: each.invocation_id,
    })),
    createdAt: document.created_at,
    setAt: document.set_at,
    setBy: { id: document.set_by.id, name: document.set_by.name },
    revision: document.revision,
  };
}
