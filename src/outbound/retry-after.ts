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
  const date = readHttpDate(value, now);
  return date === undefined ? undefined : Math.min(Math.max(date - now.getTime(), 0), longestWait);
}

/** Reads a decimal number of units. @returns milliseconds, at most a day; undefined when absent or not understood */
export function readDelay(value: string | undefined, unitMs: number): number | undefined {
  if (value === undefined || !/^\d+(\.\d+)?$/.test(value)) return undefined;
  return Math.min(Number(value) * unitMs, longestWait);
}

const monthNames = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const time = String.raw`(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d):(?<second>[0-5]\d|60)`;
const month = `(?<month>${monthNames.join('|')})`;
/** IMF-fixdate, then the two obsolete forms: RFC 850's and that of C's asctime(). */
const dateForms = [
  String.raw`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d{2}) ${month} (?<year>\d{4}) ${time} GMT`,
  String.raw`(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d{2})-${month}-(?<year>\d{2}) ${time} GMT`,
  String.raw`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${month} (?<day>[ \d]\d) ${time} (?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/** Date.parse accepts many texts that are not HTTP dates, and reads asctime()'s form in the machine's time zone. */
function readHttpDate(value: string, now: Date): number | undefined {
  for (const form of dateForms) {
    const groups = form.exec(value)?.groups;
    if (groups === undefined) continue;
    const { hour, minute, second } = groups;
    const [day, monthIndex] = [Number(groups['day']), monthNames.indexOf(groups['month'] ?? '')];
    const midnight = new Date(0);
    midnight.setUTCFullYear(yearOf(groups['year'] ?? '', now), monthIndex, day);
    // A date such as 30 February does not exist.
    if (midnight.getUTCDate() !== day) return undefined;
    return midnight.getTime() + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000;
  }
  return undefined;
}

/** A year of two digits that would be more than 50 years in the future means the latest past year with these digits. */
function yearOf(digits: string, now: Date): number {
  if (digits.length === 4) return Number(digits);
  const present = now.getUTCFullYear();
  const year = present - (present % 100) + Number(digits);
  return year > present + 50 ? year - 100 : year;
}
