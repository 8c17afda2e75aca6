/**
 * When fiscal days begin and end. The fiscal day of a date begins at the location's `fiscal_day_end` time on that date
 * and ends at the same time on the next one; with 04:00, an order at 01:30 belongs to the day before.
 *
 * Where a change of daylight saving time skips that time of day, the later instant counts; where it comes twice, the
 * first (`disambiguation: 'compatible'` of Temporal, as in RFC 5545).
 */
import { Temporal } from '@js-temporal/polyfill';

/** What decides when the fiscal days of a location begin and end. */
export interface FiscalClock {
  /** IANA time zone. */
  readonly timezone: string;
  /** `HH:MM`. */
  readonly fiscalDayEnd: string;
}

/** The instant at which the fiscal day of a date begins. @param date `YYYY-MM-DD` */
export function beginOfFiscalDay(date: string, { timezone, fiscalDayEnd }: FiscalClock): Date {
  const begin = Temporal.PlainDate.from(date).toZonedDateTime({ timeZone: timezone, plainTime: fiscalDayEnd });
  return new Date(begin.epochMilliseconds);
}

/** The instant at which the fiscal day of a date ends: the first one that is no longer part of it. */
export function endOfFiscalDay(date: string, clock: FiscalClock): Date {
  return beginOfFiscalDay(dayAfter(date), clock);
}

/**
 * The date of the fiscal day that an instant is part of: the last one whose day has begun. About a change of the clock
 * that is not the date which the clock shows, nor always the one before. Where 23:30 is skipped, the day of that date
 * begins after midnight; where midnight comes twice, a day has begun when the clock shows the date before again.
 */
export function fiscalDateAt(instant: Date, clock: FiscalClock): string {
  const local = Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(clock.timezone);
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

/** The fiscal day of a date as a clock has it. */
export function fiscalSpan(date: string, clock: FiscalClock): FiscalSpan {
  return { date, beginsAt: beginOfFiscalDay(date, clock), endsAt: endOfFiscalDay(date, clock) };
}

/** The fiscal day that follows one. It begins where that ends, and does not end before it begins. */
export function nextFiscalSpan({ date, endsAt }: FiscalSpan, clock: FiscalClock): FiscalSpan {
  const next = dayAfter(date);
  return { date: next, beginsAt: endsAt, endsAt: later(endOfFiscalDay(next, clock), endsAt) };
}

/**
 * A fiscal day after a change of the clock: one that is in progress goes on to the end that the new clock gives it, or
 * to the change, this millisecond included, where that end is past. What is over stays as it is.
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

/** The date after a date. */
export function dayAfter(date: string): string {
  return Temporal.PlainDate.from(date).add({ days: 1 }).toString();
}

/**
 * The name of a time zone as the IANA database spells it, however it is written here; an alias stays what it is.
 * `undefined` for offsets such as `+02:00` and whatever else is not in the database.
 */
export function timezoneNamed(name: string): string | undefined {
  // ICU has the SystemV zones still, which left the database in 2020.
  if (!/^[A-Za-z]/.test(name) || /^systemv\//i.test(name)) return undefined;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
  } catch {
    return undefined;
  }
}
