import { describe, expect, it } from '@jest/globals';
import { uuidForm } from '../../orders/catalog/catalog-harness.ts';
import { createIntegration, describeMissing, nextSecret, secret, setUpIntegrations } from './integrations-harness.ts';

const setup = setUpIntegrations();
const suffix = '/secret/rotation';

describe('200', () => {
  it('creates the next secret, and shows it only once', async () => {
    const { path, body } = await createIntegration(setup.service, { secret });
    const { status, body: begun } = await setup.service.call('POST', `${path}${suffix}`);
    expect(status).toBe(200);
    expect(begun).toEqual({
      ...body,
      secret_rotation: { id: expect.stringMatching(uuidForm), started_at: expect.any(String) },
      secret: {
        value: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
        standard_webhooks: `whsec_${Buffer.from(begun.secret.value).toString('base64')}`,
      },
      updated_at: begun.updated_at,
    });
    const got = await setup.service.call('GET', path);
    expect(got.body.secret_rotation).toEqual(begun.secret_rotation);
    expect(got.body).not.toHaveProperty('secret');
  });

  it('also creates one for an empty object', async () => {
    const { path } = await createIntegration(setup.service, { secret });
    const { body } = await setup.service.call('POST', `${path}${suffix}`, { body: {} });
    expect(body.secret.value).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('accepts the secret of the caller, and does not show it', async () => {
    const { path } = await createIntegration(setup.service, { secret });
    const { body, text } = await setup.service.call('POST', `${path}${suffix}`, { body: { secret: nextSecret } });
    expect(body).not.toHaveProperty('secret');
    expect(text).not.toContain(nextSecret);
  });

  it('replaces a next secret that exists', async () => {
    const { path } = await createIntegration(setup.service, { secret });
    const first = await setup.service.call('POST', `${path}${suffix}`);
    const second = await setup.service.call('POST', `${path}${suffix}`);
    expect(second.body.secret_rotation.id).not.toBe(first.body.secret_rotation.id);
    expect(second.body.secret.value).not.toBe(first.body.secret.value);
  });

  it('gives a first secret to an integration without one', async () => {
    const { path } = await createIntegration(setup.service);
    const { body } = await setup.service.call('POST', `${path}${suffix}`);
    expect(body.signed).toBe(false);
    const { body: finished } = await setup.service.call('POST', `${path}${suffix}/finish`, {
      body: { rotation_id: body.secret_rotation.id },
    });
    expect(finished.signed).toBe(true);
  });
});

describe('400', () => {
  it.each(['too short', 'x'.repeat(65), `whsec_${'a'.repeat(41)}`, 'é'.repeat(30)])('refuses %s', async (unfit) => {
    const { path } = await createIntegration(setup.service, { secret });
    const { status, body } = await setup.service.call('POST', `${path}${suffix}`, { body: { secret: unfit } });
    expect(status).toBe(400);
    expect(body.errors[0].pointer).toBe('#/secret');
    expect((await setup.service.call('GET', path)).body).not.toHaveProperty('secret_rotation');
  });
});

describeMissing(setup, { method: 'POST', suffix, body: {} });
