/** The short form of `npm run program -- test:faults:webhooks`. It runs with every test run, on the engine of that run. */
import { describe, expect, it } from '@jest/globals';
import { testDatabaseUri } from '../../support/database.ts';
import { killServices, loseAnswers, type ScenarioResult } from './scenarios.ts';

// Slow engines reach this rate.
const settings = { rate: 10, ordersBetweenFaults: 20 };

const nothing = {
  ordersLost: 0,
  ordersDuplicated: 0,
  ordersMoved: 0,
  eventsLost: 0,
  eventsDoubled: 0,
  bodiesChanged: 0,
  badSignatures: 0,
  settledWrongly: 0,
  leftOver: 0,
  feedSkipped: 0,
  feedTwice: 0,
  feedOrders: 0,
};

function expectSound({ faults, findings }: ScenarioResult, leastFaults: number): void {
  expect(findings.violations).toEqual(nothing);
  expect(faults).toBeGreaterThanOrEqual(leastFaults);
  expect(findings.orders).toBeGreaterThan(settings.ordersBetweenFaults);
  expect(findings.deliveries).toBeGreaterThanOrEqual(2 * findings.orders);
}

describe('orders and their events', () => {
  it('survive two kill -9 of service processes', async () => {
    expectSound(await killServices({ ...settings, databaseUri: testDatabaseUri() }, 2, true), 2);
  });

  it('survive lost answers of the database', async () => {
    expectSound(await loseAnswers({ ...settings, databaseUri: testDatabaseUri() }, 4), 5);
  });
});
