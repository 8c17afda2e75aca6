import { describe, expect, it } from '@jest/globals';
import { problem, setUp } from '../../../support/per-operation.ts';
import { historyOf, labelPath, setLabel } from '../../labels/labels-harness.ts';
import { create, promptsPath, saying } from '../../prompts-harness.ts';
import {
  any,
  createReleased,
  getCanary,
  half,
  historyOfCanaries,
  invokeMany,
  production,
  canaryPath,
  setCanary,
} from './canaries-harness.ts';

const setup = setUp();
const key = { type: 'key', id: 'administrator', name: 'administrator' };

describe('201', () => {
  it('starts a canary as a move of the label, which names the same version as before', async () => {
    const { id, slug } = await createReleased(setup.service);
    const label = await setup.service.call('GET', labelPath(id, production));
    const sent = { ...half, promote: { min_requests: 10 } };
    const before = { 'If-Match': label.headers['etag'] ?? '' };
    const { status, headers, body } = await setCanary(setup.service, slug, sent, before);
    expect([status, headers['location']]).toEqual([201, canaryPath(id)]);
    expect(body).toMatchObject({
      stable_version: 1,
      version: 2,
      share: 0.5,
      author: key,
      promote: { min_requests: 10 },
    });
    expect(body).toMatchObject({ evidence: 1, threshold: 100, at_end: 'ended', canary: { requests: 0, failures: 0 } });
    expect(Date.parse(body.ends_at as string) - Date.parse(body.started_at as string)).toBe(3_600_000);
    expect(body.warnings).toMatchObject([{ code: 'variable-required' }]);
    const moved = await setup.service.call('GET', labelPath(id, production));
    expect([moved.headers['etag'], moved.body.version, moved.body.sequence]).toEqual([headers['etag'], 1, 2]);
    expect(moved.body.canary).toMatchObject({ id: body.id, version: 2, share: 0.5 });
    expect(await historyOf(setup.service, id, production)).toEqual([1, 1]);
    const { body: log } = await setup.service.call('GET', `/api/v1/audit-log?resource_id=${id}&operation=setCanary`);
    expect(log.data).toMatchObject([{ operation: 'setCanary', after: { canaries: { production: { share: 0.5 } } } }]);
  });

  it('needs only the scope prompts:release', async () => {
    const { id } = await createReleased(setup.service);
    const released = await setup.service.createKey('prompts:release');
    const options = { body: half, headers: any, key: released };
    expect((await setup.service.call('PUT', canaryPath(id), options)).status).toBe(201);
  });

  it('continues the counts of an earlier canary of the same versions', async () => {
    const { id } = await createReleased(setup.service);
    await setCanary(setup.service, id);
    const versions = await invokeMany(setup.service, id, 4);
    const first = await getCanary(setup.service, id);
    expect(first.body.canary.failures).toBe(versions.filter((one) => one === 2).length);
    await setup.service.call('DELETE', canaryPath(id), { headers: any });
    // Also if other moves were between them.
    await setLabel(setup.service, id, production, 2, { headers: any });
    await setLabel(setup.service, id, production, 1, { headers: any });
    const { status, body } = await setCanary(setup.service, id, { ...half, share: 0.25 });
    expect([status, body.evidence]).toEqual([201, first.body.evidence]);
    expect(body.canary).toEqual({ requests: 0, failures: 0 });
  });
});

describe('200', () => {
  it('changes share and end, and keeps what was counted', async () => {
    const { id } = await createReleased(setup.service);
    const started = await setCanary(setup.service, id, { ...half, share: 0.4 });
    const versions = await invokeMany(setup.service, id, 6);
    const { status, body, headers } = await setCanary(setup.service, id, { version: 2, share: 0.05, hours: 48 });
    expect([status, body.id, body.share]).toEqual([200, started.body.id, 0.05]);
    expect(body.canary.requests).toBe(versions.filter((one) => one === 2).length);
    expect(body.stable.requests + body.canary.requests).toBe(6);
    expect(headers['etag']).not.toBe(started.headers['etag']);
    expect(await historyOfCanaries(setup.service, id)).toMatchObject([
      { version: 1, canary: { share: 0.05 } },
      { version: 1, canary: { share: 0.4 } },
      { version: 1, canary: undefined },
    ]);
  });
});

describe('400', () => {
  it('refuses a share above a half', async () => {
    const { id } = await createReleased(setup.service);
    const more = await setCanary(setup.service, id, { ...half, share: 0.6 });
    expect([more.status, more.body.type]).toEqual([400, problem('invalid-request')]);
  });
});

describe('404', () => {
  it('refuses an unknown prompt, label and version', async () => {
    const { id } = await createReleased(setup.service);
    const unknown = await setCanary(setup.service, 'no-such-prompt');
    expect([unknown.status, unknown.body.type]).toEqual([404, problem('prompt-not-found')]);
    const options = { body: half, headers: any };
    const label = await setup.service.call('PUT', canaryPath(id, 'staging'), options);
    expect([label.status, label.body.type]).toEqual([404, problem('label-not-found')]);
    const version = await setCanary(setup.service, id, { ...half, version: 3 });
    expect([version.status, version.body.type]).toEqual([404, problem('version-not-found')]);
  });
});

describe('409', () => {
  it('refuses the version that the label names, and another one while one is in progress', async () => {
    const { id } = await createReleased(setup.service);
    const same = await setCanary(setup.service, id, { ...half, version: 1 });
    expect([same.status, same.body.type]).toEqual([409, problem('canary-not-possible')]);
    await setup.service.call('PUT', `${promptsPath}/${id}`, { body: saying('Third') });
    await setCanary(setup.service, id);
    const other = await setCanary(setup.service, id, { ...half, version: 3 });
    expect([other.status, other.body.detail]).toEqual([409, 'A canary of version 2 is in progress. End it first.']);
  });

  it('refuses hours for which the invocation log is not kept', async () => {
    const { id } = await createReleased(setup.service);
    await setCanary(setup.service, id);
    const longer = await setCanary(setup.service, id, { ...half, hours: 720 });
    expect([longer.status, longer.body.type]).toEqual([409, problem('canary-not-possible')]);
  });

  it('refuses a version with text that looks like a placeholder, unless that is accepted', async () => {
    const { id } = await create(setup.service, saying('One'));
    await setup.service.call('PUT', `${promptsPath}/${id}`, { body: saying('Two {{user name}}') });
    await setLabel(setup.service, id, production, 1);
    const refused = await setCanary(setup.service, id);
    expect([refused.status, refused.body.type]).toEqual([409, problem('warnings-not-accepted')]);
    expect((await setCanary(setup.service, id, { ...half, accept_warnings: true })).status).toBe(201);
  });
});

describe('412 and 428', () => {
  it('needs the present ETag of the label', async () => {
    const { id } = await createReleased(setup.service);
    const before = await setup.service.call('GET', labelPath(id, production));
    expect((await setCanary(setup.service, id, half, {})).status).toBe(428);
    await setCanary(setup.service, id);
    const late = await setCanary(setup.service, id, half, { 'If-Match': before.headers['etag'] ?? '' });
    expect([late.status, late.body.type]).toEqual([412, problem('precondition-failed')]);
  });
});

describe('a PUT or DELETE of the label', () => {
  it('ends the canary, also if the version stays', async () => {
    const { id } = await createReleased(setup.service);
    await setCanary(setup.service, id);
    const { status, body } = await setLabel(setup.service, id, production, 1, { headers: any });
    expect([status, body.version, body.sequence]).toEqual([200, 1, 3]);
    expect(body.canary).toMatchObject({ ended: { reason: 'label-moved' }, canary: { requests: 0 }, evidence: 1 });
    expect(new Set(await invokeMany(setup.service, id, 6))).toEqual(new Set([1]));
    await setCanary(setup.service, id);
    await setup.service.call('DELETE', labelPath(id, production), { headers: any });
    const [deletion] = await historyOfCanaries(setup.service, id);
    expect(deletion).toMatchObject({ canary: { ended: { reason: 'label-deleted' } } });
    await setLabel(setup.service, id, production, 1);
    expect((await historyOfCanaries(setup.service, id))[1]).toEqual(deletion);
  });
});
