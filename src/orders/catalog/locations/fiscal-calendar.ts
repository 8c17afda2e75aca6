/**
 * When fiscal days begin and end. The fiscal day of a date begins at the location's `fiscal_day_end` time on that date
 * and ends at the same time on the next one; with 04:00, an order at 01:30 belongs to the day before.
 *
 * If a change of daylight saving time skips that time of day, the later instant counts; if that time occurs twice, the
 * first (`disambiguation: 'compatible'` of Temporal, as in RFC 5545).
 */
import { Temporal } from '@js-temporal/polyfill';

/** The fields that decide when the fiscal days of a location begin and end. */
export interface FiscalClock {
  /** IANA time zone. */
  readonly timeZone: string;
  /** `HH:MM`. */
  readonly fiscalDayEnd: string;
}

/** The instant at which the fiscal day of a date begins. @param date `YYYY-MM-DD` */
export function beginOfFiscalDay(date: string, { timeZone, fiscalDayEnd }: FiscalClock): Date {
  const begin = Temporal.PlainDate.from(date).toZonedDateTime({ timeZone: timeZone, plainTime: fiscalDayEnd });
  return new Date(begin.epochMilliseconds);
}

/** The instant at which the fiscal day of a date ends: the first one that is no longer part of it. */
export function endOfFiscalDay(date: string, clock: FiscalClock): Date {
  return beginOfFiscalDay(dayAfter(date), clock);
}

/**
 * The date of the fiscal day that an instant is part of: the last one whose day has begun. Around a change of daylight
 * saving time this can differ from the local date by one day. If 23:30 is skipped, the day of that date begins after
 * midnight. If midnight occurs twice, a day has begun although the local clock shows the date before again.
 */
export function fiscalDateAt(instant: Date, clock: FiscalClock): string {
  const local = Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(clock.timeZone);
  let date = local.toPlainDate().add({ days: 1 });
  while (beginOfFiscalDay(date.toString(), clock) > instant) date = date.subtract({ days: 1 });
  return date.toString();
}

/** A fiscal day, and when it begins and ends. */
export interface FiscalSpan {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly beginsAt: Date;
  /** The first instant that is no longer part of it. */
  readonly endsAt: Date;
}

/** The fiscal day of a date by a fiscal clock. */
export function fiscalSpan(date: string, clock: FiscalClock): FiscalSpan {
  return { date, beginsAt: beginOfFiscalDay(date, clock), endsAt: endOfFiscalDay(date, clock) };
}

/** The fiscal day that follows a given one. It begins at the end of that one, and does not end before it begins. */
export function nextFiscalSpan({ date, endsAt }: FiscalSpan, clock: FiscalClock): FiscalSpan {
  const next = dayAfter(date);
  return { date: next, beginsAt: endsAt, endsAt: later(endOfFiscalDay(next, clock), endsAt) };
}

/**
 * A fiscal day after a change of the fiscal clock. A day in progress ends when the new clock says; if that time has
 * passed, it ends at the change, including this millisecond. A day that has ended does not change.
 */
export function changedFiscalSpan(present: FiscalSpan, clock: FiscalClock, at: Date): FiscalSpan {
  if (present.endsAt <= at) return present;
  const { date, beginsAt, endsAt } = fiscalSpan(present.date, clock);
  return {
    date,
    beginsAt: present.beginsAt <= at ? present.beginsAt : beginsAt,
    endsAt: later(endsAt, new Date(at.getTime() + 1)),
  };
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}

export function dayAfter(date: string): string {
  return Temporal.PlainDate.from(date).add({ days: 1 }).toString();
}
