import type { Schemas } from 'prompt-gateway-client';

/**
 * Date (`YYYY-MM-DD`) of the fiscal day in progress at a location: the date in its time zone, or the day before until
 * the fiscal day ends. A day that is closed early is followed by the next one.
 * @param lastClosed date of the last closed day
 */
export function currentFiscalDate(
  { time_zone, fiscal_day_end }: Pick<Schemas['Location'], 'time_zone' | 'fiscal_day_end'>,
  now: Date,
  lastClosed: string | undefined,
): string {
  const local = localTime(now, time_zone);
  const today = addDays(local.slice(0, 10), local.slice(11) < fiscal_day_end ? -1 : 0);
  return lastClosed === undefined || lastClosed < today ? today : addDays(lastClosed, 1);
}

function addDays(date: string, days: number): string {
  const moved = new Date(`${date}T00:00:00Z`);
  moved.setUTCDate(moved.getUTCDate() + days);
  return moved.toISOString().slice(0, 10);
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
