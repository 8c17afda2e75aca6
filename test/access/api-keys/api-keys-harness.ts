import { expect, it } from '@jest/globals';
import type { CallOptions, TestService } from '../../support/service.ts';

/** The statuses that all operations on keys share. */
export function itGuards(service: () => TestService, method: string, path: string, options: CallOptions = {}): void {
  it('401 without a key', async () => {
    expect((await service().call(method, path, { ...options, key: null })).status).toBe(401);
  });
  it('403 without the scope', async () => {
    const key = await service().createKey('prompts:read');
    expect((await service().call(method, path, { ...options, key })).status).toBe(403);
  });
  it('406 when the caller does not accept JSON', async () => {
    const headers = { accept: 'text/csv' };
    expect((await service().call(method, path, { ...options, headers })).status).toBe(406);
  });
}
