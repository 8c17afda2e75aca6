import { describe, expect, it } from '@jest/globals';
import { unknownId } from '../../orders/catalog/catalog-harness.ts';
import { problem } from '../../support/per-operation.ts';
import type { Answer } from '../../support/service.ts';
import {
  createIntegration,
  describeMissing,
  nextSecret,
  secret,
  setUpIntegrations,
  type CreatedIntegration,
} from './integrations-harness.ts';

const setup = setUpIntegrations();
const suffix = '/secret/rotation/finish';

const begin = async (): Promise<CreatedIntegration & { rotation: string }> => {
  const integration = await createIntegration(setup.service, { secret });
  const { body } = await setup.service.call('POST', `${integration.path}/secret/rotation`, {
    body: { secret: nextSecret },
  });
  return { ...integration, rotation: body.secret_rotation.id };
};
const finish = (path: string, rotation_id: string): Promise<Answer> =>
  setup.service.call('POST', `${path}${suffix}`, { body: { rotation_id } });

describe('200', () => {
  it('ends the rotation', async () => {
    const { path, rotation, body } = await begin();
    const finished = await finish(path, rotation);
    expect(finished.status).toBe(200);
    expect(finished.body).toEqual({ ...body, updated_at: finished.body.updated_at });
    expect((await setup.service.call('GET', path)).body).toEqual(finished.body);
  });

  it('gives the same answer when it is repeated', async () => {
    const { path, rotation } = await begin();
    const finished = await finish(path, rotation);
    const again = await finish(path, rotation);
    expect(again.status).toBe(200);
    expect(again.text).toBe(finished.text);
    expect(again.headers['etag']).toBe(finished.headers['etag']);
  });
});

describe('400', () => {
  it.each([{}, { rotation_id: 'x' }, { rotation_id: unknownId, secret }])('refuses %j', async (body) => {
    const { path } = await begin();
    const { status, body: answer } = await setup.service.call('POST', `${path}${suffix}`, { body });
    expect(status).toBe(400);
    expect(answer.type).toBe(problem('invalid-request'));
  });
});

describe('409', () => {
  it('does not finish a rotation that was replaced', async () => {
    const { path, rotation } = await begin();
    const { body: replaced } = await setup.service.call('POST', `${path}/secret/rotation`);
    const { status, body } = await finish(path, rotation);
    expect(status).toBe(409);
    expect(body).toMatchObject({
      type: problem('secret-rotation-not-pending'),
      detail: 'Another rotation is pending.',
    });
    expect((await setup.service.call('GET', path)).body.secret_rotation).toEqual(replaced.secret_rotation);
  });

  it('says that no rotation is pending', async () => {
    const { path } = await createIntegration(setup.service, { secret });
    const { status, body } = await finish(path, unknownId);
    expect(status).toBe(409);
    expect(body).toMatchObject({ type: problem('secret-rotation-not-pending'), detail: 'No rotation is pending.' });
  });

  it('does not finish a canceled rotation', async () => {
    const { path, rotation } = await begin();
    await setup.service.call('DELETE', `${path}/secret/rotation`);
    expect((await finish(path, rotation)).status).toBe(409);
  });
});

describeMissing(setup, { method: 'POST', suffix, body: { rotation_id: unknownId } });
