import { Temporal } from '@js-temporal/polyfill';

/**
 * The name of a time zone as the IANA database spells it, in upper and lower case; an alias stays an alias. `undefined`
 * for offsets such as `+02:00` and everything else that is not in the database.
 */
export function timeZoneNamed(name: string): string | undefined {
  // ICU still has the SystemV zones, which were removed from the database in 2020.
  if (!/^[A-Za-z]/.test(name) || /^systemv\//i.test(name)) return undefined;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
  } catch {
    return undefined;
  }
}
