import { describe, expect, it } from '@jest/globals';
import { problem, setUp } from '../../../support/per-operation.ts';
import { labelPath } from '../../labels/labels-harness.ts';
import { createReleased, getCanary, production, canaryPath, setCanary } from './canaries-harness.ts';

const setup = setUp();

it('200: has the ETag of the label', async () => {
  const { id } = await createReleased(setup.service);
  const set = await setCanary(setup.service, id);
  const { status, headers, body } = await getCanary(setup.service, id);
  expect([status, headers['etag']]).toEqual([200, set.headers['etag']]);
  expect(body).toEqual({ ...set.body, warnings: undefined });
  const label = await setup.service.call('GET', labelPath(id, production));
  expect(label.headers['etag']).toBe(headers['etag']);
});

it('304: is not sent again', async () => {
  const { id } = await createReleased(setup.service);
  const { headers } = await setCanary(setup.service, id);
  const options = { headers: { 'If-None-Match': headers['etag'] ?? '' } };
  expect((await setup.service.call('GET', canaryPath(id), options)).status).toBe(304);
});

describe('404', () => {
  it('says what there is not', async () => {
    const { id } = await createReleased(setup.service);
    const answers = [
      await getCanary(setup.service, 'no-such-prompt'),
      await setup.service.call('GET', canaryPath(id, 'staging')),
      await getCanary(setup.service, id),
    ];
    expect(answers.map(({ status, body }) => [status, body.type])).toEqual(
      ['prompt-not-found', 'label-not-found', 'canary-not-found'].map((type) => [404, problem(type)]),
    );
  });
});
