import { describe, expect, it } from '@jest/globals';
import type { Answer, CallOptions } from '../support/service.ts';
import { create, createVersions, promptsPath, saying, type RawDocument } from './prompts-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';

const setup = setUp();
const get = (key: string, version: number | string, headers: Record<string, string> = {}): Promise<Answer> =>
  setup.service.call('GET', `${promptsPath}/${key}/versions/${version}`, { headers });

const author = { type: 'key', id: 'administrator', name: 'administrator' };
const content = {
  messages: [{ role: 'system', content: '{{__proto__}}' }],
  variables: { tone: { default: 'friendly', description: 'Tone', required: false } },
  selected_provider: 'openai',
  selected_model: 'gpt-4.1-mini',
};

describe('200', () => {
  it('shows the current version from the prompt, and older versions unchanged', async () => {
    const { id, slug, body: created } = await create(setup.service, { ...content, test_settings: 1, description: 'd' });
    const current = await get(slug, 1);
    expect(current).toMatchObject({ status: 200 });
    expect(current.body).toEqual({ version: 1, ...content, author, created_at: created.created_at, current: true });

    const updated = await setup.service.call('PUT', `${promptsPath}/${id}`, {
      body: { ...saying('new'), variables: null, selected_provider: null, selected_model: null, name: 'Renamed' },
    });
    expect((await get(id, 1)).body).toEqual({ ...current.body, current: false });
    expect((await get(id, 2)).body).toEqual({
      version: 2,
      ...saying('new'),
      author,
      created_at: updated.body.updated_at,
      current: true,
    });
  });

  it('keeps the time of a version when only metadata changes', async () => {
    const { id, body: created } = await create(setup.service);
    await setup.service.call('PUT', `${promptsPath}/${id}`, { body: { description: 'later' } });
    await setup.service.call('PUT', `${promptsPath}/${id}`, { body: saying('2') });
    expect((await get(id, 1)).body.created_at).toBe(created.created_at);
  });
});

describe('304', () => {
  it('sends no body to a caller that has it, until another version is current', async () => {
    const { id } = await createVersions(setup.service, 2);
    const [old, current] = [await get(id, 1), await get(id, 2)];
    const known = { 'If-None-Match': `${old.headers['etag']}, ${current.headers['etag']}` };
    expect((await get(id, 1, known)).status).toBe(304);
    expect((await get(id, 2, known)).status).toBe(304);
    await setup.service.call('PUT', `${promptsPath}/${id}`, { body: saying('v3') });
    expect((await get(id, 1, known)).status).toBe(304);
    expect(await get(id, 2, known)).toMatchObject({ status: 200, body: { current: false } });
  });
});

describe('400', () => {
  const refuses = async (version: string, options: CallOptions = {}): Promise<void> => {
    const { id } = await create(setup.service);
    const { status, body } = await setup.service.call('GET', `${promptsPath}/${id}/versions/${version}`, options);
    expect(status).toBe(400);
    expect(body.errors).toMatchObject([{ parameter: 'version' }]);
  };

  it.each(['0', '-1', 'latest', '2147483648'])('refuses the version %s', (version) => refuses(version));

  it.each(['1.0', '01', '1e0', '0x1'])('refuses the integer spelt %s', (version) =>
    refuses(version, { differs: 'integer-spelling' }),
  );
});

describe('404', () => {
  it.each([2, 2147483647])('says that version %s of a new prompt does not exist', async (version) => {
    const { slug } = await create(setup.service);
    const { status, body } = await get(slug, version);
    expect(status).toBe(404);
    expect(body).toMatchObject({
      type: problem('version-not-found'),
      detail: `The prompt "${slug}" has no version ${version}.`,
    });
  });

  it('says that the prompt does not exist', async () => {
    const { status, body } = await get('no-such-prompt', 1);
    expect(status).toBe(404);
    expect(body.type).toBe(problem('prompt-not-found'));
  });

  it('deletes old versions with their prompt, even those that were just read', async () => {
    const { id } = await createVersions(setup.service, 2);
    expect((await get(id, 1)).status).toBe(200);
    await setup.service.call('DELETE', `${promptsPath}/${id}`);
    expect((await get(id, 1)).status).toBe(404);
  });
});

describe('500', () => {
  it('hides the cause', async () => {
    const { id } = await createVersions(setup.service, 2);
    const versions = setup.database.db.collection<RawDocument>('prompt_versions');
    await versions.updateOne({ _id: `${id}:1` }, { $unset: { messages: '' } });
    const { status, body } = await get(id, 1);
    expect(status).toBe(500);
    expect(body.type).toBe(problem('internal-error'));
  });
});
