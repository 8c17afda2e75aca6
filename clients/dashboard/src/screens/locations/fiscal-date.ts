import type { Schemas } from 'prompt-gateway-client';

/**
 * Date (`YYYY-MM-DD`) of the fiscal day in progress at a location: the date in its time zone, or the day before until
 * the fiscal day ends.
 */
export function currentFiscalDate(
  { timezone, fiscal_day_end }: Pick<Schemas['Location'], 'timezone' | 'fiscal_day_end'>,
  now: Date,
): string {
  const local = localTime(now, timezone);
  const today = new Date(`${local.slice(0, 10)}T00:00:00Z`);
  if (local.slice(11) < fiscal_day_end) today.setUTCDate(today.getUTCDate() - 1);
  return today.toISOString().slice(0, 10);
}

/** `2026-11-06 03:59`; a time zone that this browser does not know counts as UTC. */
function localTime(now: Date, timeZone: string): string {
  try {
    // Swedish writes dates as ISO 8601 does.
    const format = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'short', timeZone });
    return format.format(now);
  } catch {
    return now.toISOString().slice(0, 16).replace('T', ' ');
  }
}
