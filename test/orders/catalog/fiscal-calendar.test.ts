import { describe, expect, it } from '@jest/globals';
import {
  beginOfFiscalDay,
  dayAfter,
  endOfFiscalDay,
  fiscalDateAt,
} from '../../../src/orders/catalog/locations/fiscal-calendar.ts';
import { timeZoneNamed } from '../../../src/base/runtime/time-zones.ts';

const berlin = (fiscalDayEnd: string): { timeZone: string; fiscalDayEnd: string } => ({
  timeZone: 'Europe/Berlin',
  fiscalDayEnd,
});
const iso = (date: Date): string => date.toISOString();

describe('beginning and end', () => {
  it.each([
    ['midnight', '2026-01-15', berlin('00:00'), '2026-01-14T23:00:00.000Z', '2026-01-15T23:00:00.000Z'],
    ['night', '2026-01-15', berlin('04:00'), '2026-01-15T03:00:00.000Z', '2026-01-16T03:00:00.000Z'],
    [
      'another continent',
      '2026-01-15',
      { timeZone: 'Pacific/Auckland', fiscalDayEnd: '05:30' },
      '2026-01-14T16:30:00.000Z',
      '2026-01-15T16:30:00.000Z',
    ],
    [
      'a zone with quarter hours',
      '2026-01-15',
      { timeZone: 'Asia/Kathmandu', fiscalDayEnd: '00:00' },
      '2026-01-14T18:15:00.000Z',
      '2026-01-15T18:15:00.000Z',
    ],
    [
      'a leap day',
      '2028-02-29',
      { timeZone: 'UTC', fiscalDayEnd: '00:00' },
      '2028-02-29T00:00:00.000Z',
      '2028-03-01T00:00:00.000Z',
    ],
  ])('of a fiscal day (%s)', (_name, date, clock, begin, end) => {
    expect(iso(beginOfFiscalDay(date, clock))).toBe(begin);
    expect(iso(endOfFiscalDay(date, clock))).toBe(end);
    expect(endOfFiscalDay(date, clock)).toEqual(beginOfFiscalDay(dayAfter(date), clock));
  });

  it('are the later instant where daylight saving time skips the time of day', () => {
    // 02:30 does not exist on 29 March 2026: clocks go from 02:00 to 03:00 at 01:00 UTC.
    expect(iso(beginOfFiscalDay('2026-03-29', berlin('02:30')))).toBe('2026-03-29T01:30:00.000Z');
    expect(iso(endOfFiscalDay('2026-03-28', berlin('02:30')))).toBe('2026-03-29T01:30:00.000Z');
  });

  it('are the first instant where daylight saving time repeats the time of day', () => {
    // 02:30 occurs twice on 25 October 2026, at 00:30 and 01:30 UTC.
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
    // In Cairo, clocks go from 23:59:59 on 23 April 2026 to 01:00 on the 24th.
    const cairo = { timeZone: 'Africa/Cairo', fiscalDayEnd: '00:00' };
    expect(iso(beginOfFiscalDay('2026-04-24', cairo))).toBe('2026-04-23T22:00:00.000Z');
  });

  it('follow a zone that skips a whole date', () => {
    const apia = { timeZone: 'Pacific/Apia', fiscalDayEnd: '04:00' };
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

  it('changes only once where the time of day occurs twice', () => {
    const clock = berlin('02:30');
    expect(fiscalDateAt(new Date('2026-10-25T00:29:59.999Z'), clock)).toBe('2026-10-24');
    expect(fiscalDateAt(new Date('2026-10-25T00:30:00.000Z'), clock)).toBe('2026-10-25');
    expect(fiscalDateAt(new Date('2026-10-25T01:15:00.000Z'), clock)).toBe('2026-10-25');
  });

  it('lies between beginning and end for every hour of a year', () => {
    const clocks = ['00:00', '02:30', '04:00', '23:30'].map(berlin);
    for (let hour = 0; hour < 365 * 24; hour += 7) {
      const instant = new Date(Date.UTC(2026, 0, 1, hour));
      const clock = clocks[hour % clocks.length] ?? berlin('00:00');
      const date = fiscalDateAt(instant, clock);
      expect(beginOfFiscalDay(date, clock) <= instant && instant < endOfFiscalDay(date, clock)).toBe(true);
    }
  });
});

/**
 * Nights with clock changes, most of them around midnight. The test reads the wall clock each minute for five days
 * around the date.
 */
const nights: [timeZone: string, date: string][] = [
  // Forward from 23:00 on Saturday to midnight, and back from midnight on Sunday to 23:00.
  ['America/Nuuk', '2026-03-28'],
  ['America/Nuuk', '2026-10-25'],
  ['America/Scoresbysund', '2026-03-28'],
  ['America/Scoresbysund', '2026-10-24'],
  // 30 December is missing: from UTC-10 to UTC+14.
  ['Pacific/Apia', '2011-12-30'],
  // 21 August is missing: from UTC-12 to UTC+12.
  ['Pacific/Kwajalein', '1993-08-21'],
  // Back from 00:01 to 23:01 on the day before.
  ['America/St_Johns', '2010-11-07'],
  ['Africa/Cairo', '2026-04-24'],
  ['Africa/Cairo', '2026-10-29'],
  ['America/Havana', '2026-03-08'],
  ['America/Havana', '2026-11-01'],
  ['Asia/Beirut', '2026-03-29'],
  ['America/Santiago', '2026-04-04'],
  // Changes of half an hour, and of two hours.
  ['Australia/Lord_Howe', '2026-10-04'],
  ['Antarctica/Troll', '2026-03-29'],
  ['Antarctica/Troll', '2026-10-25'],
  ['Europe/Berlin', '2026-03-29'],
  ['Asia/Kathmandu', '2026-03-29'],
];

/**
 * The wall clock for each minute, according to ICU: minutes since 1970 in UTC, and the wall clock read as if it were
 * UTC.
 */
function readWallClock(timeZone: string, date: string): [minute: number, wall: number][] {
  const format = new Intl.DateTimeFormat('sv', { timeZone: timeZone, dateStyle: 'short', timeStyle: 'short' });
  const middle = Date.parse(`${date}T12:00:00Z`) / 60_000;
  return Array.from({ length: 5 * 1_440 }, (_, index) => {
    const minute = middle - 2.5 * 1_440 + index;
    return [minute, Date.parse(`${format.format(minute * 60_000).replace(' ', 'T')}Z`) / 60_000];
  });
}

/**
 * The minute when the wall clock first shows a time. If the clock skips that time: the minute when it would have shown
 * it. `undefined` if the clock does not reach it.
 */
function firstShown(clock: readonly [number, number][], wanted: number): number | undefined {
  let previous = clock[0] ?? [0, 0];
  for (const [minute, wall] of clock) {
    if (wall === wanted) return minute;
    if (previous[1] < wanted && wanted < wall) return previous[0] + (wanted - previous[1]);
    previous = [minute, wall];
  }
  return undefined;
}

/** The minutes at which the wall clock shows a new date, or skips or repeats time. */
function midnightsAndMoves(wallClock: readonly [number, number][]): number[] {
  return wallClock.flatMap(([minute, wall], index) => {
    const before = wallClock[index - 1]?.[1] ?? wall - 1;
    return wall !== before + 1 || wall % 1_440 === 0 ? [minute] : [];
  });
}

describe('a night with a clock change', () => {
  it.each(nights)('is divided as the wall clock of %s shows it around %s', (timeZone, date) => {
    const wallClock = readWallClock(timeZone, date);
    for (const fiscalDayEnd of ['00:00', '00:30', '02:30', '04:00', '23:00', '23:30', '23:59']) {
      const clock = { timeZone, fiscalDayEnd };
      // Each date of these days, with the minute at which it starts.
      const begins = [-2, -1, 0, 1, 2].flatMap((offset) => {
        const day = new Date(Date.parse(date) + offset * 86_400_000).toISOString().slice(0, 10);
        const begin = firstShown(wallClock, Date.parse(`${day}T${fiscalDayEnd}:00Z`) / 60_000);
        return begin === undefined ? [] : [{ day, begin }];
      });
      expect(begins.length).toBeGreaterThanOrEqual(4);
      for (const { day, begin } of begins) {
        expect([fiscalDayEnd, day, iso(beginOfFiscalDay(day, clock))]).toEqual([
          fiscalDayEnd,
          day,
          iso(new Date(begin * 60_000)),
        ]);
      }
      const first = begins[0]?.begin ?? 0;
      const last = begins.at(-1)?.begin ?? 0;
      const turns = [...begins.map(({ begin }) => begin), ...midnightsAndMoves(wallClock)];
      const minutes = turns.flatMap((turn) => [turn - 1, turn, turn + 20]).filter((at) => first <= at && at < last);
      const wrong = minutes.flatMap((minute) => {
        const expected = begins.findLast(({ begin }) => begin <= minute)?.day;
        const found = fiscalDateAt(new Date(minute * 60_000), clock);
        return found === expected ? [] : [`${iso(new Date(minute * 60_000))} is ${found} and not ${expected}`];
      });
      expect([fiscalDayEnd, wrong]).toEqual([fiscalDayEnd, []]);
    }
  });
});

describe('time zones', () => {
  it.each([
    ...['UTC', 'GMT', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'America/Argentina/ComodRivadavia', 'EST5EDT'],
    // Aliases are not replaced.
    ...['Asia/Calcutta', 'Asia/Kolkata', 'Europe/Kyiv', 'Europe/Kiev', 'GB-Eire', 'NZ-CHAT', 'W-SU', 'PRC', 'Zulu'],
    ...['Etc/GMT+5', 'Etc/GMT-14', 'Etc/UCT', 'America/Port-au-Prince', 'America/Port_of_Spain', 'Asia/Ust-Nera'],
    ...['Antarctica/DumontDUrville', 'Antarctica/McMurdo', 'Africa/Dar_es_Salaam', 'Europe/Isle_of_Man'],
    ...['America/Knox_IN', 'America/North_Dakota/New_Salem', 'Asia/Ho_Chi_Minh', 'Mexico/BajaNorte', 'US/East-Indiana'],
  ])('are spelt as the database has them: %s', (name) => {
    for (const spelling of [name, name.toLowerCase(), name.toUpperCase()]) expect(timeZoneNamed(spelling)).toBe(name);
    expect(() => fiscalDateAt(new Date(), { timeZone: name, fiscalDayEnd: '00:00' })).not.toThrow();
  });

  // Some of these are names that ICU accepts.
  it.each([
    ...['', 'Europe/Atlantis', '+02:00', 'Berlin', 'UTC+1', '[Europe/Berlin]', 'GMT+5', 'Etc/Unknown', 'localtime'],
    ...['PST', 'IST', 'BST', 'ACT', 'SystemV/AST4'],
  ])('are not "%s"', (name) => {
    expect(timeZoneNamed(name)).toBeUndefined();
  });
});
