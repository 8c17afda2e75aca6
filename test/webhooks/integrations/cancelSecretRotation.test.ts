import { describe, expect, it } from '@jest/globals';
import { createIntegration, describeMissing, secret, setUpIntegrations } from './integrations-harness.ts';

const setup = setUpIntegrations();
const suffix = '/secret/rotation';
const begin = async () => {
  const integration = await createIntegration(setup.service, { secret });
  await setup.service.call('POST', `${integration.path}${suffix}`);
  return integration;
};

describe('200', () => {
  it('removes the next secret', async () => {
    const { path, body } = await begin();
    const { status, body: canceled } = await setup.service.call('DELETE', `${path}${suffix}`);
    expect(status).toBe(200);
    expect(canceled).toEqual({ ...body, updated_at: canceled.updated_at });
  });

  it('changes nothing if no rotation is pending', async () => {
    const { path, body, etag } = await createIntegration(setup.service, { secret });
    const { status, body: canceled, headers } = await setup.service.call('DELETE', `${path}${suffix}`);
    expect(status).toBe(200);
    expect(canceled).toEqual(body);
    expect(headers['etag']).toBe(etag);
  });
});

describeMissing(setup, { method: 'DELETE', suffix });
