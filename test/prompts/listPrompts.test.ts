import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, CallOptions } from '../support/service.ts';
import { create, promptsPath, saying, type RawDocument } from './prompts-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';

const setup = setUp();
const list = (query: Record<string, string | number> = {}): Promise<Answer> => {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return setup.service.call('GET', `${promptsPath}${search === '' ? '' : `?${search}`}`);
};
const namesOf = ({ body }: Answer): string[] => body.data.map(({ name }: { name: string }) => name) as string[];
const nextOf = ({ headers }: Answer): string => /^<(.*)>; rel="next"$/.exec(headers['link'] ?? '')?.[1] ?? '';

describe('200', () => {
  it('answers an empty list', async () => {
    const { status, body, headers } = await list();
    expect(status).toBe(200);
    expect(body).toEqual({ data: [], pagination: { total: 0, limit: 0, offset: 0, next: null } });
    expect(headers['link']).toBeUndefined();
  });

  describe('of six prompts', () => {
    const created: Record<string, string> = {};
    beforeAll(async () => {
      for (const name of ['one', 'two', 'three', 'four', 'five', 'six']) {
        created[name] = (await create(setup.service, { name })).id;
      }
    });

    it('has the most recently updated first', async () => {
      expect(namesOf(await list())).toEqual(['six', 'five', 'four', 'three', 'two', 'one']);
      await setup.service.call('PUT', `${promptsPath}/two`, { body: { description: 'touched' } });
      expect(namesOf(await list())).toEqual(['two', 'six', 'five', 'four', 'three', 'one']);
      await setup.service.call('PUT', `${promptsPath}/one`, { body: {} });
      expect(namesOf(await list())[0]).toBe('two');
    });

    it('shows each prompt completely', async () => {
      const { body } = await list({ limit: 1 });
      const found = await setup.service.call('GET', `${promptsPath}/${body.data[0].id}`);
      expect(body.data[0]).toEqual(found.body);
    });

    it('orders prompts of the same millisecond by id', async () => {
      const prompts = setup.database.db.collection<RawDocument>('prompts');
      await prompts.updateMany({}, { $set: { updated_at: new Date() } });
      const ids = (await list()).body.data.map(({ id }: { id: string }) => id) as string[];
      expect(ids).toEqual(Object.values(created).sort());
    });

    it('does not contain prompts whose deletion has begun', async () => {
      const prompts = setup.database.db.collection<RawDocument>('prompts');
      const change = (deleting: boolean) => prompts.updateOne({ _id: created['six'] ?? '' }, { $set: { deleting } });
      await change(true);
      const without = await list();
      await change(false);
      expect(namesOf(without)).not.toContain('six');
      expect(without.body.pagination.total).toBe(5);
    });
  });

  describe('of the prompts that contain a text', () => {
    beforeAll(async () => {
      await create(setup.service, { name: 'Café (draft) [v1.0]', slug: 'coffee-house' });
      await create(setup.service, { name: 'Other', description: 'costs $5 + a*b? ^start | pipe {2} back\\slash' });
      await create(setup.service, { name: 'Line\nbreak\u0000nul' });
      await create(setup.service, { name: 'v1x0' });
    });

    it.each([
      ['café', ['Café (draft) [v1.0]']],
      ['CAFÉ (DRAFT)', ['Café (draft) [v1.0]']],
      ['[v1.0]', ['Café (draft) [v1.0]']],
      ['1.0', ['Café (draft) [v1.0]']],
      ['FEE-HOU', ['Café (draft) [v1.0]']],
      ['$5 + a*b? ^start | pipe {2} back\\slash', ['Other']],
      ['e\nb', ['Line\nbreak\0nul']],
      ['k\0n', ['Line\nbreak\0nul']],
      ['.*', []],
      ['(', ['Café (draft) [v1.0]']],
      ['\\', ['Other']],
      ['{"$ne": null}', []],
      ['no such text', []],
    ])('searches for %j', async (q, names) => {
      const answer = await list({ q });
      expect(answer.status).toBe(200);
      expect(namesOf(answer)).toEqual(names);
      expect(answer.body.pagination.total).toBe(names.length);
    });

    it('does not search in messages', async () => {
      await create(setup.service, saying('needle in a message'));
      expect(namesOf(await list({ q: 'needle in a' }))).toEqual([]);
    });

    it('keeps the text on the next page', async () => {
      await create(setup.service, { name: 'Page & more #1' });
      await create(setup.service, { name: 'Page & more #2' });
      const first = await list({ q: 'e & m', limit: 1 });
      expect(first.body.pagination.total).toBe(2);
      const second = await setup.service.call('GET', nextOf(first));
      expect([...namesOf(first), ...namesOf(second)]).toEqual(['Page & more #2', 'Page & more #1']);
      expect(second.headers['link']).toBeUndefined();
    });

    it('accepts the longest allowed text', async () => {
      await create(setup.service, { name: '🎉'.repeat(200) });
      await create(setup.service, { name: '🎉'.repeat(200) });
      const first = await list({ q: '🎉'.repeat(200), limit: 1 });
      expect(first.body.pagination.total).toBe(2);
      expect((await setup.service.call('GET', nextOf(first))).body.data).toHaveLength(1);
    });
  });

  it('contains only what a limited key may reach', async () => {
    const [mine, other] = [await create(setup.service), await create(setup.service)];
    const body = { name: 'Limited', scopes: ['prompts:read'], limits: { prompts: [mine.id] } };
    const made = await setup.service.call('POST', '/api/v1/api-keys', { body });
    const answer = await setup.service.call('GET', promptsPath, { key: (made.body as { key: string }).key });
    expect(answer.body.data.map(({ id }: { id: string }) => id)).toEqual([mine.id]);
    expect(answer.body.pagination).toEqual({ total: 1, limit: 1, offset: 0, next: null });
    expect(answer.text).not.toContain(other.id);
  });

  describe('of ten prompts of a megabyte', () => {
    beforeAll(async () => {
      for (let number = 0; number < 10; number += 1) {
        await create(setup.service, { name: `Large ${number}`, ...saying('é'.repeat(500_000)) });
      }
    });

    it('has all of them without a limit', async () => {
      const { body, headers } = await list({ q: 'Large' });
      expect(body.data).toHaveLength(10);
      expect(body.pagination).toEqual({ total: 10, limit: 10, offset: 0, next: null });
      expect(headers['link']).toBeUndefined();
      const rest = await list({ q: 'Large', offset: 8 });
      expect(rest.body.data).toEqual(body.data.slice(8));
      expect(rest.body.pagination).toEqual({ total: 10, limit: 2, offset: 8, next: null });
    });

    it('ends a page at 8 MiB, and continues on the next', async () => {
      const first = await list({ q: 'Large', limit: 1000 });
      expect(Buffer.byteLength(first.text)).toBeLessThanOrEqual(8 * 1024 * 1024);
      expect(first.body.data).toHaveLength(8);
      const after = first.body.pagination.next as string;
      expect(first.body.pagination).toEqual({ total: 10, limit: 1000, offset: 0, next: expect.any(String) });
      const second = await setup.service.call('GET', nextOf(first));
      expect(second.body.data).toHaveLength(2);
      expect(second.body.pagination).toEqual({ total: 10, limit: 1000, offset: 8, next: null });
      const rest = await list({ q: 'Large', after });
      expect(rest.body.data).toEqual(second.body.data);
      expect(rest.body.pagination).toEqual({ total: 10, limit: 2, offset: 8, next: null });
    });
  });
});

describe('400', () => {
  const refuses = async (query: string, options: CallOptions = {}): Promise<void> => {
    const { status, body } = await setup.service.call('GET', `${promptsPath}?${query}`, options);
    expect(status).toBe(400);
    expect(body.type).toBe(problem('invalid-request'));
    expect(body.errors).toMatchObject([{ parameter: expect.any(String) }]);
  };

  it.each([
    ...['limit=0', 'limit=1001', 'limit=', 'limit=1&limit=2'],
    ...['offset=-1', 'offset=1.5', 'offset=10001'],
    ...['q=', `q=${'x'.repeat(201)}`, 'q[$ne]=1', 'sort=name'],
  ])('refuses ?%s', (query) => refuses(query));

  it.each(['limit=1e2', 'limit=0x10', 'offset=%205'])('refuses the integer spelt ?%s', (query) =>
    refuses(query, { differs: 'integer-spelling' }),
  );
});

describe('500', () => {
  it('hides the cause', async () => {
    const { id } = await create(setup.service, { name: 'Broken' });
    const prompts = setup.database.db.collection<RawDocument>('prompts');
    await prompts.updateOne({ _id: id }, { $set: { messages: 5 } });
    const { status, body } = await list({ q: 'Broken' });
    await prompts.deleteOne({ _id: id });
    expect(status).toBe(500);
    expect(body.type).toBe(problem('internal-error'));
  });
});
