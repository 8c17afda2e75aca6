import { describe, expect, it } from '@jest/globals';
import { problem, setUp } from '../../support/per-operation.ts';
import type { Answer } from '../../support/service.ts';
import { create, createVersions, promptsPath } from '../prompts-harness.ts';
import { labelPath, moveThrough, setLabel } from './labels-harness.ts';

const setup = setUp();
const get = (prompt: string, label: string, headers: Record<string, string> = {}): Promise<Answer> =>
  setup.service.call('GET', labelPath(prompt, label), { headers });

describe('200', () => {
  it('shows the last move of the label', async () => {
    const { slug } = await createVersions(setup.service, 2);
    const moved = await moveThrough(setup.service, slug, 'production', [1, 2]);
    const found = await get(slug, 'production');
    expect([found.body, found.headers['etag']]).toEqual([moved.body, moved.headers['etag']]);
    expect(found.body).toMatchObject({ version: 2, sequence: 2 });
  });
});

describe('304', () => {
  it('sends no body until the label moves', async () => {
    const { id } = await createVersions(setup.service, 2);
    const { headers } = await moveThrough(setup.service, id, 'production', [1]);
    const known = { 'If-None-Match': headers['etag'] ?? '' };
    await setLabel(setup.service, id, 'staging', 2);
    expect((await get(id, 'production', known)).status).toBe(304);
    await setLabel(setup.service, id, 'production', 2, { headers: { 'If-Match': '*' } });
    expect(await get(id, 'production', known)).toMatchObject({ status: 200, body: { version: 2 } });
  });
});

describe('400', () => {
  it.each(['latest', '__proto__', 'x'.repeat(33)])('refuses the name %s', async (name) => {
    const { id } = await create(setup.service);
    const { status, body } = await get(id, name);
    expect([status, body.type]).toEqual([400, problem('invalid-request')]);
  });
});

describe('404', () => {
  it.each(['production', 'constructor'])('says that there is no label %s', async (name) => {
    const { id } = await create(setup.service);
    const { status, body } = await get(id, name);
    expect([status, body.type]).toEqual([404, problem('label-not-found')]);
  });

  it('says that the prompt does not exist', async () => {
    const { status, body } = await get('no-such-prompt', 'production');
    expect([status, body.type]).toEqual([404, problem('prompt-not-found')]);
  });
});

describe('listLabels', () => {
  const list = (prompt: string): Promise<Answer> => setup.service.call('GET', `${promptsPath}/${prompt}/labels`);

  it('200: lists the labels by name, as they are now', async () => {
    const { id, slug } = await createVersions(setup.service, 2);
    expect((await list(slug)).body).toEqual({
      data: [],
      pagination: { total: 0, limit: 20, offset: 0, next: null },
    });
    const staging = await moveThrough(setup.service, id, 'staging', [1, 2]);
    const production = await moveThrough(setup.service, id, 'production', [1]);
    expect((await list(slug)).body.data).toEqual([production.body, staging.body]);
  });

  it('404: says that the prompt does not exist', async () => {
    const { status, body } = await list('no-such-prompt');
    expect([status, body.type]).toEqual([404, problem('prompt-not-found')]);
  });
});
