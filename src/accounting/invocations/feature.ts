import type { Logger } from 'pino';
import type { Accounts } from '../budgets/accounts.ts';
import { tickMs, type Allowance } from '../budgets/allowance.ts';
import type { Budgeting } from '../budgets/budgets.ts';
import type { Prices } from '../prices/prices.ts';
import { record } from '../../storage/db/audit.ts';
import type { Span } from '../../storage/db/pages.ts';
import type { Basis } from '../../storage/db/basis.ts';
import type { Statistics } from '../statistics/statistics.ts';
import type { Chore } from '../../base/runtime/maintenance.ts';
import type { SecretBox } from '../../base/secrets/secret-box.ts';
import type { ContentMode } from './content.ts';
import { createContentStore } from './content-store.ts';
import { createFeedbackStore } from './feedback-store.ts';
import { startOfDay, timeOf } from './invocation-id.ts';
import type { InvocationFilter } from './invocation.ts';
import { createInvocationLog } from './invocation-log.ts';
import { invocationOperations, type ContentCopies } from './invocation-operations.ts';
import { createInvocationStore } from './invocation-store.ts';
import { createJournalStore } from './journal-store.ts';
import { createJournals } from './journals.ts';
import { createKeptContents } from './kept-contents.ts';
import type { PromptIds } from './prompt-ids.ts';
import { createRecordWriter } from './record-writer.ts';
import { createRecovery } from './recovery.ts';
import { createRetention } from './retention.ts';

/** Milliseconds. */
export interface InvocationLogTimes {
  /** Between two writes of a journal that is in use. */
  readonly beatMs: number;
  /** Without a write, after which a process is taken for dead. */
  readonly termMs: number;
  /** Between two looks at the journals of others. */
  readonly recoverEveryMs: number;
  /** Between two reports of what was spent of budgets. @default a second */
  readonly reportMs?: number;
}

const defaultTimes: InvocationLogTimes = { beatMs: 2_000, termMs: 20_000, recoverEveryMs: 5_000 };

export interface InvocationFeatureOptions extends Basis {
  readonly log: Logger;
  /** Called with the number of interrupted invocations whose records were stored. */
  readonly onInterrupted?: (invocations: number) => void;
  readonly prices: Pick<Prices, 'quote'>;
  readonly statistics: Pick<Statistics, 'called' | 'recorded' | 'rated'>;
  readonly budgets: {
    readonly budgets: Budgeting;
    readonly accounts: Accounts;
    readonly createAllowance: (journal: string) => Allowance;
  };
  /** How long records are kept, in milliseconds. */
  readonly retentionMs: number;
  readonly content: {
    /** Of which invocations it is kept, unless their prompt is stricter. */
    readonly mode: ContentMode;
    /** How long it is kept, in milliseconds. */
    readonly retentionMs: number;
    readonly secrets: SecretBox;
  };
  /** Until when all costs are added up, in milliseconds since 1970; undefined if none are. */
  readonly addedUpUntil: () => Promise<number | undefined>;
  readonly times?: InvocationLogTimes | undefined;
}

/** From so many invocations in progress on, a write of the journal waits for others: there always are some soon. */
const manyActive = 8;
const gatherMs = 2;

export function createInvocationFeature(all: InvocationFeatureOptions) {
  const { database, clock, random, log, onInterrupted = () => undefined, content, statistics, ...options } = all;
  const { beatMs, termMs, recoverEveryMs, reportMs = tickMs } = options.times ?? defaultTimes;
  const { budgets, accounts, createAllowance } = options.budgets;
  const store = createInvocationStore(database);
  const contents = createContentStore(database, content.secrets);
  const journalStore = createJournalStore(database);
  const records = createRecordWriter({
    store,
    contents,
    onError: (error, id) => {
      log.error({ error, invocation_id: id }, 'the record of an invocation, or its content, cannot be stored');
    },
  });
  const journals = createJournals({
    store: journalStore,
    createAllowance,
    random,
    terms: {
      ...{ beatMs, reportMs, gatherMs: () => (invocations.active >= manyActive ? gatherMs : 0) },
      onError(error, { journal, invocations: ids }) {
        log.error({ error, journal_id: journal, invocation_ids: ids }, 'a journal refuses entries; they are left out');
      },
    },
  });
  const invocations = createInvocationLog({
    ...{ journals, records, clock, budgets, random },
    prices: options.prices,
    contentMode: content.mode,
    statistics,
  });
  const { monotonic } = clock;
  const recover = createRecovery({
    ...{ store: journalStore, journals, records: store, accounts, log, monotonic, termMs },
    onInterrupted(found) {
      onInterrupted(found.length);
      found.forEach(statistics.recorded);
    },
  });
  const { retentionMs, addedUpUntil } = options;
  const retain = createRetention({
    ...{ store, contents, journals: journalStore, clock },
    ...{ retentionMs, contentRetentionMs: content.retentionMs, addedUpUntil },
  });
  const flush = (): Promise<void> => records.flush();
  const kept = createKeptContents({
    ...{ store, contents, clock, flush },
    record: (entries) => record(database.db, entries),
  });
  const chores: Chore[] = [
    { name: 'interrupted invocations', everyMs: recoverEveryMs, run: recover },
    { name: 'days of the invocation log', everyMs: 3_600_000, run: retain },
  ];
  return {
    invocations,
    chores,
    flush,
    kept,
    list: (filter: InvocationFilter) => store.list(filter),
    canaryFailures: (id: string, since: Date) => store.canaryFailures(id, since),
    records: {
      called: (span: Required<Span>) => store.called(span),
      async firstDay(): Promise<number | undefined> {
        const first = (await store.days()).at(-1);
        return first === undefined ? undefined : startOfDay(first);
      },
      async oldestOpen(): Promise<number | undefined> {
        const times = (await journalStore.entryIds()).flatMap((id) => timeOf(id) ?? []);
        return times.length === 0 ? undefined : Math.min(...times);
      },
    },
    operations: (prompts: Pick<PromptIds, 'recordedId'>, copies: ContentCopies) =>
      invocationOperations({
        ...{ store, contents, kept, copies, prompts, statistics, clock, retentionMs, flush },
        feedback: createFeedbackStore(database),
      }),
    /** Stores what is left, within this time. */
    async close(limitMs: number): Promise<void> {
      await records.close(limitMs);
      await journals.close();
    },
  };
}
