import { describe, expect, it } from '@jest/globals';
import { forecastOf, standingOf } from '../../clients/dashboard/src/screens/costs/budgets/forecast.ts';

type Budget = Parameters<typeof forecastOf>[0];

const usd = (amount: string) => ({ amount, currency: 'USD' as const });

/** A budget of 50 dollars in a month of 30 days. */
function budget(spent: string, started_at = '2026-10-14T09:00:00.000Z'): Budget {
  return {
    id: '3f1c2b7e-5a64-4b0e-9d8f-2c6a1e7b4d90',
    name: 'checkout',
    scope: {},
    limit: usd('50'),
    period: 'month',
    time_zone: 'UTC',
    unpriced: 'refuse',
    thresholds: [],
    current: {
      since: '2026-11-01T00:00:00.000Z',
      resets_at: '2026-12-01T00:00:00.000Z',
      spent: usd(spent),
      held: usd('0'),
      left: usd(String(Math.max(0, 50 - Number(spent)))),
    },
    started_at,
    updated_at: started_at,
    author: { type: 'key', id: 'administrator', name: 'administrator' },
  };
}

const at = (day: number): number => Date.UTC(2026, 10, day);

describe('the forecast of a budget', () => {
  it('goes on at the pace so far', () => {
    expect(forecastOf(budget('10'), at(11))).toEqual({ spent: 30, reachedAt: undefined });
    expect(forecastOf(budget('25'), at(11))).toEqual({ spent: 75, reachedAt: '2026-11-21T00:00:00.000Z' });
    expect(forecastOf(budget('50'), at(11))?.reachedAt).toBeUndefined();
  });

  it('measures a budget that began within the period from then on', () => {
    const late = budget('10', '2026-11-11T00:00:00.000Z');
    expect(forecastOf(late, at(16))).toEqual({ spent: 40, reachedAt: undefined });
    expect(forecastOf(late, at(12))).toBeUndefined();
  });

  it('is not made at the start of a period, without spending, or without an end', () => {
    expect(forecastOf(budget('10'), at(3))).toBeUndefined();
    expect(forecastOf(budget('10'), at(4))).toBeDefined();
    expect(forecastOf(budget('0'), at(20))).toBeUndefined();
    const { current, ...once } = budget('10');
    const { resets_at: _end, ...endless } = current;
    expect(forecastOf({ ...once, current: endless }, at(20))).toBeUndefined();
  });

  it('says how the budget stands, the most urgent first', () => {
    const standing = (spent: string) => standingOf(budget(spent), forecastOf(budget(spent), at(11)));
    expect(['10', '25', '45', '50'].map(standing)).toEqual(['within', 'runsOut', 'tight', 'usedUp']);
  });
});
