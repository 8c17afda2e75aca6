import type { Temporal as TemporalTypes } from '@js-temporal/polyfill';
import { Temporal } from '@js-temporal/polyfill';

/** What a budget counts. Undefined members stand for everything; at most one is set. */
export interface BudgetScope {
  /** Calls of this API key, and of the keys that it led to. */
  readonly keyId?: string | undefined;
  readonly promptId?: string | undefined;
  /** `name=value`, bound to API keys. */
  readonly tag?: string | undefined;
}

export type BudgetPeriod = 'day' | 'week' | 'month' | 'once';

/** What an operator sets. Amounts are nano-dollars: whole numbers below 2^53. */
export interface BudgetTerms {
  readonly name: string;
  readonly scope: BudgetScope;
  readonly limit: number;
  readonly period: BudgetPeriod;
  /** IANA name, in which periods begin. */
  readonly timeZone: string;
  /** Whether calls may be made whose most cost is unknown. They are not counted before they are made. */
  readonly unpriced: 'refuse' | 'allow';
  /** The limit of output tokens that a provider gets if it would get none. */
  readonly assumedOutputTokens: number | undefined;
  /** Parts of the limit in percent that are announced when they are spent, in ascending order. */
  readonly thresholds: readonly number[];
}

/** A model that a call has cost more of than the most that it could cost. */
export interface BlockedModel {
  /** `<provider>/<model>` */
  readonly model: string;
  readonly since: Date;
  /** The invocation with that call. */
  readonly invocationId: string;
}

export interface Budget extends BudgetTerms {
  /** Another one if the scope, the period or the time zone changes: then it begins anew. */
  readonly id: string;
  readonly createdAt: Date;
  readonly setAt: Date;
  /** The most that their calls can cost is unknown, until the budget is set again. */
  readonly blocked: readonly BlockedModel[];
  /** The API key. */
  readonly setBy: { readonly id: string; readonly name: string };
  /** Number of changes, from 1. It begins anew if the budget was deleted. */
  readonly revision: number;
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
