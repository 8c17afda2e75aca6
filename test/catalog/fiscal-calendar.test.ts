import { describe, expect, it } from '@jest/globals';
import {
  beginOfFiscalDay,
  dayAfter,
  endOfFiscalDay,
  fiscalDateAt,
  isTimezone,
} from '../../src/catalog/locations/fiscal-calendar.ts';

const berlin = (fiscalDayEnd: string): { timezone: string; fiscalDayEnd: string } => ({
  timezone: 'Europe/Berlin',
  fiscalDayEnd,
});
const iso = (date: Date): string => date.toISOString();

describe('beginning and end', () => {
  it.each([
    ['midnight', '2026-01-15', berlin('00:00'), '2026-01-14T23:00:00.000Z', '2026-01-15T23:00:00.000Z'],
    ['night', '2026-01-15', berlin('04:00'), '2026-01-15T03:00:00.000Z', '2026-01-16T03:00:00.000Z'],
    [
      'other side',
      '2026-01-15',
      { timezone: 'Pacific/Auckland', fiscalDayEnd: '05:30' },
      '2026-01-14T16:30:00.000Z',
      '2026-01-15T16:30:00.000Z',
    ],
    [
      'quarter hours',
      '2026-01-15',
      { timezone: 'Asia/Kathmandu', fiscalDayEnd: '00:00' },
      '2026-01-14T18:15:00.000Z',
      '2026-01-15T18:15:00.000Z',
    ],
    [
      'a leap day',
      '2028-02-29',
      { timezone: 'UTC', fiscalDayEnd: '00:00' },
      '2028-02-29T00:00:00.000Z',
      '2028-03-01T00:00:00.000Z',
    ],
  ])('of a day that ends at %s', (_name, date, clock, begin, end) => {
    expect(iso(beginOfFiscalDay(date, clock))).toBe(begin);
    expect(iso(endOfFiscalDay(date, clock))).toBe(end);
    expect(endOfFiscalDay(date, clock)).toEqual(beginOfFiscalDay(dayAfter(date), clock));
  });

  it('resolve to the later instant where daylight saving time skips the time of day', () => {
    // 02:30 does not exist on 29 March 2026; clocks go from 02:00 to 03:00 at 01:00 UTC.
    expect(iso(beginOfFiscalDay('2026-03-29', berlin('02:30')))).toBe('2026-03-29T01:30:00.000Z');
    expect(iso(endOfFiscalDay('2026-03-28', berlin('02:30')))).toBe('2026-03-29T01:30:00.000Z');
  });

  it('resolve to the first instant where daylight saving time repeats the time of day', () => {
    // 02:30 comes twice on 25 October 2026, at 00:30 and 01:30 UTC.
    expect(iso(beginOfFiscalDay('2026-10-25', berlin('02:30')))).toBe('2026-10-25T00:30:00.000Z');
  });

  it.each([
    ['23 hours', '2026-03-29', 23],
    ['25 hours', '2026-10-25', 25],
    ['24 hours', '2026-06-01', 24],
  ])('are %s apart on the day itself', (_name, date, hours) => {
    const clock = berlin('00:00');
    expect(endOfFiscalDay(date, clock).getTime() - beginOfFiscalDay(date, clock).getTime()).toBe(hours * 3_600_000);
  });

  it('follow a zone that skips midnight', () => {
    // Cairo goes from 23:59:59 on 23 April 2026 to 01:00 on the 24th.
    const cairo = { timezone: 'Africa/Cairo', fiscalDayEnd: '00:00' };
    expect(iso(beginOfFiscalDay('2026-04-24', cairo))).toBe('2026-04-23T22:00:00.000Z');
  });

  it('follow a zone that skips a whole date', () => {
    const apia = { timezone: 'Pacific/Apia', fiscalDayEnd: '04:00' };
    expect(beginOfFiscalDay('2011-12-30', apia)).toEqual(beginOfFiscalDay('2011-12-31', apia));
  });
});

describe('the date of an instant', () => {
  it.each([
    ['2026-01-15T02:59:59.999Z', '2026-01-14'],
    ['2026-01-15T03:00:00.000Z', '2026-01-15'],
    ['2026-01-16T02:59:59.999Z', '2026-01-15'],
  ])('%s is %s where days end at 04:00 in Berlin', (instant, date) => {
    expect(fiscalDateAt(new Date(instant), berlin('04:00'))).toBe(date);
  });

  it('changes only once where the time of day comes twice', () => {
    const clock = berlin('02:30');
    expect(fiscalDateAt(new Date('2026-10-25T00:29:59.999Z'), clock)).toBe('2026-10-24');
    expect(fiscalDateAt(new Date('2026-10-25T00:30:00.000Z'), clock)).toBe('2026-10-25');
    expect(fiscalDateAt(new Date('2026-10-25T01:15:00.000Z'), clock)).toBe('2026-10-25');
  });

  it('is within beginning and end for every hour of a year', () => {
    const clocks = ['00:00', '02:30', '04:00', '23:30'].map(berlin);
    for (let hour = 0; hour < 365 * 24; hour += 7) {
      const instant = new Date(Date.UTC(2026, 0, 1, hour));
      const clock = clocks[hour % clocks.length] ?? berlin('00:00');
      const date = fiscalDateAt(instant, clock);
      expect(beginOfFiscalDay(date, clock) <= instant && instant < endOfFiscalDay(date, clock)).toBe(true);
    }
  });
});

describe('time zones', () => {
  it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5', 'Asia/Calcutta'])(
    'knows %s',
    (name) => {
      expect(isTimezone(name)).toBe(true);
      expect(() => fiscalDateAt(new Date(), { timezone: name, fiscalDayEnd: '00:00' })).not.toThrow();
    },
  );

  it.each(['', 'Europe/Atlantis', '+02:00', 'Berlin', 'UTC+1', '[Europe/Berlin]'])('does not know "%s"', (name) => {
    expect(isTimezone(name)).toBe(false);
  });
});
