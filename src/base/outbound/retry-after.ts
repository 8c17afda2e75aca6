/** The longest wait that is accepted, in milliseconds: one day. */
const longestWait = 86_400_000;

/**
 * Reads the `Retry-After` of a response (RFC 9110, section 10.2.3): seconds, also with fractions, or a date in one of
 * the three forms that a recipient must accept (section 5.6.7).
 *
 * @param now the current time, for dates
 * @returns milliseconds from now, at least 0 and at most a day; undefined when absent or not understood
 */
export function readRetryAfter(value: string | undefined, now: Date): number | undefined {
  if (value === undefined) return undefined;
  const delay = readDelay(value, 1_000);
  if (delay !== undefined) return delay;
  const date = readHttpDate(value);
  return date === undefined ? undefined : Math.min(Math.max(date - now.getTime(), 0), longestWait);
}

/** Reads a decimal number of units. @returns milliseconds, at most a day; undefined when absent or not understood */
export function readDelay(value: string | undefined, unitMs: number): number | undefined {
  if (value === undefined || !/^\d+(\.\d+)?$/.test(value)) return undefined;
  return Math.min(Number(value) * unitMs, longestWait);
}

/**
 * The forms of a date in HTTP. `Date.parse` alone accepts many other texts, and reads the last form, that of C's
 * asctime(), in the time zone of the machine.
 */
const dateForms = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/,
  /^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} [\d:]{8} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/,
];

function readHttpDate(value: string): number | undefined {
  if (!dateForms.some((form) => form.test(value))) return undefined;
  const time = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
