import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';

const origin = 'https://app.example.org';
let open: TestService;
let closed: TestService;
beforeAll(async () => {
  [open, closed] = await Promise.all([startTestService({ environment: { CORS_ORIGINS: origin } }), startTestService()]);
});
afterAll(() => Promise.all([open.close(), closed.close()]));

describe('CORS', () => {
  it('is off unless origins are configured', async () => {
    const answer = await closed.call('GET', '/health/live', { headers: { origin } });
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('allows the configured origin, and shows it the headers that clients need', async () => {
    const answer = await open.call('GET', '/api/v1/prompts', { headers: { origin } });
    expect(answer.headers['access-control-allow-origin']).toBe(origin);
    const exposed = answer.headers['access-control-expose-headers']?.split(',') ?? [];
    expect(exposed).toEqual(
      expect.arrayContaining(['ETag', 'Location', 'Link', 'X-Request-Id', 'X-Prompt-Version', 'Retry-After']),
    );
  });

  it('answers preflight requests without a key', async () => {
    const answer = await fetch(`${open.url}/api/v1/prompts`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-headers')).toContain('Authorization');
    expect(answer.headers.get('access-control-allow-headers')).toContain('Idempotency-Key');
  });

  it('does not allow other origins', async () => {
    const answer = await open.call('GET', '/health/live', { headers: { origin: 'https://evil.example' } });
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });
});
