/** `deleteCanary` and `promoteCanary` end a canary in the same way. */
import { describe, expect, it } from '@jest/globals';
import { problem, setUp } from '../../../support/per-operation.ts';
import type { Answer } from '../../../support/service.ts';
import { labelPath } from '../../labels/labels-harness.ts';
import {
  any,
  createReleased,
  getCanary,
  historyOfCanaries,
  invokeMany,
  production,
  canaryPath,
  setCanary,
} from './canaries-harness.ts';

const setup = setUp();
const stop = (prompt: string, headers: Record<string, string> = any): Promise<Answer> =>
  setup.service.call('DELETE', canaryPath(prompt), { headers });
const promote = (prompt: string, headers: Record<string, string> = any): Promise<Answer> =>
  setup.service.call('POST', `${canaryPath(prompt)}/promote`, { headers });

describe('deleteCanary', () => {
  it('200: all run the version that the label names, and the history has what was counted', async () => {
    const { id } = await createReleased(setup.service);
    await setCanary(setup.service, id);
    const versions = await invokeMany(setup.service, id, 5);
    const { body: counted } = await getCanary(setup.service, id);
    const { status, body } = await stop(id);
    expect([status, body]).toEqual([200, { ok: true }]);
    expect(new Set(await invokeMany(setup.service, id, 6))).toEqual(new Set([1]));
    const [ended] = await historyOfCanaries(setup.service, id);
    const { canary, stable, evidence } = counted as Record<string, unknown>;
    expect(ended).toMatchObject({ version: 1, canary: { ended: { reason: 'stopped' }, canary, stable, evidence } });
    expect(counted.canary.requests).toBe(versions.filter((version) => version === 2).length);
    // It can be read until the label moves.
    expect((await getCanary(setup.service, id)).body.ended).toMatchObject({ reason: 'stopped' });
  });
});

describe('promoteCanary', () => {
  it('200: the label names the version, as a move that says what it breaks', async () => {
    const { id } = await createReleased(setup.service);
    const { headers } = await setCanary(setup.service, id);
    const { status, body, ...answer } = await promote(id, { 'If-Match': headers['etag'] ?? '' });
    expect([status, body.ended.reason]).toEqual([200, 'promoted']);
    const label = await setup.service.call('GET', labelPath(id, production));
    expect([label.headers['etag'], label.body.version, label.body.sequence]).toEqual([answer.headers['etag'], 2, 3]);
    const { body: history } = await setup.service.call('GET', `${labelPath(id, production)}/history?limit=1`);
    expect(history.data[0].warnings).toMatchObject([{ code: 'variable-required' }]);
    expect(new Set(await invokeMany(setup.service, id, 4))).toEqual(new Set([2]));
  });
});

describe.each([
  ['deleteCanary', stop],
  ['promoteCanary', promote],
])('%s', (_, end) => {
  it('404: says what there is not, also after the end', async () => {
    const { id } = await createReleased(setup.service);
    const none = await end(id);
    expect([none.status, none.body.type]).toEqual([404, problem('canary-not-found')]);
    await setCanary(setup.service, id);
    await end(id);
    expect((await end(id)).body.type).toBe(problem('canary-not-found'));
    expect((await end('no-such-prompt')).body.type).toBe(problem('prompt-not-found'));
  });

  it('412 and 428: needs the present ETag of the label', async () => {
    const { id } = await createReleased(setup.service);
    const { headers } = await setCanary(setup.service, id);
    await setCanary(setup.service, id, { version: 2, share: 0.1, hours: 2 });
    expect((await end(id, { 'If-Match': headers['etag'] ?? '' })).status).toBe(412);
    expect((await end(id, {})).status).toBe(428);
  });
});

it('404: the prompt has no such label', async () => {
  const { id } = await createReleased(setup.service);
  for (const [method, path] of [
    ['DELETE', canaryPath(id, 'nobody')],
    ['POST', `${canaryPath(id, 'nobody')}/promote`],
  ] as const) {
    const { status, body } = await setup.service.call(method, path, { headers: any });
    expect([status, body.type]).toEqual([404, problem('label-not-found')]);
  }
});
