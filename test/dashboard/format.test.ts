import { describe, expect, it } from '@jest/globals';
import { createFormat } from '../../clients/dashboard/src/shared/format.ts';

/** An instant of the time zone of this machine. */
const at = (...parts: [number, number, number, number, number, number]): string => new Date(...parts).toISOString();
const now = new Date(2026, 10, 27, 0, 0, 5).getTime();

describe('a time in a table', () => {
  it.each([
    ['today', at(2026, 10, 27, 0, 0, 1), '00:00:01', '00:00:01'],
    ['later today', at(2026, 10, 27, 15, 59, 30), '15:59:30', '15:59:30'],
    ['five seconds ago, on another day', at(2026, 10, 26, 23, 59, 59), 'Nov 26, 23:59:59', '26. Nov., 23:59:59'],
    ['with one digit', at(2026, 4, 2, 3, 4, 5), 'May 02, 03:04:05', '02. Mai, 03:04:05'],
    ['in another year', at(2025, 10, 27, 12, 0, 0), 'Nov 27, 2025, 12:00:00', '27. Nov. 2025, 12:00:00'],
  ])('is short, exact and of one length: %s', (_, iso, english, german) => {
    expect(createFormat('en').exact(iso, now)).toBe(english);
    expect(createFormat('de').exact(iso, now)).toBe(german);
  });

  it('is what the service sent if that is no time', () => {
    expect(createFormat('en').exact('soon', now)).toBe('soon');
  });
});
