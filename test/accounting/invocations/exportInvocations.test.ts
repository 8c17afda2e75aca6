import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import type { InvocationDocument } from '../../../src/accounting/invocations/invocation.ts';
import { createInvocationId, dayOf } from '../../../src/accounting/invocations/invocation-id.ts';
import { setUp } from '../../support/per-operation.ts';

const setup = setUp();
const path = '/api/v1/invocations/export';

/** Stores records of these times. @returns their ids */
async function store(...times: string[]): Promise<string[]> {
  return await storeOf({ author: { type: 'key', id: 'a-key', name: 'A key' } }, ...times);
}

async function storeOf(
  more: Pick<InvocationDocument, 'author' | 'prompt_id'> & Partial<Pick<InvocationDocument, 'status'>>,
  ...times: string[]
): Promise<string[]> {
  const ids: string[] = [];
  for (const time of times) {
    const created_at = new Date(time);
    const _id = createInvocationId(created_at, randomUUID());
    const document: InvocationDocument = {
      _id,
      created_at,
      operation: 'invoke',
      status: 'succeeded',
      request_id: 'a-request',
      streamed: false,
      cached: false,
      attempts: [],
      ...more,
    };
    const day = setup.database.db.collection<InvocationDocument>(`invocations_${dayOf(created_at.getTime())}`);
    await day.insertOne(document);
    ids.push(_id);
  }
  return ids;
}

async function exported(query: string, key = setup.service.adminKey): Promise<string[]> {
  const answer = await setup.service.call('GET', `${path}?${query}`, { key });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('application/jsonl');
  const lines = answer.text.split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => (JSON.parse(line) as { id: string }).id);
}

it('200: all records of all days, the oldest first, and those after one of them', async () => {
  const [first, second, third, fourth] = await store(
    '2026-03-01T23:59:59.998Z',
    '2026-03-01T23:59:59.999Z',
    '2026-03-02T00:00:00.000Z',
    '2026-03-04T12:00:00.000Z',
  );
  expect(await exported('author_id=a-key')).toEqual([first, second, third, fourth]);
  expect(await exported(`author_id=a-key&after=${second}`)).toEqual([third, fourth]);
  expect(await exported('author_id=a-key&since=2026-03-01T23:59:59.999Z&until=2026-03-04')).toEqual([second, third]);
  expect(await exported('author_id=another')).toEqual([]);
});

it('200: canceled ones, whose documents have the other spelling', async () => {
  const author = { type: 'key', id: 'c-key', name: 'A key' } as const;
  const stored = await storeOf({ author, status: 'cancelled' }, '2026-03-01T12:00:00.000Z');
  await storeOf({ author }, '2026-03-01T12:00:00.000Z');
  expect(await exported('author_id=c-key&status=canceled')).toEqual(stored);
  const { body } = await setup.service.call('GET', `/api/v1/invocations/${stored[0]}`);
  expect(body.status).toBe('canceled');
});

it('200: only those of the prompts that a key with limits can reach', async () => {
  const { service } = setup;
  const create = async (name: string): Promise<string> => {
    const messages = [{ role: 'user', content: 'Hello' }];
    const body = { name, messages, selected_provider: 'echo' };
    return (await service.call('POST', '/api/v1/prompts', { body })).body.id as string;
  };
  const [own, foreign] = [await create('Own'), await create('Foreign')];
  const body = { name: 'Narrow', scopes: ['invocations:read'], limits: { prompts: [own] } };
  const { key } = (await service.call('POST', '/api/v1/api-keys', { body })).body as { key: string };
  const times = ['2026-04-01T12:00:00.000Z', '2026-04-02T12:00:00.000Z'];
  const found = await storeOf({ author: { type: 'key', id: 'b-key', name: 'A key' }, prompt_id: own }, ...times);
  const others = await storeOf({ author: { type: 'key', id: 'b-key', name: 'A key' }, prompt_id: foreign }, ...times);
  // Of models that were called directly.
  const direct = await storeOf({ author: { type: 'key', id: 'b-key', name: 'A key' } }, ...times);
  expect(await exported('', key)).toEqual(found);
  expect(await exported(`author_id=b-key&after=${found[0]}`, key)).toEqual([found[1]]);
  expect((await exported('author_id=b-key')).toSorted()).toEqual([...found, ...others, ...direct].toSorted());
  expect(await exported(`prompt=${foreign}`, key)).toEqual([]);
});
