import { readRetryAfter } from '../outbound/retry-after.ts';

/** The longest wait that is believed and passed on, in milliseconds: one day. */
const longestWait = 86_400_000;

/**
 * Reads how long a provider asks to wait: `retry-after-ms` (OpenAI, Azure), else `Retry-After`.
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
  return readRetryAfter(headers?.['retry-after'], new Date(now));
}

function parseDecimal(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;
}
