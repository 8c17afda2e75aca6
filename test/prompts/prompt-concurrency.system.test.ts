import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, TestService } from '../support/service.ts';
import { historyOf as movesOf, labelPath, setLabel } from './labels/labels-harness.ts';
import { create, createVersions, promptsPath, saying } from './prompts-harness.ts';
import { setUp, startAnother } from '../support/per-operation.ts';

const setup = setUp();
let other: TestService;
beforeAll(async () => {
  other = await startAnother(setup.service);
});
afterAll(() => other.close());

const put = (service: TestService, key: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  service.call('PUT', `${promptsPath}/${key}`, { body, headers });

interface Version {
  version: number;
  messages: { content: string }[];
  created_at: string;
}

/** All versions of a prompt, the newest first. */
async function historyOf(id: string): Promise<Version[]> {
  const history: Version[] = [];
  for (let after = ''; ;) {
    const { body } = await setup.service.call('GET', `${promptsPath}/${id}/versions?limit=100${after}`);
    history.push(...(body.data as Version[]));
    if (body.pagination.next === null) return history;
    after = `&after=${body.pagination.next}`;
  }
}

/** Checks that the versions are 1 to n, that each write occurs once, and that each has the number in its answer. */
async function expectWholeHistory(id: string, answers: readonly Answer[]): Promise<void> {
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  const history = await historyOf(id);
  const count = answers.length + 1;
  expect(history.map(({ version }) => version)).toEqual(Array.from({ length: count }, (_, index) => count - index));
  for (const { body } of answers) {
    const version = history.find(({ version: number }) => number === body.version);
    expect(version?.messages).toEqual(body.messages);
    expect(version?.created_at).toBe(body.updated_at);
  }
  const contents = answers.map(({ body }) => body.messages[0].content as string);
  expect(new Set(history.map(({ messages }) => messages[0]?.content))).toEqual(new Set(['Hello', ...contents]));
  const times = history.map(({ created_at }) => created_at);
  expect(times).toEqual([...times].sort().reverse());
}

describe('simultaneous updates of one prompt', () => {
  it.each([20, 100])('%d of them create as many versions', async (count) => {
    const { id } = await create(setup.service);
    const writes = Array.from({ length: count }, (_, index) => put(setup.service, id, saying(`write ${index}`)));
    await expectWholeHistory(id, await Promise.all(writes));
  });

  it('through two processes create as many versions', async () => {
    const { id, slug } = await create(setup.service);
    const writes = Array.from({ length: 40 }, (_, index) =>
      put(index % 2 === 0 ? setup.service : other, index % 3 === 0 ? id : slug, saying(`write ${index}`)),
    );
    await expectWholeHistory(id, await Promise.all(writes));
  });

  it('keep changes of other fields by other callers', async () => {
    const { id } = await create(setup.service);
    const changes = [
      saying('changed'),
      { description: 'changed' },
      { selected_provider: 'echo' },
      { test_settings: 'changed' },
      { variables: { changed: {} } },
      { name: 'changed' },
    ];
    const answers = await Promise.all(
      changes.map((change, index) => put(index % 2 === 0 ? setup.service : other, id, change)),
    );
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const { body } = await setup.service.call('GET', `${promptsPath}/${id}`);
    expect(body).toMatchObject({ ...Object.assign({}, ...changes), version: 4 });
  });

  it('with If-Match lose no acknowledged change', async () => {
    const { id } = await create(setup.service, { description: '0' });
    const countUp = async (service: TestService): Promise<void> => {
      for (;;) {
        const { body, headers } = await service.call('GET', `${promptsPath}/${id}`);
        const change = { description: String(Number(body.description) + 1) };
        const { status } = await put(service, id, change, { 'If-Match': headers['etag'] ?? '' });
        if (status === 200) return;
        expect(status).toBe(412);
      }
    };
    await Promise.all(Array.from({ length: 12 }, (_, index) => countUp(index % 2 === 0 ? setup.service : other)));
    const { body } = await setup.service.call('GET', `${promptsPath}/${id}`);
    expect(body.description).toBe('12');
  });
});

describe('a label', () => {
  it('that two callers move from the same state is moved by one of them', async () => {
    const { id } = await createVersions(setup.service, 3);
    const path = labelPath(id, 'production');
    for (let round = 1; round <= 5; round += 1) {
      const before = await setup.service.call('GET', path);
      const headers: Record<string, string> =
        round === 1 ? { 'If-None-Match': '*' } : { 'If-Match': before.headers['etag'] ?? '' };
      const [one = 0, another = 0] = [1, 2, 3].filter((version) => version !== before.body.version);
      const answers = await Promise.all([
        setLabel(setup.service, id, 'production', one, { headers }),
        setLabel(other, id, 'production', another, { headers }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([round === 1 ? 201 : 200, 412]);
      const moved = answers.find(({ status }) => status < 300);
      expect((await other.call('GET', path)).body).toEqual(moved?.body);
    }
    expect(await movesOf(setup.service, id, 'production')).toHaveLength(5);
  });

  it('keeps every move, while others edit the prompt and move other labels', async () => {
    const { id } = await create(setup.service);
    const second = await put(setup.service, id, saying('second'));
    const move = async (service: TestService, name: string): Promise<Answer[]> => {
      const answers = [await setLabel(service, id, name, 1)];
      for (const version of [2, 1, 2, 1, 2]) {
        answers.push(await setLabel(service, id, name, version, { headers: { 'If-Match': '*' } }));
      }
      return answers;
    };
    const edits = Array.from({ length: 10 }, (_, index) => put(setup.service, id, saying(`write ${index}`)));
    const moves = await Promise.all([move(setup.service, 'production'), move(other, 'staging')]);
    for (const answers of moves) {
      expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200, 200]);
    }
    for (const name of ['production', 'staging']) expect(await movesOf(other, id, name)).toEqual([2, 1, 2, 1, 2, 1]);
    await expectWholeHistory(id, [second, ...(await Promise.all(edits))]);
  });
});

describe('prompts created at the same time in two processes', () => {
  it('get consecutive slugs', async () => {
    const body = { name: 'Two processes', messages: [{ role: 'user', content: 'x' }] };
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        (index % 2 === 0 ? setup.service : other).call('POST', promptsPath, { body }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body: { slug } }) => slug as string)).size).toBe(30);
  });
});

describe('readers', () => {
  it('find every version that was acknowledged while updates continue', async () => {
    const { id } = await create(setup.service);
    let writing = true;
    const writer = (async () => {
      for (let index = 0; index < 40; index += 1) await put(setup.service, id, saying(`write ${index}`));
      writing = false;
    })();
    while (writing) {
      const { body } = await other.call('GET', `${promptsPath}/${id}`);
      for (const version of [body.version, Math.max(1, body.version - 1)]) {
        const found = await other.call('GET', `${promptsPath}/${id}/versions/${version}`);
        expect(found.status).toBe(200);
      }
      const page = await other.call('GET', `${promptsPath}/${id}/versions?limit=100`);
      const { total } = page.body.pagination as { total: number };
      expect(page.body.data.map(({ version }: Version) => version)).toEqual(
        Array.from({ length: total }, (_, index) => total - index),
      );
    }
    await writer;
  });
});

describe('simultaneous reads of many prompts', () => {
  it('give each caller its own prompt, by id and by slug, as the last write left it', async () => {
    const prompts = await Promise.all(Array.from({ length: 40 }, () => create(setup.service)));
    await Promise.all(prompts.map(({ id }) => put(setup.service, id, saying(`of ${id}`))));
    const absent = { id: randomUUID(), slug: 'nothing-has-this-slug' };
    const keys = [...prompts, absent].flatMap(({ id, slug }) => [id, slug, slug]);
    const answers = await Promise.all(keys.map((key) => setup.service.call('GET', `${promptsPath}/${key}`)));
    const found = answers.map(({ status, body }) => (status === 200 ? (body.messages[0].content as string) : status));
    expect(found).toEqual([...prompts.flatMap(({ id }) => Array(3).fill(`of ${id}`)), 404, 404, 404]);
  });
});
