/** What goes over the wire to each provider for a request with everything. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { AnswerPart, GenerateRequest, Message } from '../../src/models/language-model.ts';
import { provider, remoteIds, request, startHarness, type Harness } from './providers-harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterEach(() => {
  harness.mock.reset();
});
afterAll(async () => {
  await harness.close();
});

/** Sends a request, and returns the body that the provider got. */
async function send(id: string, changes: Partial<GenerateRequest>, model = 'llama'): Promise<Record<string, unknown>> {
  await provider(harness.registry, id).generate(request(model, changes));
  expect(harness.mock.requests).toHaveLength(1);
  return harness.mock.requests[0]?.body ?? {};
}

const pixel = 'iVBORw0KGgo=';
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const;

const conversation: Message[] = [
  { role: 'developer', content: 'Be brief.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'Where is this?' },
      { type: 'image', url: `data:image/png;base64,${pixel}` },
    ],
  },
  {
    role: 'assistant',
    content: [
      { type: 'tool-call', id: 'call_1', name: 'weather', arguments: '{"city": "Bern"}' },
      { type: 'tool-call', id: 'call_2', name: 'time', arguments: '' },
    ],
  },
  { role: 'tool', toolCallId: 'call_1', toolName: 'weather', content: 'Sunny' },
  { role: 'tool', toolCallId: 'call_2', toolName: 'time', content: '{"hour": 12}' },
];

const everything: Partial<GenerateRequest> = {
  messages: conversation,
  parameters: {
    temperature: 0.5,
    top_p: 0.9,
    max_output_tokens: 50,
    stop: ['END'],
    seed: 7,
    parallel_tool_calls: false,
  },
  responseFormat: { type: 'json', schema, name: 'place', description: 'A place', strict: true },
  tools: [{ name: 'weather', description: 'The weather', parameters: schema }],
  toolChoice: { name: 'weather' },
};

const chatMessages = (image: unknown): unknown => [
  { role: 'system', content: 'Be brief.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'Where is this?' },
      { type: 'image_url', image_url: image },
    ],
  },
  {
    role: 'assistant',
    tool_calls: [
      { id: 'call_1', function: { name: 'weather', arguments: '{"city": "Bern"}' } },
      { id: 'call_2', function: { name: 'time', arguments: '{}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'Sunny' },
  { role: 'tool', tool_call_id: 'call_2', content: '{"hour": 12}' },
];
const image = { url: `data:image/png;base64,${pixel}` };
const chatTools = [{ type: 'function', function: { name: 'weather', description: 'The weather', parameters: schema } }];
const chatFormat = {
  type: 'json_schema',
  json_schema: { name: 'place', description: 'A place', schema, strict: true },
};
const openai = {
  messages: chatMessages(image),
  temperature: 0.5,
  top_p: 0.9,
  max_tokens: 50,
  stop: ['END'],
  seed: 7,
  parallel_tool_calls: false,
  response_format: chatFormat,
  tools: chatTools,
  tool_choice: { type: 'function', function: { name: 'weather' } },
};

/** Where it is not that of OpenAI. */
const bodies: Record<string, object> = {
  local: { ...openai, response_format: { type: 'json_object' } },
  mistral: {
    messages: chatMessages(image.url),
    random_seed: 7,
    stop: ['END'],
    parallel_tool_calls: false,
    response_format: chatFormat,
    tools: chatTools,
    tool_choice: { type: 'function', function: { name: 'weather' } },
  },
  groq: {
    messages: chatMessages(image),
    seed: 7,
    stop: ['END'],
    parallel_tool_calls: false,
    // Groq has no format beside tools. The package makes the format one of the tools.
    tools: [...chatTools, { function: { name: 'json', parameters: schema } }],
    tool_choice: { type: 'function', function: { name: 'weather' } },
  },
  deepseek: {
    messages: [{ role: 'system' }, ...(chatMessages(image) as unknown[])],
    response_format: { type: 'json_object' },
    tools: chatTools,
    tool_choice: { type: 'function', function: { name: 'weather' } },
  },
  xai: {
    input: [
      { role: 'system', content: 'Be brief.' },
      { content: [{ type: 'input_text' }, { type: 'input_image', image_url: image.url }] },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city": "Bern"}' },
      { type: 'function_call', call_id: 'call_2', name: 'time', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'Sunny' },
      { type: 'function_call_output', call_id: 'call_2', output: '{"hour": 12}' },
    ],
    max_output_tokens: 50,
    seed: 7,
    store: false,
    parallel_tool_calls: false,
    text: { format: { type: 'json_schema', strict: true, name: 'place', schema } },
    tools: [{ type: 'function', name: 'weather', parameters: schema }],
    tool_choice: { type: 'function', name: 'weather' },
  },
  anthropic: {
    system: [{ text: 'Be brief.' }],
    messages: [
      {
        role: 'user',
        content: [{ type: 'text' }, { type: 'image', source: { media_type: 'image/png', data: pixel } }],
      },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Bern' } },
          { type: 'tool_use', id: 'call_2', name: 'time', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: 'Sunny' },
          { type: 'tool_result', tool_use_id: 'call_2', content: '{"hour": 12}' },
        ],
      },
    ],
    max_tokens: 50,
    stop_sequences: ['END'],
    tool_choice: { disable_parallel_tool_use: true },
  },
  google: {
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      { role: 'user', parts: [{ text: 'Where is this?' }, { inlineData: { mimeType: 'image/png', data: pixel } }] },
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'weather', args: { city: 'Bern' } } },
          { functionCall: { name: 'time', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'weather', response: { content: 'Sunny' } } },
          { functionResponse: { name: 'time', response: { content: '{"hour": 12}' } } },
        ],
      },
    ],
    generationConfig: { maxOutputTokens: 50, stopSequences: ['END'], seed: 7, responseJsonSchema: schema },
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['weather'] } },
  },
  'amazon-bedrock': {
    system: [{ text: 'Be brief.' }],
    messages: [
      { role: 'user', content: [{ text: 'Where is this?' }, { image: { format: 'png', source: { bytes: pixel } } }] },
      { role: 'assistant', content: [{ toolUse: { input: { city: 'Bern' } } }, { toolUse: { input: {} } }] },
      { role: 'user', content: [{ toolResult: { content: [{ text: 'Sunny' }] } }, { toolResult: {} }] },
    ],
    inferenceConfig: { maxTokens: 50, stopSequences: ['END'] },
  },
  cohere: {
    messages: chatMessages(image),
    seed: 7,
    stop_sequences: ['END'],
    response_format: { type: 'json_object', json_schema: schema },
    tools: chatTools,
    tool_choice: 'REQUIRED',
  },
};

describe.each([...remoteIds, 'local'])('%s', (id) => {
  it('gets everything that it has a member for', async () => {
    expect(await send(id, everything)).toMatchObject(bodies[id] ?? openai);
  });

  it.each(['image/jpg', 'IMAGE/PJPEG'])('gets %s as the type that is registered', async (type) => {
    const url = `data:${type};base64,/9j/4AAQ`;
    const body = JSON.stringify(await send(id, { messages: [{ role: 'user', content: [{ type: 'image', url }] }] }));
    expect(body).toMatch(id === 'amazon-bedrock' ? /"format":"jpeg"/ : /"?image\/jpeg/);
    expect(body).not.toContain(type);
  });

  it('gets none of these for a request without them', async () => {
    const body = JSON.stringify(await send(id, {}));
    for (const name of ['tool', 'format', 'temperature', 'seed', 'schema']) expect(body).not.toContain(name);
  });

  it('gets no metadata and reasoning of another provider', async () => {
    const signed = { thoughtSignature: 'SIG' };
    const content: AnswerPart[] = [
      { type: 'thinking', text: 'THOUGHT', provider_metadata: { provider: 'other', signature: signed } },
      { type: 'text', text: 'Look' },
      {
        type: 'tool-call',
        id: 'call_1',
        name: 'weather',
        arguments: '{}',
        provider_metadata: { provider: 'other', call: signed },
      },
    ];
    const messages: Message[] = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content },
      { role: 'tool', toolCallId: 'call_1', toolName: 'weather', content: 'Sunny' },
    ];
    const body = JSON.stringify(await send(id, { ...everything, messages }));
    expect(body).toContain('Sunny');
    expect(body).not.toMatch(/SIG|THOUGHT/);
  });
});

describe('the name and description of a schema', () => {
  const described = { type: 'json', schema, name: 'place', description: 'A place' } as const;

  it.each(['anthropic', 'google', 'amazon-bedrock', 'cohere'])('are in the schema for %s', async (id) => {
    const body = JSON.stringify(await send(id, { responseFormat: described }));
    expect(body).toContain('"title":"place"');
    expect(body).toContain('"description":"A place"');
    harness.mock.reset();
    const own = { ...described, schema: { ...schema, title: 'Own', description: 'Its own' } };
    const kept = JSON.stringify(await send(id, { responseFormat: own }));
    expect(kept).toContain('"title":"Own"');
    expect(kept).not.toContain('A place');
  });

  it.each(['openai', 'azure', 'mistral', 'groq', 'xai'])('are beside the schema for %s', async (id) => {
    const body = JSON.stringify(await send(id, { responseFormat: described }));
    expect(body).toContain('"name":"place"');
    expect(body).toContain('"description":"A place"');
    expect(body).not.toContain('"title"');
  });
});

describe('strict schemas', () => {
  it.each(['openai', 'azure', 'mistral', 'groq'])('are not assumed for %s', async (id) => {
    const body = await send(id, { responseFormat: { type: 'json', schema } });
    expect(body).toMatchObject({ response_format: { json_schema: { strict: false } } });
  });

  it('go to servers that accept them', async () => {
    const server = { id: 'own', name: 'Own', baseUrl: harness.mock.url, models: ['a'], structuredOutputs: true };
    const registry = harness.with({ settings: { compatible: [server] } });
    await provider(registry, 'own').generate(request('a', { responseFormat: { type: 'json', schema, strict: true } }));
    expect(harness.mock.requests[0]?.body).toMatchObject({
      response_format: { json_schema: { schema, strict: true } },
    });
  });
});

describe('the reasoning effort', () => {
  it.each([
    ['openai', 'gpt-5.4', { reasoning_effort: 'high' }],
    ['azure', 'gpt-5.4', { reasoning_effort: 'high' }],
    ['local', 'llama', { reasoning_effort: 'high' }],
    ['xai', 'grok-4.3', { reasoning: { effort: 'high' } }],
    ['deepseek', 'deepseek-v4-pro', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
    ['google', 'gemini-3-pro', { generationConfig: { thinkingConfig: { thinkingLevel: 'high' } } }],
    ['groq', 'openai/gpt-oss-120b', { reasoning_effort: 'high' }],
  ])('goes to %s for %s', async (id, model, expected) => {
    expect(await send(id, { parameters: { reasoning_effort: 'high' } }, model)).toMatchObject(expected);
  });
});

describe('messages', () => {
  it('of a developer move to the front where system messages do', async () => {
    const messages: Message[] = [
      { role: 'user', content: 'Hi' },
      { role: 'developer', content: 'Rule' },
    ];
    expect(await send('anthropic', { messages })).toMatchObject({ system: [{ text: 'Rule' }], messages: [{}] });
  });
});
