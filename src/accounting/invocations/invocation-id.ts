/** Ids of invocations are UUIDs of version 7 (RFC 9562, section 5.7): they begin with the time, so they name a day. */

/** @param uuid a UUID of version 4, for the random part */
export function createInvocationId(at: Date, uuid: string): string {
  const time = at.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${uuid.slice(15)}`;
}

/** The time in an id, in milliseconds since 1970; undefined for a UUID of another version. */
export function timeOf(id: string): number | undefined {
  return id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
}

/** The day of a time in UTC, as its collection names it, such as `20261105`. @param at milliseconds since 1970 */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10).replaceAll('-', '');
}

/** The midnight with which a day begins, in milliseconds since 1970. @param day as `dayOf` names it */
export function startOfDay(day: string): number {
  return Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`);
}
