import { expect, it } from '@jest/globals';
import { setUp } from '../../support/per-operation.ts';
import { send } from './mcp-harness.ts';

const setup = setUp();

it.each([
  ['tools/call', { name: 'list_prompts' }],
  ['prompts/list', {}],
])('500 without details for a failure of the service: %s', async (method, params) => {
  const { service, database } = setup;
  const body = { name: 'Broken', messages: [{ role: 'user', content: 'Hi' }], description: 'Broken.' };
  const { body: made } = await service.call('POST', '/api/v1/prompts', { body });
  await database.db.collection('prompts').updateOne({ slug: made.slug }, { $unset: { messages: '' } });
  const answer = await send(service, method, params);
  expect([answer.status, answer.body.error.code]).toEqual([500, -32_603]);
  expect(answer.text).not.toMatch(/undefined|TypeError|messages/);
  await database.db.collection('prompts').deleteOne({ slug: made.slug });
});
