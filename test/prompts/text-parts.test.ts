/** What providers get of messages with several texts, from each of the APIs that callers use. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { vendors } from '../../src/models/vendors/index.ts';
import { startMockProvider, type MockProvider } from '../support/mock-provider.ts';
import { startInvokeHarness, type InvokeHarness } from './invoke/invoke-harness.ts';

let vendor: MockProvider;
let harness: InvokeHarness;
beforeAll(async () => {
  vendor = await startMockProvider();
  const settings = vendors.flatMap(({ variables }) => variables.map(({ name, setting }) => [name, valueOf(setting)]));
  harness = await startInvokeHarness({ environment: Object.fromEntries(settings) as Record<string, string> });
});
afterAll(async () => {
  await harness.close();
  await vendor.close();
});
afterEach(() => {
  vendor.reset();
  harness.mock.reset();
});

function valueOf(setting: string): string {
  if (setting === 'baseUrl') return vendor.url;
  return setting === 'region' ? 'eu-central-1' : 'of-the-tests';
}

const kinds = ['system', 'user', 'assistant', 'tool'] as const;
type Kind = (typeof kinds)[number];

const textsOf = (kind: Kind): string[] => [`One ${kind}.`, `Two ${kind}.`];
const partsOf = (kind: Kind, type = 'text'): object[] => textsOf(kind).map((text) => ({ type, text }));

const schema = { type: 'object', properties: {} };
const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };

/** The same conversation in each API. */
const apis: Record<string, object> = {
  '/v1/chat/completions': {
    messages: [
      { role: 'system', content: partsOf('system') },
      { role: 'user', content: partsOf('user') },
      { role: 'assistant', content: partsOf('assistant') },
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: partsOf('tool') },
    ],
    tools: [{ type: 'function', function: { name: 'look', parameters: schema } }],
  },
  '/v1/responses': {
    input: [
      { role: 'system', content: partsOf('system', 'input_text') },
      { role: 'user', content: partsOf('user', 'input_text') },
      { role: 'assistant', content: partsOf('assistant', 'output_text') },
      { role: 'user', content: 'Look.' },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: partsOf('tool', 'input_text') },
    ],
    tools: [{ type: 'function', name: 'look', parameters: schema }],
  },
  '/v1/messages': {
    max_tokens: 100,
    system: partsOf('system'),
    messages: [
      { role: 'user', content: partsOf('user') },
      { role: 'assistant', content: partsOf('assistant') },
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: partsOf('tool') }] },
    ],
    tools: [{ name: 'look', input_schema: schema }],
  },
};

/** The messages whose texts a provider gets as parts; elsewhere only those of users. */
const inParts: Record<string, readonly Kind[]> = {
  anthropic: kinds,
  'amazon-bedrock': kinds,
  google: ['system', 'user', 'assistant'],
  xai: ['user', 'assistant', 'tool'],
  cohere: [],
  deepseek: [],
};

/** What the provider got. */
function sent(): Record<string, unknown> {
  const requests = [...vendor.requests, ...harness.mock.requests];
  expect(requests).toHaveLength(1);
  return requests[0]?.body ?? {};
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

describe.each(Object.entries(apis))('%s', (path, body) => {
  it.each([...vendors.map(({ id }) => id), 'mock'])('gives %s each text as a part, or as a paragraph', async (id) => {
    const answer = await harness.service.call('POST', path, { body: { model: `${id}/model-a`, ...body } });
    expect([answer.status, answer.body.error ?? undefined]).toEqual([200, undefined]);
    const got = stringsIn(sent());
    for (const kind of kinds) {
      const expected = (inParts[id] ?? ['user']).includes(kind) ? textsOf(kind) : [textsOf(kind).join('\n\n')];
      expect(got.filter((text) => text.includes(`${kind}.`))).toEqual(expected);
    }
  });

  it('answers with paragraphs as echo', async () => {
    const { status, body: answer } = await harness.service.call('POST', path, {
      body: { model: 'echo/echo-1', ...body, tools: [] },
    });
    expect(status).toBe(200);
    expect(stringsIn(answer)).toContain(textsOf('tool').join('\n\n'));
  });
});

describe('the texts of an assistant', () => {
  const create = async (model: string, content: readonly object[]): Promise<void> => {
    const messages = [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'Sun' }] },
    ];
    const tools = [{ name: 'look', input_schema: schema }];
    const body = { model, max_tokens: 100, messages: content.length > 2 ? messages : messages.slice(0, 2), tools };
    expect((await harness.service.call('POST', '/v1/messages', { body })).status).toBe(200);
  };

  it('around a call are paragraphs where they become one text', async () => {
    const content = [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'call_1', name: 'look', input: {} },
      { type: 'text', text: 'I wait.' },
    ];
    await create('openai/gpt-4.1', content);
    expect(sent()).toMatchObject({ messages: [{}, { content: 'I look.\n\nI wait.' }, {}] });
  });

  it('are one text that citations have cut', async () => {
    const cited = { citations: [{ type: 'char_location', cited_text: 'Bern', document_index: 0 }] };
    await create('openai/gpt-4.1', [
      { type: 'text', text: 'It is ' },
      { type: 'text', text: 'Bern', ...cited },
    ]);
    expect(sent()).toMatchObject({ messages: [{}, { content: 'It is Bern' }] });
  });

  it('that are empty are no paragraphs', async () => {
    await create('openai/gpt-4.1', [
      { type: 'text', text: '' },
      { type: 'text', text: 'Bern' },
    ]);
    expect(sent()).toMatchObject({ messages: [{}, { content: 'Bern' }] });
  });
});
