import type { Budgeting } from '../budgets/budgets.ts';
import type { Prices } from '../prices/prices.ts';
import { authorOf, type Principal } from '../../base/limits/principal.ts';
import type { Statistics } from '../statistics/statistics.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';
import type { ContentMode } from './content.ts';
import type { InvocationDocument, InvocationOperation } from './invocation.ts';
import { createInvocationId } from './invocation-id.ts';
import { InvocationRecord, type InvocationRecordDependencies } from './invocation-record.ts';
import type { Journals } from './journals.ts';
import type { RecordWriter } from './record-writer.ts';

/** Who invokes what. */
export interface Invoked {
  readonly operation: InvocationOperation;
  readonly principal: Principal;
  readonly requestId: string;
  /** W3C trace context. */
  readonly traceparent: string | undefined;
  readonly isStreamed: boolean;
  /** `name=value` */
  readonly tags: readonly string[];
  /** Id of the evaluation that it is for. */
  readonly evaluation?: string;
  /** Whether its answer can be that of another invocation. @default false */
  readonly mayShare?: boolean;
}

/** Keeps a record of each invocation. */
export interface InvocationLog {
  /** Begins a record. Its `end` must be called. */
  begin(invoked: Invoked): InvocationRecord;
}

export interface InvocationLogDependencies {
  readonly journals: Journals;
  readonly records: RecordWriter;
  readonly clock: Clock;
  readonly prices: Pick<Prices, 'quote'>;
  readonly budgets: Budgeting;
  readonly random: Random;
  /** Of which invocations the content may be kept. */
  readonly contentMode: ContentMode;
  readonly statistics: Pick<Statistics, 'called' | 'recorded'>;
}

export function createInvocationLog({
  journals,
  records,
  clock,
  prices,
  budgets,
  random,
  contentMode,
  statistics,
}: InvocationLogDependencies): InvocationLog & { readonly active: number } {
  let active = 0;
  const onFinal: InvocationRecordDependencies['onFinal'] = (document, { isInJournal, isNeeded, content }) => {
    active -= 1;
    statistics.recorded(document);
    const onGone = (): void => {
      if (isInJournal) journals.end(document._id, document.attempts);
    };
    records.add(document, isNeeded || (isInJournal && document.attempts.length > 0), onGone, content);
  };
  return {
    get active() {
      return active;
    },
    begin({ operation, principal, requestId, traceparent, isStreamed, tags, evaluation, mayShare = false }) {
      const at = clock.now();
      active += 1;
      const document: InvocationDocument = {
        _id: createInvocationId(at, random.uuid()),
        created_at: at,
        operation,
        status: 'interrupted',
        author: authorOf(principal),
        ...(evaluation !== undefined && { evaluation_id: evaluation }),
        ...(tags.length > 0 && { tags }),
        request_id: requestId,
        ...(traceparent !== undefined && { trace_id: traceparent.slice(3, 35) }),
        streamed: isStreamed,
        cached: false,
        attempts: [],
      };
      const terms = { clock, prices, journals, budgets, principal, contentMode, mayShare };
      return new InvocationRecord(document, { ...terms, onCalled: statistics.called, onFinal });
    },
  };
}
