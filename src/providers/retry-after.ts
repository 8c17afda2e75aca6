/** The longest wait that is believed and passed on, in milliseconds: one day. */
const longestWait = 86_400_000;

/**
 * Reads how long a provider asks to wait: `retry-after-ms` (OpenAI, Azure), else `Retry-After` as seconds or as an
 * HTTP date (RFC 9110, section 10.2.3).
 *
 * @param headers Response headers by lower-case name.
 * @param now Milliseconds since the epoch, for dates.
 * @returns Milliseconds from now, at least 0 and at most a day; undefined when absent or not understood.
 */
export function parseRetryAfter(
  headers: Readonly<Record<string, string>> | undefined,
  now: number,
): number | undefined {
  const milliseconds = parseDecimal(headers?.['retry-after-ms']);
  if (milliseconds !== undefined) return Math.min(milliseconds, longestWait);

  const value = headers?.['retry-after'];
  const seconds = parseDecimal(value);
  if (seconds !== undefined) return Math.min(seconds * 1000, longestWait);

  // Date.parse takes much that is no HTTP date ("-5" is one); those begin with the day's name.
  if (value === undefined || !/^[A-Z][a-z]{2},/.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.min(Math.max(date - now, 0), longestWait);
}

function parseDecimal(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,9}(\.\d{1,6})?$/.test(value) ? Number(value) : undefined;
}
