import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createBudgetFeature } from '../../../src/accounting/budgets/feature.ts';
import { createInvocationId } from '../../../src/accounting/invocations/invocation-id.ts';
import { createInvocationFeature } from '../../../src/accounting/invocations/feature.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { system } from '../../../src/base/runtime/system.ts';
import { createSecretBox } from '../../../src/base/secrets/secret-box.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import { openDatabaseOf, startAnother } from '../../support/per-operation.ts';
import type { Answer, CallOptions } from '../../support/service.ts';

let harness: InvokeHarness;
const lines: string[] = [];
beforeAll(async () => {
  const environment = { INVOCATION_CONTENT: 'all', SECRETS_KEY: randomBytes(32).toString('hex') };
  harness = await startInvokeHarness({
    environment,
    log: createLogger('trace', { write: (line) => void lines.push(line) }),
  });
});
afterAll(() => harness.close());
beforeEach(() => {
  harness.mock.reset();
});

const path = '/api/v1/invocations';
const idOf = ({ headers }: Pick<Answer, 'headers'>): string => headers['x-invocation-id'] ?? '';
const read = (id: string, options: CallOptions = {}): Promise<Answer> =>
  harness.service.call('GET', `${path}/${id}/content`, options);
const contentOf = async (answer: Pick<Answer, 'headers'>): Promise<Answer['body']> => {
  const { status, body } = await read(idOf(answer));
  expect(status).toBe(200);
  return body;
};
const image = `data:image/png;base64,${'A'.repeat(400)}`;

describe('200', () => {
  it('has the messages with their variables, the parameters and the answer', async () => {
    const slug = await harness.createPrompt({ parameters: { temperature: 0.5 } });
    const answer = await harness.invoke(slug, { variables: { name: 'Ada' } });
    expect(await contentOf(answer)).toEqual({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello Ada' }] }],
      prompt_messages: 1,
      variables: { name: 'Ada' },
      parameters: { temperature: 0.5 },
      answer: { content: [{ type: 'text', text: 'Hello from model-a.' }] },
    });
    const record = await harness.service.call('GET', `${path}/${idOf(answer)}`);
    expect(record.body.content_kept).toBe(true);
  });

  it('has the values that were filled in, of any type and on every path', async () => {
    const slug = await harness.createPrompt({
      messages: [{ role: 'user', content: '{{name}} {{more|-}} {{none|-}}' }],
    });
    const variables = { name: 'Ada', more: { deep: [1, true, null] }, none: null, ignored: 'not in the prompt' };
    const kept = { name: 'Ada', more: { deep: [1, true, null] } };
    expect((await contentOf(await harness.invoke(slug, { variables }))).variables).toEqual(kept);
    const body = { prompt: { id: slug, variables: { name: 'Ada' } } };
    const answer = await harness.service.call('POST', '/v1/responses', { body });
    expect((await contentOf(answer)).variables).toEqual({ name: 'Ada' });
    expect(await contentOf(await harness.invoke(await harness.createPrompt()))).not.toHaveProperty('variables');
  });

  it('says how many messages are those of the prompt; without one it does not', async () => {
    const messages = [{ role: 'user', content: 'And since when?' }];
    const content = await contentOf(await harness.invoke(await harness.createPrompt(), { messages }));
    expect([content.messages.length, content.prompt_messages]).toEqual([2, 1]);
    const body = { model: 'mock/model-a', messages };
    const direct = await contentOf(await harness.service.call('POST', '/v1/chat/completions', { body }));
    expect(direct).not.toHaveProperty('prompt_messages');
  });

  it('has no values that are too long to be kept beside the messages', async () => {
    const variables = { name: 'A'.repeat(200_000) };
    const content = await contentOf(await harness.invoke(await harness.createPrompt(), { variables }));
    expect(content).toMatchObject({ truncated: true });
    expect(content).not.toHaveProperty('variables');
  });

  it('has a stream, also one that breaks off', async () => {
    const whole = await harness.invoke(await harness.createPrompt(), { stream: true });
    expect((await contentOf(whole)).answer).toEqual({ content: [{ type: 'text', text: 'Hello from model-a.' }] });
    const cut = await harness.invoke(await harness.createPrompt({ selected_model: 'mock-cut' }), { stream: true });
    expect((await contentOf(cut)).answer).toEqual({ content: [{ type: 'text', text: 'Hello from' }] });
  });

  it('has calls of tools, and names images', async () => {
    const tools = [{ type: 'function', function: { name: 'get_time', parameters: { type: 'object' } } }];
    const parts = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: image } },
    ];
    const call = { id: 'call_0', type: 'function', function: { name: 'get_time', arguments: '{"zone":"UTC"}' } };
    const messages = [
      { role: 'user', content: parts },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_0', content: '12:00' },
    ];
    const body = { model: 'mock/mock-tools', messages, tools };
    const content = await contentOf(await harness.service.call('POST', '/v1/chat/completions', { body }));
    expect(content).toMatchObject({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', url: `image/png, ${image.length} characters` },
          ],
        },
        {
          role: 'assistant',
          content: [{ type: 'tool-call', id: 'call_0', name: 'get_time', arguments: '{"zone":"UTC"}' }],
        },
        { role: 'tool', content: [{ type: 'text', text: '12:00' }], tool_call_id: 'call_0' },
      ],
      tools: [{ name: 'get_time' }],
      answer: { content: [{ type: 'text' }, { name: 'get_weather' }, { name: 'get_time' }] },
    });
  });

  it('has an answer that broke its schema', async () => {
    const answer = await harness.invoke(await harness.createPrompt({ response_format: { type: 'json' } }));
    expect(problemOf(answer)).toBe('provider-bad-answer');
    expect(await contentOf(answer)).toMatchObject({
      response_format: { type: 'json' },
      answer: { content: [{ type: 'text', text: 'Hello from model-a.' }] },
    });
  });

  it('has the calls of a test run', async () => {
    const body = { providers: [{ provider: 'mock' }], variables: { name: 'Grace' } };
    const run = await harness.service.call('POST', `/api/v1/prompts/${await harness.createPrompt()}/test`, { body });
    const { invocation_id: id } = run.body.results[0];
    expect((await read(id)).body).toMatchObject({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello Grace' }] }],
      variables: { name: 'Grace' },
    });
  });

  it('has the begin of the answer and the last messages of a request that is too long', async () => {
    const messages = [
      { role: 'user', content: 'first'.repeat(60_000) },
      { role: 'user', content: 'last' },
    ];
    const content = await contentOf(await harness.invoke(await harness.createPrompt(), { messages }));
    expect(content).toMatchObject({
      answer: { content: [{ type: 'text', text: 'Hello from model-a.' }] },
      truncated: true,
    });
    expect(content.messages.at(-1).content).toEqual([{ type: 'text', text: 'last' }]);
    expect(JSON.stringify(content).length).toBeLessThan(262_144);
  });

  it('is recorded in the audit log, which does not have it', async () => {
    const answer = await harness.invoke(await harness.createPrompt(), { variables: { name: 'Ada' } });
    await read(idOf(answer), { headers: { 'X-Request-Id': 'reading' } });
    const { body } = await harness.service.call('GET', `/api/v1/audit-log?resource_id=${idOf(answer)}`);
    expect(body.data).toMatchObject([
      { operation: 'getInvocationContent', resource_type: 'invocation', request_id: 'reading' },
    ]);
    expect(JSON.stringify(body)).not.toContain('Ada');
  });

  it('is nowhere in the log or the database as text', async () => {
    await harness.invoke(await harness.createPrompt(), { variables: { name: 'a well-kept secret' } });
    await harness.service.call('GET', `${path}/${idOf(await harness.invoke(await secretPrompt()))}`);
    const database = await openDatabaseOf(harness.service);
    const found: string[] = [];
    for (const { name } of await database.db.listCollections().toArray()) {
      if (name === 'prompts') continue;
      const documents = await database.db.collection(name).find().toArray();
      if (JSON.stringify(documents).includes('a well-kept secret')) found.push(name);
    }
    await database.close();
    expect(found).toEqual([]);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join('')).not.toContain('a well-kept secret');
  });
});

function secretPrompt(): Promise<string> {
  return harness.createPrompt({ messages: [{ role: 'user', content: 'a well-kept secret' }] });
}

describe('500', () => {
  it('if the key of the service is another one', async () => {
    const answer = await harness.invoke(await harness.createPrompt());
    await contentOf(answer);
    const environment = { SECRETS_KEY: randomBytes(32).toString('hex') };
    const other = await startAnother(harness.service, environment);
    expect(problemOf(await other.call('GET', `${path}/${idOf(answer)}/content`))).toBe('secret-unreadable');
    await other.close();
  });
});

describe('404', () => {
  it.each([
    ['off', 'model-a', false],
    ['off', 'mock-400', false],
    ['errors', 'model-a', false],
    ['errors', 'mock-400', true],
    ['all', 'model-a', true],
  ])('with %s of the prompt, of %s it is kept: %s', async (invocation_content, selected_model, isKept) => {
    const slug = await harness.createPrompt({ invocation_content, selected_model });
    const id = idOf(await harness.invoke(slug));
    expect((await harness.service.call('GET', `${path}/${id}`)).body.content_kept).toBe(isKept ? true : undefined);
    const answer = await read(id);
    if (isKept) expect(answer.status).toBe(200);
    else expect(problemOf(answer)).toBe('invocation-content-not-found');
  });

  it('with a stricter setting of the service', async () => {
    const slug = await harness.createPrompt({ invocation_content: 'all' });
    const models = JSON.parse(harness.service.environment['OPENAI_COMPATIBLE_PROVIDERS'] ?? '') as unknown;
    const environment = { INVOCATION_CONTENT: 'errors', OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify(models) };
    const other = await startAnother(harness.service, environment);
    const answer = await other.call('POST', `/api/v1/prompts/${slug}/invoke`, { body: {} });
    const refused = await other.call('GET', `${path}/${idOf(answer)}/content`);
    expect(problemOf(refused)).toBe('invocation-content-not-found');
    await other.close();
  });

  it('of a request that was refused before a call, or that the log does not have', async () => {
    expect(problemOf(await read(idOf(await harness.invoke('nothing-here'))))).toBe('invocation-content-not-found');
    const unknown = createInvocationId(new Date(), '5d9f1b7e-8c24-4a63-b0f1-9e7d2c6a4f38');
    expect(problemOf(await read(unknown))).toBe('invocation-not-found');
  });
});

describe('403', () => {
  it('without its own scope', async () => {
    const key = await harness.service.createKey('invocations:read', 'prompts:invoke', 'audit:read');
    const id = idOf(await harness.invoke(await harness.createPrompt()));
    expect(problemOf(await read(id, { key }))).toBe('insufficient-scope');
  });
});

it('is not answered if its reading cannot be recorded', async () => {
  const id = idOf(await harness.invoke(await harness.createPrompt()));
  expect((await read(id)).status).toBe(200);
  const database = await openDatabaseOf(harness.service);
  const away = { insertMany: () => Promise.reject(new Error('the audit log is away')) };
  const collection = (name: string) => (name === 'audit_log' ? away : database.db.collection(name));
  const db = Object.create(database.db, { collection: { value: collection } }) as typeof database.db;
  const secrets = createSecretBox(Buffer.from(harness.service.environment['SECRETS_KEY'] ?? '', 'hex'));
  const { operations } = createInvocationFeature({
    ...system,
    database: { ...database, db },
    log: createLogger('silent'),
    prices: { quote: () => undefined },
    statistics: { called: () => undefined, recorded: () => undefined, rated: () => undefined },
    budgets: createBudgetFeature({ ...system, database }),
    retentionMs: 1,
    content: { mode: 'all', retentionMs: 1, secrets },
    addedUpUntil: async () => undefined,
  });
  const { getInvocationContent } = operations(
    { recordedId: () => Promise.reject(new Error()) },
    { has: () => Promise.resolve(false), erase: () => Promise.resolve() },
  );
  const context = { operationId: 'getInvocationContent', principal: { keyId: 'k', name: 'K' }, caller: {} };
  const reading = getInvocationContent({ path: { id }, context } as never);
  await expect(reading).rejects.toThrow('the audit log is away');
  await database.close();
});
