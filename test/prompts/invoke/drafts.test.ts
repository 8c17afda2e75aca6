import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { counting } from '../../accounting/statistics/statistics-harness.ts';
import { until } from '../../support/until.ts';
import type { Answer } from '../../support/service.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from './invoke-harness.ts';

let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness(counting);
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(() => harness.close());

const said = (content: string): object[] => [{ role: 'user', content }];
const sent = (): Record<string, unknown> => harness.mock.requests.at(-1)?.body ?? {};
const render = (slug: string, body: object): Promise<Answer> =>
  harness.service.call('POST', `/api/v1/prompts/${slug}/render`, { body });
const operations = [
  ['an invocation', (slug: string, body: object): Promise<Answer> => harness.invoke(slug, body)],
  ['a preview', render],
] as const;

describe('a draft', () => {
  it('runs in place of what is stored, which stays', async () => {
    const slug = await harness.createPrompt({ parameters: { temperature: 0.5, seed: 7 } });
    const stored = (await harness.service.call('GET', `/api/v1/prompts/${slug}`)).body;
    const draft = {
      messages: said('Good day {{title}} {{name}}'),
      variables: { title: { default: 'Dr.' } },
      selected_provider: 'spare',
      selected_model: 'spare-a',
      parameters: { temperature: 1 },
    };
    const answer = await harness.invoke(slug, { draft, variables: { name: 'Ada' } });
    expect(answer.headers).toMatchObject({ 'x-provider': 'spare', 'x-served-version': '1' });
    // A change of the parameters replaces all of them, as when it is saved; those of the request are merged.
    expect(sent()).toEqual({ model: 'spare-a', messages: said('Good day Dr. Ada'), temperature: 1 });
    await harness.invoke(slug, { draft, variables: { name: 'Ada' }, parameters: { seed: 1 }, provider: 'mock' });
    expect(sent()).toMatchObject({ model: 'model-a', temperature: 1, seed: 1 });
    expect((await harness.service.call('GET', `/api/v1/prompts/${slug}`)).body).toEqual(stored);
  });

  it('is shown by a preview, with what it leaves out from the version', async () => {
    const slug = await harness.createPrompt({ tools: [{ name: 'now', parameters: { type: 'object' } }] });
    await harness.service.call('PUT', `/api/v1/prompts/${slug}`, { body: { messages: said('Bye {{name}}') } });
    const both = { draft: { tools: null }, version: 1, variables: { name: 'Ada' } };
    const { body } = await render(slug, both);
    expect(body).toMatchObject({ version: 1, messages: said('Hello Ada') });
    expect(body).not.toHaveProperty('tools');
    expect((await render(slug, { draft: {}, variables: { name: 'Ada' } })).body).toMatchObject({
      version: 2,
      tools: [{ name: 'now' }],
    });
  });

  it('is streamed', async () => {
    const draft = { messages: said('Stream this') };
    const answer = await harness.invoke(await harness.createPrompt(), { draft, stream: true });
    expect([answer.status, sent()]).toMatchObject([200, { messages: said('Stream this') }]);
  });

  it('has a record, and is counted for the prompt, but not for a version', async () => {
    const slug = await harness.createPrompt();
    const { headers } = await harness.invoke(slug, { draft: { messages: said('Tried') } });
    const id = headers['x-invocation-id'] ?? '';
    const record = (await harness.service.call('GET', `/api/v1/invocations/${id}`)).body;
    expect(record).toMatchObject({ prompt_slug: slug, status: 'succeeded' });
    expect(record).not.toHaveProperty('prompt_version');
    await harness.service.call('POST', `/api/v1/invocations/${id}/feedback`, { body: { score: 1 } });
    const { body } = await until(
      () => harness.service.call('GET', `/api/v1/prompts/${slug}/statistics`),
      ({ body: { totals } }) => totals.invocations === 1 && totals.feedback !== undefined,
    );
    expect(body.versions).toEqual([]);
  });
});

it.each(operations)('403: %s needs the scope prompts:write for it', async (_, call) => {
  const slug = await harness.createPrompt();
  expect((await call(slug, { draft: {} })).status).toBe(200);
  const key = await harness.service.createKey('prompts:read', 'prompts:invoke', 'providers:invoke');
  for (const operation of ['invoke', 'render']) {
    const answer = await harness.service.call('POST', `/api/v1/prompts/${slug}/${operation}`, {
      body: { draft: {} },
      key,
    });
    expect(problemOf(answer)).toBe('insufficient-scope');
    expect(answer.body.detail).toContain('prompts:write');
  }
});

describe.each(operations)('422: %s', (_, call) => {
  it.each([
    [
      'invalid-schema',
      { response_format: { type: 'json', schema: { type: 'text' } } },
      '#/draft/response_format/schema/type',
    ],
    ['inconsistent-content', { tool_choice: { name: 'now' } }, '#/draft/tool_choice/name'],
    ['unknown-provider', { fallbacks: [{ provider: 'nobody' }] }, '#/draft/fallbacks/0/provider'],
  ])('is %s with the place in the draft', async (problem, draft, pointer) => {
    const answer = await call(await harness.createPrompt(), { draft });
    expect([answer.status, problemOf(answer)]).toEqual([422, problem]);
    expect(answer.body.errors).toMatchObject([{ pointer }]);
    expect(harness.mock.requests).toHaveLength(0);
  });

  it('names the variables that the draft needs', async () => {
    const answer = await call(await harness.createPrompt(), { draft: { messages: said('{{city}} {{name|x}}') } });
    expect(problemOf(answer)).toBe('missing-variables');
    expect(answer.body.variables).toEqual(['city']);
  });
});

it('400 for what is not content', async () => {
  const answer = await harness.invoke(await harness.createPrompt(), { draft: { name: 'Other' } });
  expect(problemOf(answer)).toBe('invalid-request');
  expect(answer.body.errors).toMatchObject([{ pointer: '#/draft/name' }]);
});
