import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import type { InvocationDocument } from '../../src/invocations/invocation.ts';
import { createInvocationId, dayOf } from '../../src/invocations/invocation-id.ts';
import { problem, problemIn, setUp } from '../support/per-operation.ts';

const setup = setUp();
const path = '/api/v1/invocations/export';

/** Stores records of these times. @returns their ids */
async function store(...times: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const time of times) {
    const created_at = new Date(time);
    const _id = createInvocationId(created_at, randomUUID());
    const document: InvocationDocument = {
      _id,
      created_at,
      operation: 'invoke',
      status: 'succeeded',
      key_id: 'a-key',
      key_name: 'A key',
      request_id: 'a-request',
      streamed: false,
      cached: false,
      attempts: [],
    };
    const day = setup.database.db.collection<InvocationDocument>(`invocations_${dayOf(created_at.getTime())}`);
    await day.insertOne(document);
    ids.push(_id);
  }
  return ids;
}

async function exported(query: string): Promise<string[]> {
  const answer = await setup.service.call('GET', `${path}?${query}`);
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
  expect(await exported('key_id=a-key')).toEqual([first, second, third, fourth]);
  expect(await exported(`key_id=a-key&after_id=${second}`)).toEqual([third, fourth]);
  expect(await exported('key_id=a-key&since=2026-03-01T23:59:59.999Z&until=2026-03-04')).toEqual([second, third]);
  expect(await exported('key_id=another')).toEqual([]);
});

it('404: a slug that no prompt has', async () => {
  const { body } = await setup.service.call('GET', `${path}?prompt=nothing-here`);
  expect(problemIn(body)).toBe(problem('prompt-not-found'));
});
