import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSteppableClock } from '../support/clock.ts';
import { startTestService, type TestService } from '../support/service.ts';

const clock = createSteppableClock();
let service: TestService;
beforeAll(async () => {
  service = await startTestService({ environment: { RATE_LIMIT: '5/60s' } });
});
afterAll(async () => {
  clock.restore();
  await service.close();
});

describe('rate limits', () => {
  it('count each key separately, show what is left, and answer 429 with Retry-After', async () => {
    const key = await service.createKey('prompts:read');
    const list = (): ReturnType<TestService['call']> => service.call('GET', '/api/v1/prompts', { key });
    const first = await list();
    expect(first.headers['ratelimit-policy']).toBe('"default";q=5;w=60');
    expect(first.headers['ratelimit']).toMatch(/^"default";r=4;t=\d+$/);
    for (let sent = 1; sent < 5; sent += 1) expect((await list()).status).toBe(200);
    const refused = await list();
    expect(refused.status).toBe(429);
    expect(refused.body.type).toBe('urn:prompt-gateway:problem:rate-limited');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await service.call('GET', '/api/v1/prompts')).status).toBe(200);
  });

  it.each([-3_600_000, 3_600_000])('last equally long when the wall clock jumps by %i ms', async (step) => {
    const key = await service.createKey('prompts:read');
    const list = (): ReturnType<TestService['call']> => service.call('GET', '/api/v1/prompts', { key });
    for (let sent = 0; sent < 5; sent += 1) expect((await list()).status).toBe(200);
    clock.step(step);
    const refused = await list();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  });

  it('do not count health probes', async () => {
    for (let sent = 0; sent < 10; sent += 1) expect((await service.call('GET', '/health/live')).status).toBe(200);
  });
});
