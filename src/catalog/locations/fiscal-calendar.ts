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

/** The date of the fiscal day that an instant is part of. */
export function fiscalDateAt(instant: Date, clock: FiscalClock): string {
  const local = Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(clock.timezone);
  const date = local.toPlainDate().toString();
  if (beginOfFiscalDay(date, clock) <= instant) return date;
  return Temporal.PlainDate.from(date).subtract({ days: 1 }).toString();
}

/** The date after a date. */
export function dayAfter(date: string): string {
  return Temporal.PlainDate.from(date).add({ days: 1 }).toString();
}

/** Is it a date of the calendar? `2026-02-30` is none. */
export function isDate(text: string): boolean {
  try {
    return Temporal.PlainDate.from(text, { overflow: 'reject' }).toString() === text;
  } catch {
    return false;
  }
}

/** Does this service know the rules of a time zone? Offsets such as `+02:00` are none. */
export function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
