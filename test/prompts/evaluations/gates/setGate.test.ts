import { describe, expect, it } from '@jest/globals';
import { problem } from '../../../support/per-operation.ts';
import { setDataset } from '../datasets/datasets-harness.ts';
import { setUpEvaluations } from '../runs/evaluations-harness.ts';
import { labelPath } from '../../labels/labels-harness.ts';
import { addGate, answering, createLevels, createVersionsOf, gatePath, setGate } from './gates-harness.ts';

const setup = setUpEvaluations();
const rule = { not_worse_by: 0.05 };

async function withDataset(name: string, ...versions: object[]): Promise<{ prompt: string; gate: object }> {
  await createLevels(setup.service, name);
  const prompt = await createVersionsOf(setup.service, answering(100), ...versions);
  return { prompt, gate: { dataset: { name, version: 1 }, rule } };
}

describe('201', () => {
  it('sets a gate for a label that need not exist, with defaults, and only with its scope', async () => {
    const { prompt, gate } = await withDataset('defaults');
    const key = await setup.service.createKey('prompts:override', 'datasets:read');
    const { status, body, headers } = await setGate(setup.service, prompt, gate, { key, headers: {} });
    expect([status, headers['location']]).toEqual([201, gatePath(prompt)]);
    expect(body).toEqual({
      ...{ ...gate, label: 'production', max_age_days: 30, breaking: 'warn' },
      ...{ author: expect.objectContaining({ name: 'test' }), updated_at: expect.any(String) },
    });
    const reader = await setup.service.createKey('prompts:read');
    const found = await setup.service.call('GET', gatePath(prompt), { key: reader });
    expect([found.status, found.body, found.headers['etag']]).toEqual([200, body, headers['etag']]);
    const again = await setup.service.call('GET', gatePath(prompt), {
      headers: { 'If-None-Match': headers['etag'] ?? '' },
    });
    expect(again.status).toBe(304);
  });

  it('is recorded as a change of the prompt, without others of its gates', async () => {
    const { prompt, gate } = await withDataset('audited');
    await addGate(setup.service, prompt, gate);
    await addGate(setup.service, prompt, { ...gate, max_age_days: 7 }, 'staging');
    await setup.service.call('DELETE', gatePath(prompt), { headers: { 'If-Match': '*' } });
    const { body } = await setup.service.call('GET', `/api/v1/audit-log?resource_id=${prompt}&resource_type=prompt`);
    const [deleted, second] = body.data as { operation: string; before?: object; after?: object }[];
    expect(second).toMatchObject({ operation: 'setGate', after: { gates: { staging: { max_age_days: 7 } } } });
    expect(second?.after).not.toHaveProperty('gates.production');
    expect(deleted).toMatchObject({ operation: 'deleteGate', before: { gates: { production: gate } } });
  });

  it('disturbs nobody who edits the prompt', async () => {
    const { prompt, gate } = await withDataset('undisturbed');
    const { headers, body } = await setup.service.call('GET', `/api/v1/prompts/${prompt}`);
    await addGate(setup.service, prompt, gate);
    const edit = { body: { name: 'Edited' }, headers: { 'If-Match': headers['etag'] ?? '' } };
    const { status, body: edited } = await setup.service.call('PUT', `/api/v1/prompts/${prompt}`, edit);
    expect([status, edited.version]).toEqual([200, body.version]);
    expect((await setup.service.call('GET', gatePath(prompt))).status).toBe(200);
  });
});

describe('200', () => {
  it('replaces the whole gate, and changes nothing if it is the same', async () => {
    const { prompt, gate } = await withDataset('replaced');
    const first = await addGate(setup.service, prompt, { ...gate, breaking: 'refuse', max_age_days: 9, anchor: 1 });
    const ETag = first.headers['etag'] ?? '';
    const same = await setGate(setup.service, prompt, first.body as object, { headers: { 'If-Match': ETag } });
    expect([same.status, same.body, same.headers['etag']]).toEqual([200, first.body, ETag]);
    const { status, body, headers } = await setGate(setup.service, prompt, gate, { headers: { 'If-Match': ETag } });
    expect([status, body.breaking, body.max_age_days, body.anchor]).toEqual([200, 'warn', 30, undefined]);
    expect(headers['etag']).not.toBe(ETag);
  });
});

describe('404', () => {
  it.each([
    ['prompt-not-found', 'no-such-prompt', {}],
    ['dataset-not-found', undefined, { dataset: { name: 'no-such-set', version: 1 } }],
    ['version-not-found', undefined, { dataset: { name: 'unfound', version: 2 } }],
    ['version-not-found', undefined, { anchor: 2 }],
  ])('%s', async (type, slug, members) => {
    const { prompt, gate } = await withDataset('unfound');
    const { status, body } = await setGate(setup.service, slug ?? prompt, { ...gate, ...members }, { headers: {} });
    expect([status, body.type]).toEqual([404, problem(type)]);
  });
});

describe('403', () => {
  it('is not for those who may release, and a prompt beyond the limits of a key is not found', async () => {
    const { prompt, gate } = await withDataset('guarded');
    const key = await setup.service.createKey('prompts:release', 'prompts:write', 'prompts:read', 'prompts:invoke');
    const refused = await setGate(setup.service, prompt, gate, { key, headers: {} });
    expect([refused.status, refused.body.type]).toEqual([403, problem('insufficient-scope')]);
    await addGate(setup.service, prompt, gate);
    const changed = await setGate(setup.service, prompt, { ...gate, max_age_days: 400 }, { key });
    const removed = await setup.service.call('DELETE', gatePath(prompt), { key, headers: { 'If-Match': '*' } });
    expect([changed.status, removed.status]).toEqual([403, 403]);
    const other = await createVersionsOf(setup.service, answering(100));
    const body = { name: 'limited', scopes: ['prompts:override'], limits: { prompts: [other] } };
    const limited = (await setup.service.call('POST', '/api/v1/api-keys', { body })).body.key as string;
    expect((await setGate(setup.service, prompt, gate, { key: limited })).status).toBe(404);
  });
});

describe('409', () => {
  it('has at most 20 gates on a prompt', async () => {
    const { prompt, gate } = await withDataset('crowded');
    for (let count = 0; count < 20; count += 1) await addGate(setup.service, prompt, gate, `label-${count}`);
    const { status, body } = await setGate(setup.service, prompt, gate, { headers: {} });
    expect([status, body.type]).toEqual([409, problem('too-many-gates')]);
  });

  it('does not delete a data set that a gate names, and does after the gate', async () => {
    const { prompt, gate } = await withDataset('in-use');
    await addGate(setup.service, prompt, gate);
    const remove = () => setup.service.call('DELETE', '/api/v1/datasets/in-use');
    const { status, body } = await remove();
    expect([status, body.type]).toEqual([409, problem('dataset-in-use')]);
    await setup.service.call('DELETE', gatePath(prompt), { headers: { 'If-Match': '*' } });
    expect((await remove()).status).toBe(200);
  });
});

describe('deleteGate', () => {
  it('needs the ETag of a gate that exists, which never comes again', async () => {
    const { prompt, gate } = await withDataset('conditions');
    const { headers } = await addGate(setup.service, prompt, gate);
    const changed = { ...gate, max_age_days: 5 };
    const without = await setGate(setup.service, prompt, changed, { headers: {} });
    expect([without.status, without.body.type]).toEqual([428, problem('precondition-required')]);
    const first = { 'If-Match': headers['etag'] ?? '' };
    expect((await setGate(setup.service, prompt, changed, { headers: first })).status).toBe(200);
    expect((await setGate(setup.service, prompt, gate, { headers: first })).status).toBe(412);
    const remove = (fields: Record<string, string>) =>
      setup.service.call('DELETE', gatePath(prompt), { headers: fields });
    expect([(await remove({})).status, (await remove(first)).status]).toEqual([428, 412]);
    expect((await remove({ 'If-Match': '*' })).status).toBe(200);
    const { status, body } = await remove({ 'If-Match': '*' });
    expect([status, body.type]).toEqual([404, problem('gate-not-found')]);
    const anew = await addGate(setup.service, prompt, gate);
    expect(anew.headers['etag']).not.toBe(headers['etag']);
  });
});

describe('422', () => {
  const judged = { type: 'llm-rubric', value: 'is polite', judge: { prompt: 'judge', version: 1 } };

  it('takes no cases that a judge decides', async () => {
    const { prompt, gate } = await withDataset('judged');
    const lines = Array.from({ length: 100 }, (_, index) => JSON.stringify({ id: `${index}`, checks: [judged] }));
    await setDataset(setup.service, 'judged', lines);
    const dataset = { name: 'judged', version: 2 };
    const { status, body } = await setGate(setup.service, prompt, { ...gate, dataset }, { headers: {} });
    expect([status, body.type, body.errors?.[0]?.pointer]).toEqual([422, problem('inconsistent-content'), '#/dataset']);
  });

  const largeCheck = { type: 'contains', value: 'x'.repeat(17_000) };
  it.each([
    ['inconsistent-content', { checks: [{ type: 'contains' }] }, '#/checks/0/value'],
    ['inconsistent-content', { checks: [largeCheck] }, '#/checks'],
    ['inconsistent-content', { rule: { all_pass: true }, anchor: 1 }, '#/anchor'],
    ['inconsistent-content', { checks: [judged], rule: { all_pass: true } }, '#/checks/0/judge'],
    ['too-few-cases', { rule: { not_worse_by: 0.01 } }, '#/rule'],
    ['read-only-field', { label: 'staging' }, '#/label'],
  ])('%s %#', async (type, members, pointer) => {
    const { prompt, gate } = await withDataset('unfitting');
    const { status, body } = await setGate(setup.service, prompt, { ...gate, ...members }, { headers: {} });
    expect([status, body.type, body.errors?.[0]?.pointer]).toEqual([422, problem(type), pointer]);
  });
});

describe('getGate', () => {
  it('finds a gate without its label, and none without the prompt', async () => {
    const { prompt, gate } = await withDataset('surviving');
    await setup.service.call('PUT', labelPath(prompt, 'production'), { body: { version: 1 } });
    await addGate(setup.service, prompt, gate);
    await setup.service.call('DELETE', labelPath(prompt, 'production'), { headers: { 'If-Match': '*' } });
    expect((await setup.service.call('GET', gatePath(prompt))).status).toBe(200);
    await setup.service.call('DELETE', `/api/v1/prompts/${prompt}`);
    expect((await setup.service.call('GET', gatePath(prompt))).status).toBe(404);
    expect((await setup.service.call('DELETE', '/api/v1/datasets/surviving')).status).toBe(200);
  });
});

describe('listGates', () => {
  const list = (prompt: string, key?: string) =>
    setup.service.call('GET', `/api/v1/prompts/${prompt}/gates`, key === undefined ? {} : { key });

  it('says which labels have a gate, also those that do not exist, by name', async () => {
    const { prompt, gate } = await withDataset('listed');
    expect((await list(prompt)).body.data).toEqual([]);
    const staging = await addGate(setup.service, prompt, { ...gate, anchor: 1 }, 'staging');
    const production = await addGate(setup.service, prompt, gate);
    const { status, body } = await list(prompt, await setup.service.createKey('prompts:read'));
    expect([status, body.data]).toEqual([200, [production.body, staging.body]]);
  });

  it('404: there is no such prompt', async () => {
    const { status, body } = await list('no-such-prompt');
    expect([status, body.type]).toEqual([404, problem('prompt-not-found')]);
  });
});

it('404: a label without a gate has none to read', async () => {
  const prompt = await createVersionsOf(setup.service, answering(100));
  const { status, body } = await setup.service.call('GET', gatePath(prompt));
  expect([status, body.type]).toEqual([404, problem('gate-not-found')]);
});
