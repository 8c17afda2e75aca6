import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { retryLostRaces } from '../../../src/base/editing/lost-races.ts';

describe('a race with other writers', () => {
  it('is run until it is won', async () => {
    let attempts = 0;
    expect(await retryLostRaces(async () => ((attempts += 1) < 8 ? undefined : 'won'))).toBe('won');
    expect(attempts).toBe(8);
  });

  it.each([0, false, null, ''])('is won by the result %j', async (result) => {
    expect(await retryLostRaces(async () => result)).toBe(result);
  });

  it('ends with an error of an attempt, at once', async () => {
    let attempts = 0;
    const racing = retryLostRaces(async () => {
      attempts += 1;
      throw new TypeError('a mistake in the program');
    });
    await expect(racing).rejects.toThrow(TypeError);
    expect(attempts).toBe(1);
  });

  it('is given up after 5 seconds, in some dozen attempts', async () => {
    let attempts = 0;
    const racing = retryLostRaces(() => {
      attempts += 1;
      return Promise.resolve(undefined);
    });
    const slowRacing = retryLostRaces(
      () => sleep(600, undefined),
      () => new RangeError('own'),
    );
    const ends = await Promise.allSettled([racing, slowRacing]);
    expect(ends).toMatchObject([
      { reason: { type: 'database-unavailable', message: 'Too many changes at the same time. Try again shortly.' } },
      { reason: expect.any(RangeError) },
    ]);
    // The pauses grow to 200 ms, and an attempt counts for 500 ms at most.
    expect(attempts).toBeGreaterThan(5_000 / 700);
    expect(attempts).toBeLessThan(200);
  });
});
