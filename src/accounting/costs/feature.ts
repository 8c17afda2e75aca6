import type { Basis } from '../../storage/db/basis.ts';
import type { PromptIds } from '../invocations/prompt-ids.ts';
import type { Chore } from '../../base/runtime/maintenance.ts';
import { createSpending, type Records } from './spending.ts';
import { spendingOperations } from './spending-operations.ts';
import { createSpendingStore } from './spending-store.ts';

export interface SpendingFeatureOptions extends Basis {
  readonly records: Records;
  readonly prompts: Pick<PromptIds, 'recordedId'>;
  readonly flush: () => Promise<void>;
  /** The longest deadline of an invocation, in milliseconds. */
  readonly timeoutMs: number;
}

/** Reads until when all costs are added up, in milliseconds since 1970; undefined before the first quarter. */
export function costsAddedUpUntil({ database }: Basis): () => Promise<number | undefined> {
  const store = createSpendingStore(database);
  return () => store.closedUntil();
}

/** From the begin of an invocation to its deadline: reading the prompt, and waiting for memory. */
const marginMs = 2 * 60_000;

export function createSpendingFeature({ database, clock, records, prompts, flush, timeoutMs }: SpendingFeatureOptions) {
  const store = createSpendingStore(database);
  const spending = createSpending({ store, records, clock, journalledMs: timeoutMs + marginMs });
  const chores: readonly Chore[] = [{ name: 'sums of costs', everyMs: 60_000, run: () => spending.close() }];
  return {
    chores,
    operations: spendingOperations({ spending, prompts, clock, flush }),
  };
}
