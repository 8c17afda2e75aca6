import { describe, expect, it } from '@jest/globals';
import {
  afterFailure,
  afterSuccess,
  isProbing,
  decide,
  newHealth,
  remainingWait,
  type FailedAttempts,
  type LaneHealth,
} from '../../src/webhooks/lanes/health.ts';
import { defaultTiming } from '../../src/webhooks/timing.ts';

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;
const start = new Date('2026-11-06T12:00:00.000Z');
const at = (milliseconds: number): Date => new Date(start.getTime() + milliseconds);
const failure = (when: Date): FailedAttempts => ({ at: when, status: 503, error: undefined });

function failures(count: number, health: LaneHealth = newHealth(1), when = start): LaneHealth {
  let after = health;
  for (let each = 0; each < count; each += 1) after = afterFailure(after, failure(when), undefined, defaultTiming, 0);
  return after;
}
const wait = (health: LaneHealth, when = start): number =>
  remainingWait(health, when, defaultTiming.breaker.longestOpen);

describe('circuit breaker', () => {
  it('stays closed for four consecutive failures, and opens for 30 s with the fifth', () => {
    expect(wait(failures(4))).toBe(0);
    expect(wait(failures(5))).toBe(30 * second);
    expect(isProbing(failures(4))).toBe(false);
  });

  it('counts again from 0 after a success', () => {
    expect(wait(failures(4, afterSuccess(failures(4))))).toBe(0);
  });

  it('then permits a probe, and doubles its pause up to 15 minutes while probes fail', () => {
    let health = failures(5);
    let now = 0;
    const waits = [];
    for (let each = 0; each < 7; each += 1) {
      now += wait(health, at(now));
      expect(isProbing(health)).toBe(true);
      health = failures(1, health, at(now));
      waits.push(wait(health, at(now)) / second);
    }
    expect(waits).toEqual([60, 120, 240, 480, 900, 900, 900]);
    expect(afterSuccess(health)).toEqual(newHealth(1));
  });

  it('does not open further for requests that were in progress when it opened', () => {
    expect(wait(failures(20))).toBe(30 * second);
  });

  it('waits as long as Retry-After asks, up to 15 minutes, even after a single failure', () => {
    const asked = afterFailure(newHealth(1), failure(start), 5 * minute, defaultTiming, 0);
    expect(wait(asked)).toBe(5 * minute);
    expect(isProbing(asked)).toBe(true);
    expect(wait(afterFailure(newHealth(1), failure(start), day, defaultTiming, 0))).toBe(15 * minute);
  });

  it('opens for up to a fifth less, so that receivers are not all probed at the same moment', () => {
    const waits = [0, 0.5, 1].map((random) =>
      wait(afterFailure(failures(4), failure(start), undefined, defaultTiming, random)),
    );
    expect(waits).toEqual([30 * second, 27 * second, 24 * second]);
  });

  it('never waits longer than 15 minutes because of a clock that is ahead', () => {
    expect(wait(failures(5), at(-day))).toBe(15 * minute);
  });
});

describe('decide', () => {
  const failing = (since: Date, warnedAt?: Date): LaneHealth => ({ ...failures(9, newHealth(1), since), warnedAt });

  it('does nothing before three days', () => {
    expect(decide(newHealth(1), start, defaultTiming)).toEqual({ action: 'none' });
    expect(decide(failing(start), at(3 * day - 1), defaultTiming)).toEqual({ action: 'none' });
  });

  it('warns after three days of nothing but failures, and names the time when it disables', () => {
    const warning = { action: 'warn', failingSince: start, disablesAt: at(5 * day) };
    expect(decide(failing(start), at(3 * day), defaultTiming)).toEqual(warning);
  });

  it('disables after five days', () => {
    const warned = failing(start, at(3 * day));
    expect(decide(warned, at(5 * day - 1), defaultTiming)).toEqual({ action: 'none' });
    expect(decide(warned, at(5 * day), defaultTiming)).toEqual({ action: 'disable', failingSince: start });
  });

  it('never disables without a day of notice, even if events are rare', () => {
    expect(decide(failing(start), at(9 * day), defaultTiming)).toMatchObject({
      action: 'warn',
      disablesAt: at(10 * day),
    });
    expect(decide(failing(start, at(9 * day)), at(9.5 * day), defaultTiming)).toEqual({ action: 'none' });
  });
});
