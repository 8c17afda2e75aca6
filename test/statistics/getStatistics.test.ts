import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestService } from '../support/service.ts';
import { startCounting, sumOfPoints, untilTotals } from './statistics-harness.ts';

const path = '/api/v1/statistics';
let service: TestService;
beforeAll(async () => {
  service = await startCounting();
});
afterAll(() => service.close());

describe('200', () => {
  it('counts the requests of operations, and those that failed', async () => {
    const { body: before } = await service.call('GET', path);
    await service.call('GET', '/api/v1/providers');
    expect((await service.call('GET', '/api/v1/providers?unknown=1')).status).toBe(400);
    expect((await service.call('GET', '/health/live')).status).toBe(200);
    const body = await untilTotals(service, path, { client_errors: before.totals.client_errors + 1 });
    expect(body.totals.requests).toBeGreaterThan(before.totals.requests + 1);
    expect(sumOfPoints(body, 'client_errors')).toBe(body.totals.client_errors);
  });
});
