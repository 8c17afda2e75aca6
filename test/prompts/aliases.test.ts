import { describe, expect, it } from '@jest/globals';
import { create, promptBody, promptsPath, saying } from './prompts-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';
import type { Answer } from '../support/service.ts';

const setup = setUp();
const post = (members: Record<string, unknown>): Promise<Answer> =>
  setup.service.call('POST', promptsPath, { body: promptBody(members) });
const put = (name: string, body: unknown): Promise<Answer> =>
  setup.service.call('PUT', `${promptsPath}/${name}`, { body });
const statusOf = async (name: string): Promise<number> =>
  (await setup.service.call('GET', `${promptsPath}/${name}`)).status;

describe('an alias', () => {
  it('names the prompt wherever a path does', async () => {
    const alias = 'pmpt_68a1f0c2d4e88190b3a5c7d9e1f20413';
    const { id, body } = await create(setup.service, { aliases: [alias, 'Other_id-2'], selected_provider: 'echo' });
    expect(body).toMatchObject({ aliases: [alias, 'Other_id-2'], version: 1 });
    const { call } = setup.service;
    const path = `${promptsPath}/${alias}`;
    for (const name of [alias, 'Other_id-2']) {
      expect((await call('GET', `${promptsPath}/${name}`)).body).toEqual(body);
    }
    expect((await call('PUT', path, { body: saying('v2') })).body).toMatchObject({
      id,
      version: 2,
      aliases: [alias, 'Other_id-2'],
    });
    const label = await call('PUT', `${path}/labels/production`, { body: { version: 1 } });
    expect(label.headers['location']).toBe(`${promptsPath}/${id}/labels/production`);
    const invoked = await call('POST', `${path}/invoke`, { body: { label: 'production' } });
    expect(invoked).toMatchObject({ status: 200, headers: { 'x-served-version': '1' } });
    const reads = ['versions', 'versions/1', 'labels', 'labels/production/history', 'test-runs', 'statistics'];
    for (const read of reads) expect((await call('GET', `${path}/${read}`)).status).toBe(200);
    expect((await call('POST', `${path}/render`, { body: {} })).status).toBe(200);
    expect((await call('GET', `/api/v1/invocations?prompt=${alias}`)).status).toBe(200);
    expect((await call('GET', `/v1/models/${encodeURIComponent(`prompt/${alias}`)}`)).status).toBe(200);
    const chat = { model: `prompt/${alias}@production`, messages: [] };
    expect((await call('POST', '/v1/chat/completions', { body: chat })).status).toBe(200);
    expect((await call('DELETE', path)).status).toBe(200);
    expect(await statusOf(id)).toBe(404);
  });

  it('is found beside ids, slugs and other aliases that are looked for at the same time', async () => {
    const prompts = await Promise.all([1, 2, 3].map((n) => create(setup.service, { aliases: [`p_${n}a`, `p_${n}b`] })));
    const names = prompts.flatMap(({ id, slug }, index) => [
      id,
      slug,
      `p_${index + 1}a`,
      `p_${index + 1}b`,
      `p_${index}`,
    ]);
    const found = await Promise.all(names.map((name) => setup.service.call('GET', `${promptsPath}/${name}`)));
    const ids = prompts.flatMap(({ id }) => [id, id, id, id, undefined]);
    expect(found.map(({ body }) => body.id as unknown)).toEqual(ids);
  });

  it('names nothing beyond the limits of a key', async () => {
    const [mine, other] = [
      await create(setup.service, { aliases: ['lim_1'] }),
      await create(setup.service, { aliases: ['lim_2'] }),
    ];
    const limited = await setup.service.call('POST', '/api/v1/api-keys', {
      body: { name: 'Limited', scopes: ['prompts:read'], limits: { prompts: [mine.id] } },
    });
    const { key } = limited.body as unknown as { key: string };
    const get = (name: string): Promise<Answer> => setup.service.call('GET', `${promptsPath}/${name}`, { key });
    expect([(await get('lim_1')).status, (await get('lim_2')).status, (await get(other.id)).status]).toEqual([
      200, 404, 404,
    ]);
  });
});

describe('a change of aliases', () => {
  it('makes no version, frees what it removes, and is shown in the entity tag', async () => {
    const { id, etag, body: before } = await create(setup.service, { aliases: ['a_1', 'a_2'] });
    const changed = await put(id, { aliases: ['a_2', 'a_3'] });
    expect(changed.body).toMatchObject({ version: 1, aliases: ['a_2', 'a_3'] });
    expect(changed.headers['etag']).not.toBe(etag);
    expect(await Promise.all(['a_1', 'a_2', 'a_3'].map(statusOf))).toEqual([404, 200, 200]);
    const other = await create(setup.service, { aliases: ['a_1'] });
    expect((await put(other.id, { name: 'Renamed' })).body).toMatchObject({ aliases: ['a_1'] });
    for (const aliases of [null, []]) {
      const cleared = await put(id, { aliases });
      expect(cleared.body).not.toHaveProperty('aliases');
      expect({ ...cleared.body, updated_at: 0 }).toEqual({ ...before, aliases: undefined, updated_at: 0 });
      await put(id, { aliases: ['a_2'] });
    }
    await put(id, { aliases: null });
    expect((await post({ aliases: ['a_2', 'a_3'] })).status).toBe(201);
  });

  it('is free after the prompt was deleted', async () => {
    const { id } = await create(setup.service, { aliases: ['gone_1'] });
    await setup.service.call('DELETE', `${promptsPath}/${id}`);
    expect((await post({ aliases: ['gone_1'] })).status).toBe(201);
  });
});

describe('409', () => {
  it('refuses an alias of another prompt, and changes nothing', async () => {
    await create(setup.service, { aliases: ['taken_1', 'taken_2'] });
    const expected = {
      status: 409,
      body: {
        type: problem('alias-taken'),
        detail: 'Another prompt has the alias "taken_2".',
        errors: [{ detail: 'is taken', pointer: '#/aliases/1' }],
      },
    };
    const aliases = ['free_1', 'taken_2'];
    expect(await post({ aliases })).toMatchObject(expected);
    expect(await post({ aliases, slug: 'with-a-slug' })).toMatchObject(expected);
    const { id, body } = await create(setup.service);
    expect(await put(id, { aliases, ...saying('not stored') })).toMatchObject(expected);
    expect((await setup.service.call('GET', `${promptsPath}/${id}`)).body).toEqual(body);
    expect(await Promise.all(['free_1', 'with-a-slug'].map(statusOf))).toEqual([404, 404]);
  });

  it('names the slug if that is what is taken', async () => {
    const { slug } = await create(setup.service);
    const answer = await post({ slug, aliases: ['unused_1'] });
    expect(answer).toMatchObject({ status: 409, body: { type: problem('slug-taken') } });
  });

  it('gives an alias to one of many simultaneous requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post({ name: 'Same', aliases: ['contested_1'] })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...(Array(7).fill(409) as number[])]);
  });
});

it.each([
  ['a slug', ['summarise-ticket']],
  ['an id', ['6f1c0a52-3f0e-4b7e-9d5a-1c2b7f3e8a90']],
  ['a path', ['pmpt_1/x']],
  ['the same twice', ['a_b', 'a_b']],
  ['more than 20', Array.from({ length: 21 }, (_, index) => `many_${index}`)],
])('refuses %s', async (_, aliases) => {
  expect(await post({ aliases })).toMatchObject({ status: 400, body: { type: problem('invalid-request') } });
});
