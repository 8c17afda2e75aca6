/**
 * Reads the `Retry-After` of a response (RFC 9110, section 10.2.3): seconds or an HTTP date.
 *
 * @param now for dates
 * @returns milliseconds from now, at least 0; undefined when absent or not understood
 */
export function readRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  // Date.parse takes much that is no HTTP date ("-5" is one); those begin with the day's name.
  if (!/^[A-Z][a-z]{2},/.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}
