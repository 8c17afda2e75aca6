import { author } from '../../base/fields/author.ts';
import type { Temporal as TemporalTypes } from '@js-temporal/polyfill';
import { Temporal } from '@js-temporal/polyfill';
import type { components } from '../../../generated/types.ts';
import { changeable, fields, made } from '../../base/fields/fields.ts';
import type { Difference, None, SentChange, Shown, Thing } from '../../base/fields/fields.ts';
import { integer, list, moment, object, same, text, type Kind, type ValueOf } from '../../base/fields/kinds.ts';
import { fromAmount, fromStored, showMoney, type StoredMoney } from '../../base/runtime/money.ts';
import { defined } from '../../base/runtime/objects.ts';

type Schemas = components['schemas'];

/** What a budget counts. Undefined members stand for everything; at most one is set. */
export interface BudgetScope {
  /** Calls of this person or API key, and of the keys that it led to. */
  readonly keyId?: string | undefined;
  readonly promptId?: string | undefined;
  /** `name=value`, bound to API keys. */
  readonly tag?: string | undefined;
}

export type BudgetPeriod = 'day' | 'week' | 'month' | 'once';

type ShownScope = Schemas['BudgetScope'];
const toScope = ({ key_id: keyId, prompt_id: promptId, tag }: ShownScope): BudgetScope => ({ keyId, promptId, tag });
const fromScope = ({ keyId, promptId, tag }: BudgetScope): ShownScope =>
  defined({ key_id: keyId, prompt_id: promptId, tag });
const scope: Kind<BudgetScope, ShownScope, ShownScope> = {
  toStored: fromScope,
  fromStored: toScope,
  show: fromScope,
  read: toScope,
};

/** In nano-dollars: a whole number below 2^53. Documents have an int64. */
const limit: Kind<number, StoredMoney, Schemas['Cost']> = {
  toStored: BigInt,
  fromStored: (stored) => Number(fromStored(stored)),
  show: (amount) => showMoney(BigInt(amount)),
  read: ({ amount }) => Number(fromAmount(amount)),
};

const ascending: Kind<readonly number[], number[], number[], readonly number[]> = {
  ...list(integer),
  read: (sent) => sent.toSorted((one, other) => one - other),
};

/** What an operator sets. */
export const budgetTerms = fields({
  scope: changeable(scope, { initially: toScope({}) }),
  limit: changeable(limit),
  period: changeable(same<BudgetPeriod>()),
  /** IANA name, in which periods begin. */
  timeZone: changeable(text, { initially: 'UTC' }),
  /** Whether calls may be made whose most cost is unknown. They are not counted before they are made. */
  unpriced: changeable(same<'refuse' | 'allow'>(), { initially: 'refuse' }),
  /** The limit of output tokens that a provider gets if it would get none. */
  assumedOutputTokens: changeable(integer, {
    optional: true,
    shownAs: 'assume_max_output_tokens',
    storedAs: 'assume_max_output_tokens',
  }),
  /** Parts of the limit in percent that are announced when they are spent, in ascending order. */
  thresholds: changeable(ascending, { initially: [] }),
});
export type BudgetTerms = Thing<typeof budgetTerms.table>;

/** A model that a call has cost more of than the most that it could cost. */
export type BlockedModel = ValueOf<typeof blockedModel>;
const blockedModel = object({
  /** `<provider>/<model>` */
  model: text,
  since: moment,
  /** The invocation with that call. */
  invocationId: text,
});

/** The stored fields of a budget. */
export const budgetFields = fields({
  /** Another one if the scope, the period or the time zone changes: then it begins anew. */
  id: made(text, { storedAs: 'budget_id' }),
  name: made(text, { storedAs: '_id' }),
  ...budgetTerms.table,
  /** The most that their calls can cost is unknown, until the budget is set again. */
  blocked: made(list(blockedModel), { optional: true, shownAs: 'blocked_models' }),
  createdAt: made(moment, { shownAs: 'started_at' }),
  updatedAt: made(moment, { storedAs: 'set_at' }),
  author: made(author),
});

export interface Budget extends Thing<typeof budgetFields.table> {
  /** Number of changes, from 1. It begins anew if the budget was deleted. */
  readonly revision: number;
}

/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInBudget = None<
  | Difference<Omit<Schemas['Budget'], 'current'>, Shown<typeof budgetFields.table>>
  | Difference<Omit<Schemas['BudgetInput'], 'current'>, SentChange<typeof budgetFields.table>>
>;

/** The same text for the same scope. */
export function scopeName({ keyId, promptId, tag }: BudgetScope): string {
  if (keyId !== undefined) return `key ${keyId}`;
  if (promptId !== undefined) return `prompt ${promptId}`;
  return tag === undefined ? 'all' : `tag ${tag}`;
}

/** Whether a budget with other terms goes on: what is spent stays. Otherwise it begins anew. */
export function continues(present: BudgetTerms, next: BudgetTerms): boolean {
  return (
    present.period === next.period &&
    present.timeZone === next.timeZone &&
    scopeName(present.scope) === scopeName(next.scope)
  );
}

/** A period of a budget. A call belongs to the one in which it was reserved. */
export interface Period {
  /** `<id of the budget>|<first local date>` or `…|once`: it is the name of a field in journals, so it has no dot. */
  readonly id: string;
  readonly since: Date;
  /** The first instant that is no longer part of it; undefined if it never ends. */
  readonly resetsAt: Date | undefined;
}

/** The period that contains a time. It begins with the first instant of a local date; weeks begin on Mondays. */
export function periodOf(
  { id, period, timeZone, createdAt }: Pick<Budget, 'id' | 'period' | 'timeZone' | 'createdAt'>,
  at: Date,
): Period {
  if (period === 'once') return { id: `${id}|once`, since: createdAt, resetsAt: undefined };
  const today = Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timeZone).toPlainDate();
  let first = beginOf(today, period);
  // Around midnight the first instant of a date can come after the local clock has shown it.
  while (startOf(first, timeZone) > at) first = beginOf(first.subtract({ days: 1 }), period);
  const next = first.add({ day: { days: 1 }, week: { days: 7 }, month: { months: 1 } }[period]);
  return { id: `${id}|${first.toString()}`, since: startOf(first, timeZone), resetsAt: startOf(next, timeZone) };
}

function beginOf(date: TemporalTypes.PlainDate, period: Exclude<BudgetPeriod, 'once'>): TemporalTypes.PlainDate {
  switch (period) {
    case 'day':
      return date;
    case 'week':
      return date.subtract({ days: date.dayOfWeek - 1 });
    case 'month':
      return date.with({ day: 1 });
  }
}

function startOf(date: TemporalTypes.PlainDate, timeZone: string): Date {
  return new Date(date.toZonedDateTime(timeZone).epochMilliseconds);
}
