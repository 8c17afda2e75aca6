import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';
let service: TestService;
beforeAll(async () => { service = await startTestService(); });
afterAll(() => service.close());
it('works', async () => {
  const created = await service.call('POST', '/api/v1/prompts', { body: { name: 'Hello', messages: [{ role: 'user', content: 'x' }] } });
  expect(created.status).toBe(201);
  console.log(created.body, created.headers);
});
