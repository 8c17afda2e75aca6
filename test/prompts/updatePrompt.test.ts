import { describe, expect, it } from '@jest/globals';
import type { Answer, CallOptions } from '../support/service.ts';
import { create, promptsPath, saying, type RawDocument } from './prompts-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';

const setup = setUp();
const put = (key: string, body: unknown, options: CallOptions = {}): Promise<Answer> =>
  setup.service.call('PUT', `${promptsPath}/${key}`, { ...options, body });
const versionsOf = async (key: string): Promise<number> =>
  (await setup.service.call('GET', `${promptsPath}/${key}/versions`)).body.pagination.total as number;

const full = {
  ...saying('{{one}} {{two}}'),
  description: 'What it is for',
  variables: { one: { default: '1', required: false }, two: { description: 'second' } },
  selected_provider: 'echo',
  selected_model: 'echo-1',
  test_settings: { seed: 7 },
};

describe('200', () => {
  it.each([
    [{ messages: [{ role: 'system', content: 'new' }] }],
    [{ variables: { three: {} } }],
    [{ variables: {} }],
    [{ selected_provider: 'openai' }],
    [{ selected_model: 'other' }],
  ])('makes a version of a change of content, %j', async (change) => {
    const { id, etag, body: before } = await create(setup.service, full);
    const { status, body, headers } = await put(id, change);
    expect(status).toBe(200);
    const { warnings: _, ...saved } = body;
    expect(saved).toEqual({ ...before, ...change, version: 2, updated_at: body.updated_at });
    expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    expect(headers['etag']).not.toBe(etag);
    const old = await setup.service.call('GET', `${promptsPath}/${id}/versions/1`);
    expect(old.body).toMatchObject({
      messages: before.messages,
      variables: before.variables,
      selected_provider: 'echo',
      selected_model: 'echo-1',
      created_at: before.created_at,
    });
  });

  it.each([
    [{ name: 'Other name' }],
    [{ description: 'other' }],
    [{ test_settings: ['other'] }],
    [{ test_settings: false }],
    [{ slug: 'quite-another-slug' }],
  ])('makes no version of a change of metadata, %j', async (change) => {
    const { id, etag, body: before } = await create(setup.service, full);
    const { body, headers } = await put(id, change);
    expect(body).toEqual({ ...before, ...change, updated_at: body.updated_at });
    expect(body.updated_at).not.toBe(before.updated_at);
    expect(headers['etag']).not.toBe(etag);
    expect(await versionsOf(id)).toBe(1);
  });

  it('changes content and metadata together', async () => {
    const { id } = await create(setup.service, full);
    const change = { name: 'Both', slug: 'both-at-once', ...saying('both') };
    expect((await put(id, change)).body).toMatchObject({ ...change, version: 2 });
    expect((await setup.service.call('GET', `${promptsPath}/both-at-once`)).body.id).toBe(id);
  });

  it('clears a field with null', async () => {
    const { id, body: before } = await create(setup.service, full);
    const { messages: _messages, ...clearable } = full;
    const cleared = Object.fromEntries(Object.keys(clearable).map((name) => [name, null]));
    const { body } = await put(id, cleared);
    const { id: _, slug, name, messages, created_at } = before;
    expect(body).toEqual({ id, slug, name, messages, created_at, version: 2, updated_at: body.updated_at });
    const again = await put(id, cleared);
    expect(again.body).toEqual(body);
  });

  it('changes nothing when the answer of getPrompt is sent back', async () => {
    const { id, etag } = await create(setup.service, full);
    const got = await setup.service.call('GET', `${promptsPath}/${id}`);
    const { status, body, headers } = await put(id, got.text);
    expect(status).toBe(200);
    expect(body).toEqual(got.body);
    expect(headers['etag']).toBe(etag);
  });

  it.each([
    ['an empty body', {}],
    [
      'the same variables in another order',
      { variables: { two: { description: 'second' }, one: { required: false, default: '1' } } },
    ],
    [
      'the same variables sent twice',
      `{"variables": {"two": {}, "two": {"description": "second"}, "one": ${JSON.stringify(full.variables.one)}}}`,
    ],
    ['the same test settings', { test_settings: { seed: 7 } }],
  ])('changes nothing for %s', async (_what, change) => {
    const { id, etag, body: before } = await create(setup.service, full);
    const { body, headers } = await put(id, change);
    expect(body).toEqual(before);
    expect(headers['etag']).toBe(etag);
  });

  it('creates a version when strictness changes, and none when it stays the same', async () => {
    const { id } = await create(setup.service);
    expect((await put(id, { strict: false })).body.version).toBe(1);
    expect((await put(id, { strict: true })).body).toMatchObject({ version: 2, strict: true });
    expect((await put(id, { strict: true, name: 'Renamed' })).body).toMatchObject({ version: 2, strict: true });
    expect((await put(id, saying('new'))).body).toMatchObject({ version: 3, strict: true });
    expect((await put(id, { strict: false })).body).not.toHaveProperty('strict');
    const restored = await setup.service.call('POST', `${promptsPath}/${id}/versions/3/restore`);
    expect(restored.body).toMatchObject({ version: 5, strict: true });
    const third = await setup.service.call('GET', `${promptsPath}/${id}/versions/3`);
    expect(third.body.strict).toBe(true);
  });

  it('gives the warnings of the current content, and accepts its answer as a request', async () => {
    const { id } = await create(setup.service);
    const { body } = await put(id, { ...saying('{{user name}}'), variables: { user: {} } });
    expect(body.warnings).toEqual([
      {
        code: 'not-a-placeholder',
        detail: '"{{user name}}" is not a placeholder; it is sent unchanged',
        pointer: '#/messages/0/content',
      },
      { code: 'unused-variable', detail: 'is not used by a placeholder', pointer: '#/variables/user' },
    ]);
    expect((await put(id, body)).body).toEqual(body);
    expect((await put(id, { name: 'Renamed' })).body.warnings).toEqual(body.warnings);
    expect((await put(id, { ...saying('{{user}}') })).body).not.toHaveProperty('warnings');
  });

  it('treats missing variables and an empty list alike', async () => {
    const without = await create(setup.service);
    expect((await put(without.id, { variables: {} })).body).toEqual(without.body);
    const empty = await create(setup.service, { variables: {} });
    expect((await put(empty.id, { variables: null, name: 'Renamed' })).body.version).toBe(1);
    expect(await versionsOf(empty.id)).toBe(1);
  });

  it('keeps a provider that the service no longer has', async () => {
    const { id } = await create(setup.service, full);
    const provider = { $set: { selected_provider: 'retired' } };
    await setup.database.db.collection<RawDocument>('prompts').updateOne({ _id: id }, provider);
    const got = await setup.service.call('GET', `${promptsPath}/${id}`);
    expect((await put(id, got.text)).body).toEqual(got.body);
    expect((await put(id, saying('new'))).body).toMatchObject({ version: 2, selected_provider: 'retired' });
  });

  it('distinguishes similar values', async () => {
    const { id } = await create(setup.service, { variables: JSON.parse('{"__proto__": {"default": ""}}') });
    expect((await put(id, { variables: {} })).body.version).toBe(2);
    expect((await put(id, '{"variables": {"__proto__": {"default": ""}}}')).body.version).toBe(3);
    expect((await put(id, '{"variables": {"__proto__": {"default": ""}}}')).body.version).toBe(3);
    expect((await put(id, '{"variables": {"__proto__": {}}}')).body.version).toBe(4);
    expect((await put(id, { variables: null })).body.version).toBe(5);
  });

  it('releases its former slug for another prompt', async () => {
    const { id, slug } = await create(setup.service);
    await put(slug, { slug: `${slug}-renamed` });
    expect((await setup.service.call('GET', `${promptsPath}/${slug}`)).status).toBe(404);
    const other = await create(setup.service, { slug });
    expect(other.id).not.toBe(id);
  });

  it('moves the prompt to the top of the list, even if clocks differ', async () => {
    const { id } = await create(setup.service);
    const future = new Date(Date.now() + 60_000);
    await setup.database.db.collection<RawDocument>('prompts').updateOne({ _id: id }, { $set: { updated_at: future } });
    const { body } = await put(id, saying('later'));
    expect(body.updated_at).toBe(new Date(future.getTime() + 1).toISOString());
    await put(id, { test_settings: null });
    const { body: page } = await setup.service.call('GET', `${promptsPath}?limit=1`);
    expect(page.data[0].id).toBe(id);
  });

  it.each([
    ['the entity tag', (etag: string) => etag],
    ['one of several', (etag: string) => `"other", ${etag}`],
    ['*', () => '*'],
  ])('applies the change when If-Match is %s', async (_what, field) => {
    const { id, etag } = await create(setup.service);
    const { status } = await put(id, saying('matched'), { headers: { 'If-Match': field(etag) } });
    expect(status).toBe(200);
  });
});

describe('400', () => {
  it.each([
    ['#/name', { name: null }],
    ['#/messages', { messages: null }],
    ['#/messages', { messages: [] }],
    ['#/slug', { slug: null }],
    ['#/slug', { slug: '6f1c0a52-3f0e-4b7e-9d5a-1c2b7f3e8a90' }],
    ['#/$set', { $set: { name: 'x' } }],
    ['#/variables/$gt', { variables: { $gt: {} } }],
    ['#/selected_model', { selected_model: { $ne: 1 } }],
    ['#/created_at', { created_at: 'yesterday' }],
  ])('points at %s', async (pointer, change) => {
    const { id, body: before } = await create(setup.service);
    const { status, body } = await put(id, change);
    expect(status).toBe(400);
    expect(body.errors).toContainEqual(expect.objectContaining({ pointer }));
    expect((await setup.service.call('GET', `${promptsPath}/${id}`)).body).toEqual(before);
  });

  it('refuses test settings of more than 16 KiB before it looks for the prompt', async () => {
    const tooLarge = { test_settings: 'x'.repeat(16 * 1024) };
    const { status, body } = await put('no-such-prompt', tooLarge, { differs: 'test-settings-size' });
    expect(status).toBe(400);
    expect(body.errors[0].pointer).toBe('#/test_settings');
  });
});

describe('404', () => {
  it.each(['no-such-prompt', '00000000-0000-4000-8000-000000000000'])('says that %s does not exist', async (key) => {
    const { status, body } = await put(key, {}, { headers: { 'If-Match': '"x"' } });
    expect(status).toBe(404);
    expect(body.type).toBe(problem('prompt-not-found'));
  });

  it('does not restore a prompt whose deletion has begun', async () => {
    const { id } = await create(setup.service);
    const prompts = setup.database.db.collection<RawDocument>('prompts');
    await prompts.updateOne({ _id: id }, { $set: { deleting: true } });
    expect((await put(id, saying('back'))).status).toBe(404);
    expect(await prompts.findOne({ _id: id })).toMatchObject({ deleting: true, version: 1 });
  });
});

describe('422', () => {
  it.each(['opnai', 'toString', 'ECHO'])('refuses the unknown provider %s', async (provider) => {
    const { id, etag } = await create(setup.service, full);
    const { status, body } = await put(id, { selected_provider: provider, name: 'New' });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      type: problem('unknown-provider'),
      errors: [{ detail: 'is not known', pointer: '#/selected_provider' }],
      provider,
    });
    expect((await setup.service.call('GET', `${promptsPath}/${id}`)).headers['etag']).toBe(etag);
  });
});

describe('409', () => {
  it('refuses a slug that is taken, and changes nothing', async () => {
    const taken = await create(setup.service);
    const { id, body: before } = await create(setup.service);
    const { status, body } = await put(id, { slug: taken.slug, ...saying('not stored') });
    expect(status).toBe(409);
    expect(body).toMatchObject({ type: problem('slug-taken'), errors: [{ pointer: '#/slug' }] });
    expect((await setup.service.call('GET', `${promptsPath}/${id}`)).body).toEqual(before);
    expect(await versionsOf(id)).toBe(1);
  });
});

describe('412', () => {
  it('refuses to change a prompt that has changed', async () => {
    const { id, etag } = await create(setup.service);
    await put(id, { description: 'someone else' });
    const { status, body } = await put(id, saying('too late'), { headers: { 'If-Match': etag } });
    expect(status).toBe(412);
    expect(body.type).toBe(problem('precondition-failed'));
    expect(await versionsOf(id)).toBe(1);
  });

  it('refuses weak entity tags', async () => {
    const { id, etag } = await create(setup.service);
    expect((await put(id, {}, { headers: { 'If-Match': `W/${etag}` } })).status).toBe(412);
  });

  it('accepts one of many simultaneous changes of the same version', async () => {
    const { id, etag } = await create(setup.service);
    const headers = { 'If-Match': etag };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => put(id, saying(`writer ${index}`), { headers })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...(Array(9).fill(412) as number[])]);
    expect(await versionsOf(id)).toBe(2);
  });
});

describe('500', () => {
  it('hides the cause', async () => {
    const { id } = await create(setup.service);
    await setup.database.db.collection<RawDocument>('prompts').updateOne({ _id: id }, { $unset: { messages: '' } });
    const { status, body } = await put(id, {});
    expect(status).toBe(500);
    expect(body.type).toBe(problem('internal-error'));
  });
});
