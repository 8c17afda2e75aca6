import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../support/service.ts';
import { create, createVersions, promptsPath, saying, type RawDocument } from './prompts-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';

const setup = setUp();
const list = (key: string, query = ''): Promise<Answer> =>
  setup.service.call('GET', `${promptsPath}/${key}/versions${query}`);
const numbersOf = ({ body }: Answer): number[] =>
  body.data.map(({ version }: { version: number }) => version) as number[];
const nextOf = ({ headers }: Answer): string => /^<(.*)>; rel="next"$/.exec(headers['link'] ?? '')?.[1] ?? '';

describe('200', () => {
  it('shows every version, the newest first, only the newest as current', async () => {
    const { id, slug } = await createVersions(setup.service, 4);
    const { status, body } = await list(slug);
    expect(status).toBe(200);
    expect(body).toEqual({
      data: [4, 3, 2, 1].map((version) => ({
        version,
        messages: [{ role: 'user', content: `v${version}` }],
        created_at: expect.any(String),
        author: { type: 'key', id: 'administrator', name: 'administrator' },
        current: version === 4,
      })),
      pagination: { total: 4, limit: 20, offset: 0, next: null },
    });
    const times = body.data.map(({ created_at }: { created_at: string }) => created_at) as string[];
    expect(times).toEqual([...new Set(times)].sort().reverse());
    expect((await list(id)).body).toEqual(body);
  });

  it('shows a new prompt as version 1', async () => {
    const { id, body: prompt } = await create(setup.service, {
      variables: { x: { required: true } },
      selected_provider: 'echo',
    });
    const { body } = await list(id);
    expect(body.data).toEqual([
      {
        version: 1,
        messages: prompt.messages,
        variables: prompt.variables,
        selected_provider: 'echo',
        created_at: prompt.created_at,
        author: { type: 'key', id: 'administrator', name: 'administrator' },
        current: true,
      },
    ]);
  });

  it('says who made each version, and why if the request did', async () => {
    const { id } = await create(setup.service, { note: 'First try' });
    const made = { name: 'Editor', scopes: ['prompts:write'] };
    const { body: key } = await setup.service.call('POST', '/api/v1/api-keys', { body: made });
    const change = (body: object): Promise<Answer> =>
      setup.service.call('PUT', `${promptsPath}/${id}`, { body, key: String(key.key) });
    await change({ ...saying('v2'), note: 'Shorter' });
    // Without a new version the note has no place.
    await change({ description: 'Metadata', note: 'dropped' });
    await change(saying('v3'));
    await setup.service.call('POST', `${promptsPath}/${id}/versions/2/restore`);
    const by = ({ author, note }: { author: { name: string }; note?: string }) => [author.name, note];
    expect((await list(id)).body.data.map(by)).toEqual([
      ['administrator', undefined],
      ['Editor', undefined],
      ['Editor', 'Shorter'],
      ['administrator', 'First try'],
    ]);
    const { body } = await setup.service.call('GET', `${promptsPath}/${id}/versions/2`);
    expect(body).toMatchObject({ author: { type: 'key', id: key.id, name: 'Editor' }, note: 'Shorter' });
  });

  it('can be read page by page while versions are added', async () => {
    const { slug } = await createVersions(setup.service, 4);
    const first = await list(slug, '?limit=2');
    expect(numbersOf(first)).toEqual([4, 3]);
    await setup.service.call('PUT', `${promptsPath}/${slug}`, { body: saying('v5') });
    const second = await setup.service.call('GET', nextOf(first));
    expect(numbersOf(second)).toEqual([2, 1]);
    expect(second.body.pagination).toEqual({ total: 5, limit: 2, offset: 2, next: null });
  });

  it('ends a page at 8 MiB and continues on the next', async () => {
    const { id } = await create(setup.service);
    for (let version = 2; version <= 11; version += 1) {
      await setup.service.call('PUT', `${promptsPath}/${id}`, { body: saying(`${version} ${'x'.repeat(999_000)}`) });
    }
    const first = await list(id);
    expect(Buffer.byteLength(first.text)).toBeLessThanOrEqual(8 * 1024 * 1024);
    expect(numbersOf(first)).toEqual([11, 10, 9, 8, 7, 6, 5, 4]);
    expect(numbersOf(await setup.service.call('GET', nextOf(first)))).toEqual([3, 2, 1]);
  });

  it('does not mix the versions of two prompts', async () => {
    const one = await createVersions(setup.service, 2);
    const other = await create(setup.service, saying('other'));
    expect(numbersOf(await list(other.id))).toEqual([1]);
    expect(numbersOf(await list(one.id))).toEqual([2, 1]);
  });
});

describe('400', () => {
  it.each(['?limit=101', '?q=x'])('refuses %s', async (query) => {
    const { id } = await create(setup.service);
    const { status, body } = await list(id, query);
    expect(status).toBe(400);
    expect(body.type).toBe(problem('invalid-request'));
  });
});

describe('404', () => {
  it('says that the prompt does not exist', async () => {
    const { status, body } = await list('no-such-prompt');
    expect(status).toBe(404);
    expect(body.type).toBe(problem('prompt-not-found'));
  });
});

describe('500', () => {
  it('hides the cause', async () => {
    const { id } = await createVersions(setup.service, 2);
    const versions = setup.database.db.collection<RawDocument>('prompt_versions');
    await versions.updateOne({ _id: `${id}:1` }, { $unset: { messages: '' } });
    const { status, body } = await list(id);
    expect(status).toBe(500);
    expect(body.type).toBe(problem('internal-error'));
  });
});
