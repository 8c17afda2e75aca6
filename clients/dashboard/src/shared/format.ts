import { minorDigits } from './money.ts';

/** Writes values for people, in one language. The values are those of the API: ISO 8601, milliseconds, bytes, minor units. */
export interface Format {
  /** 12,345.6 */
  number: (value: number, options?: Intl.NumberFormatOptions) => string;
  /** 12,345, or ? if it is unknown. */
  tokens: (count: number | undefined) => string;
  /** 12K */
  compact: (value: number) => string;
  /** 97.5%, of a share between 0 and 1. */
  percent: (share: number) => string;
  /** €4.20, of an amount in minor units of the currency (ISO 4217). */
  money: (minor: number, currency: string) => string;
  /** $0.0000464, of a cost as the API has it; `undefined` if it is unknown. */
  cost: (cost: { readonly amount: string } | null | undefined) => string | undefined;
  /** $12.50, $0.0042: a sum of costs, without the digits that nobody needs beside a limit. */
  spending: (cost: { readonly amount: string }) => string;
  /** 1.5 kB */
  bytes: (bytes: number) => string;
  /** 250 ms, 1.5 s, 3 min, 2.5 hr */
  duration: (milliseconds: number) => string;
  /** Nov 5, 2026, 3:59:30 PM, in the time zone of the browser. */
  dateTime: (iso: string) => string;
  /** Nov 5, 2026, 3:59 PM */
  moment: (iso: string) => string;
  /** Nov 5, 2026 */
  date: (iso: string) => string;
  /** Nov 5, of a date in UTC such as `2026-11-05` */
  day: (date: string) => string;
  /** 3:59 PM */
  time: (iso: string) => string;
  /** 15:59:30 today, Nov 05, 15:59:30 this year, else Nov 05, 2026, 15:59:30: short, and equally long, for tables. */
  exact: (iso: string, now: number) => string;
  /** 5 minutes ago, in 3 days */
  relative: (iso: string, now: number) => string;
  /** a, b, and c */
  list: (items: readonly string[]) => string;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Units of relative times, the largest first, with their length in milliseconds. */
const units = [
  ['year', 365 * day],
  ['month', 30 * day],
  ['week', 7 * day],
  ['day', day],
  ['hour', hour],
  ['minute', minute],
  ['second', 1_000],
] as const;

const byteUnits = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** What is no date is shown as it is. */
function instant(format: Intl.DateTimeFormat, iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? iso : format.format(date);
}

/** Makes the formats of a language. */
export function createFormat(language: string): Format {
  const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
  const compact = new Intl.NumberFormat(language, { notation: 'compact', maximumFractionDigits: 1 });
  const percents = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 });
  const dateTimes = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
  const moments = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  const dates = new Intl.DateTimeFormat(language, { dateStyle: 'medium' });
  const days = new Intl.DateTimeFormat(language, { month: 'short', day: 'numeric', timeZone: 'UTC' });
  const times = new Intl.DateTimeFormat(language, { timeStyle: 'short' });
  // 24 hours in every language, so that a later time also looks later.
  const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  const clocks = new Intl.DateTimeFormat(language, clock);
  const daysOfYear = new Intl.DateTimeFormat(language, { month: 'short', day: '2-digit', ...clock });
  const daysOfYears = new Intl.DateTimeFormat(language, { year: 'numeric', month: 'short', day: '2-digit', ...clock });
  const relatives = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const lists = new Intl.ListFormat(language);
  const unit = (name: string, value: number): string =>
    new Intl.NumberFormat(language, {
      style: 'unit',
      unit: name,
      unitDisplay: 'short',
      maximumFractionDigits: value < 10 ? 1 : 0,
    }).format(value);

  return {
    number: (value, options) =>
      options === undefined ? numbers.format(value) : new Intl.NumberFormat(language, options).format(value),
    tokens: (count) => (count === undefined ? '?' : numbers.format(count)),
    compact: (value) => compact.format(value),
    percent: (share) => percents.format(share),
    money: (minor, currency) => {
      const digits = minorDigits(currency);
      return new Intl.NumberFormat(language, {
        style: 'currency',
        currency,
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      }).format(minor / 10 ** digits);
    },
    cost: (cost) =>
      cost === undefined || cost === null
        ? undefined
        : new Intl.NumberFormat(language, {
            style: 'currency',
            currency: 'USD',
            minimumFractionDigits: 2,
            maximumFractionDigits: 9,
          }).format(Number(cost.amount)),
    spending: ({ amount }) => {
      const value = Number(amount);
      // Two digits that are not 0.
      const digits = value > 0 && value < 1 ? 1 - Math.floor(Math.log10(value)) : 2;
      return new Intl.NumberFormat(language, {
        style: 'currency',
        currency: 'USD',
        minimumFractionDigits: 2,
        maximumFractionDigits: Math.min(Math.max(digits, 2), 9),
      }).format(value);
    },
    bytes: (bytes) => {
      const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), byteUnits.length - 1);
      return unit(byteUnits[power] ?? 'byte', bytes / 1_000 ** power);
    },
    duration: (milliseconds) => {
      if (milliseconds < 1_000) return unit('millisecond', Math.round(milliseconds));
      if (milliseconds < minute) return unit('second', milliseconds / 1_000);
      if (milliseconds < hour) return unit('minute', milliseconds / minute);
      return milliseconds < day ? unit('hour', milliseconds / hour) : unit('day', milliseconds / day);
    },
    dateTime: (iso) => instant(dateTimes, iso),
    moment: (iso) => instant(moments, iso),
    date: (iso) => instant(dates, iso),
    day: (date) => instant(days, date),
    time: (iso) => instant(times, iso),
    exact: (iso, now) => {
      const [date, today] = [new Date(iso), new Date(now)];
      if (date.getFullYear() !== today.getFullYear()) return instant(daysOfYears, iso);
      return instant(date.toDateString() === today.toDateString() ? clocks : daysOfYear, iso);
    },
    relative: (iso, now) => {
      const distance = Date.parse(iso) - now;
      if (Number.isNaN(distance)) return iso;
      const [name, length] = units.find(([, ms]) => Math.abs(distance) >= ms) ?? (['second', 1_000] as const);
      return relatives.format(Math.trunc(distance / length), name);
    },
    list: (items) => lists.format(items),
  };
}
