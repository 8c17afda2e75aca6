import { afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { setUp } from '../../support/per-operation.ts';
import { send } from './mcp-harness.ts';

const setup = setUp();
const warnings: Error[] = [];
const warned = (warning: Error): void => void warnings.push(warning);

beforeAll(async () => {
  for (let begin = 0; begin < 400; begin += 20) {
    const created = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const body = { name: `Silent ${begin + index}`, messages: [{ role: 'user', content: 'Hello' }] };
        return setup.service.call('POST', '/api/v1/prompts', { body });
      }),
    );
    expect(created.map(({ status }) => status)).toEqual(created.map(() => 201));
  }
});
beforeEach(() => {
  process.on('warning', warned);
});
afterEach(() => {
  process.off('warning', warned);
  warnings.length = 0;
});

it('lists for many callers at once where few prompts have a description', async () => {
  // More than places of the queue of lists, each with several pages of `listPrompts`.
  const answers = await Promise.all(Array.from({ length: 30 }, () => send(setup.service, 'prompts/list')));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const other = await setup.service.call('GET', '/api/v1/prompts?limit=1');
  expect([other.status, warnings.map(({ name }) => name)]).toEqual([200, []]);
});

it('reads few prompts for a page, and goes on with the next one', async () => {
  let pages = 0;
  let cursor: string | undefined;
  do {
    const { status, body } = await send(setup.service, 'prompts/list', cursor === undefined ? {} : { cursor });
    expect([status, body.result.prompts]).toEqual([200, []]);
    cursor = body.result.nextCursor;
    pages += 1;
  } while (cursor !== undefined);
  expect(pages).toBe(3);
});
