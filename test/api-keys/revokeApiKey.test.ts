import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSteppableClock } from '../support/clock.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { itGuards } from './support.ts';

const clock = createSteppableClock();
let service: TestService;
let other: TestService;
beforeAll(async () => {
  service = await startTestService();
  // A second process on the same database.
  const { MONGODB_DATABASE = '' } = service.environment;
  other = await startTestService({ environment: { MONGODB_DATABASE } });
});
afterAll(async () => {
  clock.restore();
  await Promise.all([service.close(), other.close()]);
});

const unknown = '/api/v1/api-keys/00000000-0000-4000-8000-00000000dead/revoke';

describe('200', () => {
  it('ends the key at once here, and within five seconds in other processes, even when the clock steps back', async () => {
    const { body } = await service.call('POST', '/api/v1/api-keys', { body: { name: 'x', scopes: ['prompts:read'] } });
    const use = (where: TestService): ReturnType<TestService['call']> =>
      where.call('GET', '/api/v1/prompts', { key: body.key });
    expect([(await use(service)).status, (await use(other)).status]).toEqual([200, 200]);

    const revoked = await service.call('POST', `/api/v1/api-keys/${body.id}/revoke`);
    expect(revoked.status).toBe(200);
    expect(revoked.body.revoked_at).toBeDefined();
    const refused = await use(service);
    expect([refused.status, refused.body.detail]).toEqual([401, 'The API key was revoked.']);
    clock.step(-3_600_000);
    await new Promise((resolve) => setTimeout(resolve, 5_100));
    expect((await use(other)).status).toBe(401);
  });

  it('answers the same when it is repeated', async () => {
    const { body } = await service.call('POST', '/api/v1/api-keys', { body: { name: 'x', scopes: ['prompts:read'] } });
    const first = await service.call('POST', `/api/v1/api-keys/${body.id}/revoke`);
    const second = await service.call('POST', `/api/v1/api-keys/${body.id}/revoke`);
    expect(second.body).toEqual(first.body);
  });
});

describe('400 and 404', () => {
  it('400 for an id that is none', async () => {
    expect((await service.call('POST', '/api/v1/api-keys/x/revoke')).status).toBe(400);
  });
  it('404 for an id that nobody has', async () => {
    expect((await service.call('POST', unknown)).status).toBe(404);
  });
});

describe('guards', () => {
  itGuards(() => service, 'POST', unknown);
});
