import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operationTable } from '../../generated/operations.ts';
import { problem, problemIn } from '../support/per-operation.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const marks = [
  { 'X-Service-Event-Type': 'ORDER_PLACED' },
  { 'X-Service-Application-ID': '5b1f0c9e-8a4d-4c6b-9f2e-3d7a1b5c8e60' },
  { 'User-Agent': 'Service-WebhookAgent/1.0.0-beta.1' },
];

describe('a webhook delivery to the service itself', () => {
  it.each(Object.entries(operationTable))('is refused by %s, with and without a key', async (_id, { method, path }) => {
    for (const headers of marks) {
      const target = path.replaceAll(/\{\w+\}/g, 'x');
      for (const key of [null, service.adminKey]) {
        const answer = await service.call(method, target, { headers, key });
        expect([answer.status, problemIn(answer.body)]).toEqual([403, problem('webhook-loop')]);
      }
    }
  });

  it.each(['/', '/nothing', '/docs'])('is refused at %s', async (path) => {
    for (const headers of marks) {
      expect((await service.call('POST', path, { headers, key: null, body: {} })).status).toBe(403);
    }
  });
});
