import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../support/service.ts';
import { create, promptBody, promptsPath } from './prompts-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';

const setup = setUp();
const post = (body: unknown): Promise<Answer> => setup.service.call('POST', promptsPath, { body });
const put = (id: string, body: unknown): Promise<Answer> => setup.service.call('PUT', `${promptsPath}/${id}`, { body });

const schema = { type: 'object', properties: { priority: { enum: ['low', 'high'] } }, required: ['priority'] };
const tool = { name: 'find_customer', description: 'Finds a customer', parameters: { type: 'object' }, strict: true };
const generation = {
  parameters: {
    temperature: 0.2,
    top_p: 0.9,
    top_k: 40,
    max_output_tokens: 500,
    stop: ['###', '\n\n'],
    seed: 7,
    presence_penalty: -0.5,
    frequency_penalty: 2,
    reasoning_effort: 'low',
    parallel_tool_calls: false,
  },
  response_format: { type: 'json', schema, name: 'triage', description: 'A priority', strict: true },
  tools: [tool, { name: 'now', parameters: {} }],
  tool_choice: { name: 'now' },
  provider_options: { anthropic: { effort: 'low' } },
  fallbacks: [{ provider: 'anthropic' }, { provider: 'echo', model: 'echo-upper' }],
  retries: 1,
};
const parts = [
  { type: 'text', text: 'What is in {{picture}}?' },
  { type: 'image', url: 'https://images.example.com/{{picture}}.png' },
];
const changes: [string, unknown][] = [
  ['parameters', { temperature: 0.3 }],
  ['response_format', { type: 'text' }],
  ['tools', [{ ...tool, name: 'now' }]],
  ['tool_choice', 'none'],
  ['provider_options', { anthropic: { effort: 'high' } }],
  ['fallbacks', [{ provider: 'echo' }]],
];

describe('a prompt', () => {
  it('keeps how it generates, and the parts of its messages', async () => {
    const sent = promptBody({ ...generation, messages: [{ role: 'user', content: parts }] });
    const { status, body } = await post({ ...sent, variables: { picture: {} } });
    expect(status).toBe(201);
    expect(body).toMatchObject(sent);
    const { body: stored } = await setup.service.call('GET', `${promptsPath}/${body.id}`);
    expect(stored).toEqual(body);
    const { body: version } = await setup.service.call('GET', `${promptsPath}/${body.id}/versions/1`);
    expect(version).toMatchObject({ ...generation, messages: sent.messages });
    const again = await put(body.id as string, stored);
    expect(again).toMatchObject({ status: 200, body: { version: 1, updated_at: body.updated_at } });
  });

  it.each(changes)('gets a version by a change of %s, and loses the field by null', async (name, value) => {
    const { id, body: before } = await create(setup.service, generation);
    const changed = await put(id, { [name]: value });
    expect(changed.body).toMatchObject({ version: 2, [name]: value });
    // A choice names one of the tools, so it goes first.
    const cleared = await put(id, { tool_choice: null, [name]: null });
    expect(cleared.body.version).toBe(3);
    expect(cleared.body).not.toHaveProperty(name);
    const restored = await setup.service.call('POST', `${promptsPath}/${id}/versions/1/restore`);
    expect(restored.body).toMatchObject({ version: 4, [name]: before[name] });
  });

  it('gets a version by a change of retries, and loses them by 0', async () => {
    const { id } = await create(setup.service, generation);
    expect((await put(id, { retries: 2 })).body).toMatchObject({ version: 2, retries: 2 });
    const { body: cleared } = await put(id, { retries: 0 });
    expect(cleared.version).toBe(3);
    expect(cleared).not.toHaveProperty('retries');
    expect((await put(id, { retries: 0 })).body.version).toBe(3);
  });

  it('takes empty values as none', async () => {
    const { body } = await post(
      promptBody({ parameters: {}, tools: [], provider_options: {}, fallbacks: [], retries: 0, response_format: null }),
    );
    for (const name of Object.keys(generation)) expect(body).not.toHaveProperty(name);
    const same = await put(body.id as string, { tools: [], parameters: {} });
    expect(same.body.version).toBe(1);
  });

  it('keeps names that are special in databases or JavaScript', async () => {
    const odd = `{"$ref": "#/$defs/a.b", "$defs": {"a.b": {"const": 1}}, "properties": {"__proto__": {"type": "string"}, "$where": {}}}`;
    const { body } = await post(
      `{"name": "Odd", "messages": [{"role": "user", "content": "x"}], "tools": [{"name": "t", "parameters": ${odd}}],
        "response_format": {"type": "json", "schema": ${odd}}}`,
    );
    const { text } = await setup.service.call('GET', `${promptsPath}/${body.id}`);
    const stored = JSON.parse(text) as { tools: { parameters: unknown }[]; response_format: { schema: unknown } };
    expect(JSON.stringify(stored.tools[0]?.parameters)).toBe(JSON.stringify(JSON.parse(odd)));
    expect(JSON.stringify(stored.response_format.schema)).toBe(JSON.stringify(JSON.parse(odd)));
  });

  it('warns about the parts of messages by their place', async () => {
    const content = [
      { type: 'text', text: '{{#if x}}' },
      { type: 'image', url: 'https://images.example.com/{{a b}}' },
    ];
    const { body } = await post(promptBody({ messages: [{ role: 'user', content }] }));
    const pointers = (body.warnings as { pointer: string }[]).map(({ pointer }) => pointer);
    expect(pointers).toEqual(['#/messages/0/content/0/text', '#/messages/0/content/1/url']);
  });
});

describe('refusals', () => {
  const message = (part: unknown) => ({ messages: [{ role: 'user', content: [part] }] });
  it.each<[string, Record<string, unknown>]>([
    ['#/parameters/temperature', { parameters: { temperature: 2.1 } }],
    ['#/parameters/stop', { parameters: { stop: [] } }],
    ['#/parameters/reasoning_effort', { parameters: { reasoning_effort: 'most' } }],
    ['#/parameters/n', { parameters: { n: 2 } }],
    ['#/response_format', { response_format: { type: 'text', name: 'x' } }],
    ['#/response_format/type', { response_format: { type: 'xml' } }],
    ['#/tools/0/parameters', { tools: [{ name: 'x' }] }],
    ['#/tools/0/name', { tools: [{ name: 'x y', parameters: {} }] }],
    ['#/tool_choice', { tool_choice: 'sometimes' }],
    ['#/provider_options/openai', { provider_options: { openai: 1 } }],
    ['#/fallbacks', { fallbacks: Array.from({ length: 6 }, () => ({ provider: 'echo' })) }],
    ['#/retries', { retries: 3 }],
    ['#/retries', { retries: 0.5 }],
    ['#/messages/0/content', { messages: [{ role: 'user', content: [] }] }],
    ['#/messages/0/content/0/url', message({ type: 'image' })],
    ['#/messages/0/content/0/text', message({ type: 'text' })],
    ['#/messages/0/content/0/text', message({ type: 'image', url: 'https://a.example/b.png', text: 'x' })],
    ['#/messages/0/content/0/type', message({ type: 'audio', url: 'https://a.example/b.mp3' })],
  ])('names %s in a 400, on creation and on change', async (pointer, members) => {
    const { id } = await create(setup.service);
    for (const answer of [await post(promptBody(members)), await put(id, members)]) {
      expect(answer).toMatchObject({ status: 400, body: { type: problem('invalid-request') } });
      expect((answer.body.errors as { pointer: string }[]).map((error) => error.pointer)).toContain(pointer);
    }
  });

  it.each<[string, Record<string, unknown>]>([
    ['#/tools/1/name', { tools: [tool, tool] }],
    ['#/tool_choice/name', { tools: [tool], tool_choice: { name: 'other' } }],
    ['#/tool_choice', { tool_choice: 'required' }],
    ['#/provider_options', { provider_options: { openai: { user: 'x'.repeat(16 * 1024) } } }],
  ])('names %s in a 422, on creation and on change', async (pointer, members) => {
    const { id } = await create(setup.service);
    for (const answer of [await post(promptBody(members)), await put(id, members)]) {
      expect(answer).toMatchObject({ status: 422, body: { type: problem('inconsistent-content') } });
      expect((answer.body.errors as { pointer: string }[]).map((error) => error.pointer)).toEqual([pointer]);
    }
  });

  it.each<[string, Record<string, unknown>]>([
    ['#/provider_options/openai/model', { provider_options: { openai: { user: 'u', model: 'gpt-5' } } }],
    ['#/provider_options/anthropic/mcpServers', { provider_options: { anthropic: { mcpServers: [] } } }],
    ['#/provider_options/echo/headers', { provider_options: { echo: { headers: {} } } }],
  ])('names the provider option at %s that it does not accept', async (pointer, members) => {
    const { id } = await create(setup.service);
    for (const answer of [await post(promptBody(members)), await put(id, members)]) {
      expect(answer).toMatchObject({ status: 422, body: { type: problem('invalid-provider-option') } });
      expect((answer.body.errors as { pointer: string }[]).map((error) => error.pointer)).toEqual([pointer]);
    }
  });

  it.each<[string, Record<string, unknown>]>([
    ['#/fallbacks/1/provider', { fallbacks: [{ provider: 'echo' }, { provider: 'nobody' }] }],
    ['#/provider_options/no~1body', { provider_options: { 'no/body': {} } }],
  ])('names the unknown provider at %s', async (pointer, members) => {
    const { id } = await create(setup.service);
    for (const answer of [await post(promptBody(members)), await put(id, members)]) {
      const errors = [{ detail: 'is not known', pointer }];
      expect(answer).toMatchObject({ status: 422, body: { type: problem('unknown-provider'), errors } });
    }
  });

  const expandable = Object.fromEntries(
    Array.from({ length: 900 }, (_, index) => [
      `n${index}`,
      { allOf: [{ $ref: `#/$defs/n${index + 1}` }, { $ref: `#/$defs/n${index + 1}` }] },
    ]),
  );
  const nested = (levels: number): object => (levels === 0 ? {} : { items: nested(levels - 1) });

  it.each<[string, unknown, string]>([
    ['an unknown type', { type: 'text' }, '/type'],
    ['a pattern that is none', { properties: { 'a/b': { pattern: '^(' } } }, '/properties/a~1b/pattern'],
    ['a reference to another document', { items: { $ref: 'https://example.com/a' } }, '/items/$ref'],
    ['33 levels', nested(32), ''],
    ['more than 64 KiB', { required: Array.from({ length: 8000 }, (_, index) => `name${index}`) }, ''],
    ['another draft', { $schema: 'https://json-schema.org/draft/2019-09/schema' }, '/$schema'],
  ])('refuses a schema with %s, on creation and on change', async (_, refused, place) => {
    const { id } = await create(setup.service);
    const members = {
      response_format: { type: 'json', schema: refused },
      tools: [tool, { name: 'other', parameters: refused }],
    };
    for (const answer of [await post(promptBody(members)), await put(id, members)]) {
      expect(answer).toMatchObject({ status: 422, body: { type: problem('invalid-schema') } });
      const pointers = (answer.body.errors as { pointer: string }[]).map(({ pointer }) => pointer);
      expect(pointers).toEqual([`#/response_format/schema${place}`, `#/tools/1/parameters${place}`]);
    }
  });

  it.each<[string, unknown]>([
    ['an exponential pattern', { type: 'string', pattern: '(a+)+$' }],
    ['2^900 paths', { $ref: '#/$defs/n0', $defs: { ...expandable, n900: {} } }],
    ['recursion', { type: 'object', properties: { children: { items: { $ref: '#' } } } }],
    ['64 KiB of uniqueItems', { allOf: Array.from({ length: 3000 }, () => ({ uniqueItems: true })) }],
  ])('accepts a schema with %s, which only costs time when an answer is checked', async (_, accepted) => {
    const members = { response_format: { type: 'json', schema: accepted } };
    expect(await post(promptBody(members))).toMatchObject({ status: 201, body: members });
  });

  it('lists at most 100 mistakes in schemas', async () => {
    const parameters = { allOf: Array.from({ length: 30 }, () => ({ type: 'text' })) };
    const tools = Array.from({ length: 10 }, (_, index) => ({ name: `t${index}`, parameters }));
    const { status, body } = await post(promptBody({ tools }));
    expect([status, (body.errors as unknown[]).length]).toEqual([422, 100]);
  });

  it('does not take away a tool that is chosen', async () => {
    const { id } = await create(setup.service, generation);
    const { status, body } = await put(id, { tools: [tool] });
    expect(status).toBe(422);
    expect(body.errors).toEqual([{ detail: 'is not the name of a tool', pointer: '#/tool_choice/name' }]);
  });
});
