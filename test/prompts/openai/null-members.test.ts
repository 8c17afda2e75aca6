/** `null` counts as left out for each optional member of both APIs, however deep it is. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listOperations, resolve, type Schema } from '../../../src/codegen/contract-document.ts';
import { contract } from '../../support/schema-arbitraries.ts';
import { startInvokeHarness, type InvokeHarness } from '../invoke/invoke-harness.ts';

let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness();
});
afterAll(() => harness.close());

type Members = Record<string, unknown>;

const parameters = { type: 'object', properties: { city: { type: 'string', default: null } } };
const cache_control = { type: 'ephemeral', ttl: '1h' };
const prompt_cache_breakpoint = { mode: 'explicit' };
const url =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** Of both APIs, each with members that the provider has or that it refuses. */
const extras: Members[] = [
  { thinking: { type: 'enabled', budget_tokens: 2048, token_budget: 2048 } },
  { thinking_config: { thinking_budget: 1024, thinking_level: 'low' } },
  { safety_settings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_ONLY_HIGH' }] },
  { prompt_cache_options: { mode: 'explicit', ttl: '30m' } },
  { prompt: { id: 'of-nobody', version: '1', variables: { a: { type: 'input_text', text: 'A' }, b: null } } },
  { logit_bias: {} },
];

const call = { id: 'a', type: 'function', index: 0, function: { name: 'look', arguments: '{}', parsed_arguments: {} } };
const chat: Members = {
  model: 'mock/model-a',
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'Be kind.', cache_control, prompt_cache_breakpoint }] },
    { role: 'user', content: [{ type: 'image_url', image_url: { url, detail: 'auto' } }], name: 'Ada' },
    { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }], refusal: 'No.', annotations: [{ a: null }] },
    { role: 'assistant', content: null, tool_calls: [{ ...call, extra_content: { mock: { a: null } } }] },
    { role: 'tool', tool_call_id: 'a', content: 'Sun' },
  ],
  temperature: 0.5,
  reasoning: { effort: 'low' },
  tools: [
    { type: 'function', function: { name: 'look', description: 'Looks', parameters, strict: true }, cache_control },
  ],
  tool_choice: { type: 'function', function: { name: 'look' } },
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'seen', description: 'What is seen', schema: parameters, strict: true },
  },
  stream_options: { include_usage: true },
};

const image = { type: 'input_image', image_url: url, detail: 'auto', file_id: null };
const said = { type: 'output_text', text: 'Look.', annotations: [{ a: null }], logprobs: [], parsed: { a: null } };
const response: Members = {
  model: 'mock/model-a',
  input: [
    { role: 'user', content: [{ type: 'input_text', text: 'Hi', cache_control, prompt_cache_breakpoint }, image] },
    { type: 'message', role: 'assistant', content: [said, { type: 'refusal', refusal: 'No.' }], status: 'completed' },
    { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}', provider_metadata: { mock: { a: null } } },
    {
      type: 'function_call_output',
      call_id: 'a',
      output: [{ type: 'input_text', text: 'Sun', cache_control, prompt_cache_breakpoint }],
    },
  ],
  temperature: 0.5,
  reasoning: { effort: 'low', summary: 'auto' },
  tools: [{ type: 'function', name: 'look', description: 'Looks', parameters, strict: true, cache_control }],
  tool_choice: { type: 'function', name: 'look' },
  text: {
    format: { type: 'json_schema', name: 'seen', description: 'What is seen', schema: parameters, strict: true },
    verbosity: 'medium',
  },
  stream_options: { include_obfuscation: false },
};

interface Api {
  readonly path: string;
  readonly operationId: string;
  readonly bodies: readonly Members[];
  /** What is needed beside the other members there, so that leaving it out is refused. */
  readonly needed: readonly string[];
}

const apis: readonly Api[] = [
  {
    path: '/v1/chat/completions',
    operationId: 'createChatCompletion',
    bodies: [
      chat,
      ...extras.map((members) => ({ model: 'mock/model-a', messages: [{ role: 'user', content: 'Hi' }], ...members })),
    ],
    needed: [
      'model',
      'messages/0/content',
      'messages/0/content/0/text',
      'messages/1/content',
      'messages/1/content/0/image_url',
      'messages/2/content/0/refusal',
      'messages/3/tool_calls',
      'messages/4/content',
      'messages/4/tool_call_id',
      'response_format/json_schema',
      'prompt/id',
    ],
  },
  {
    path: '/v1/responses',
    operationId: 'createResponse',
    bodies: [response, ...extras.slice(0, -1).map((members) => ({ model: 'mock/model-a', input: 'Hi', ...members }))],
    needed: [
      'model',
      'input',
      'input/0/role',
      'input/0/content',
      'input/0/content/0/text',
      'input/0/content/1/image_url',
      'input/1/role',
      'input/1/content',
      'input/1/content/0/text',
      'input/1/content/1/refusal',
      'input/2/type',
      'input/2/call_id',
      'input/2/name',
      'input/2/arguments',
      'input/3/type',
      'input/3/call_id',
      'input/3/output',
      'text/format/name',
      'text/format/schema',
      'prompt/id',
    ],
  },
];

/** A place in a body: names of members, and indexes. */
type Place = readonly (string | number)[];

/** Each object of the contract in a body, with its schema. */
function objectsOf(reference: Schema, value: unknown, place: Place = []): { schema: Schema; place: Place }[] {
  const schema = resolve(contract, reference);
  if (typeof value !== 'object' || value === null) return [];
  const forms = (schema['oneOf'] ?? schema['anyOf']) as Schema[] | undefined;
  if (forms !== undefined) {
    const type = Array.isArray(value) ? 'array' : 'object';
    const form = forms.find((one) => [resolve(contract, one)['type']].flat().includes(type));
    return form === undefined ? [] : objectsOf(form, value, place);
  }
  if (Array.isArray(value)) {
    return value.flatMap((element, index) => objectsOf((schema['items'] ?? {}) as Schema, element, [...place, index]));
  }
  if (schema['additionalProperties'] !== false) return [];
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
  return [
    { schema, place },
    ...Object.entries(value).flatMap(([name, member]) => objectsOf(properties[name] ?? {}, member, [...place, name])),
  ];
}

/** Each object of the contract that a schema has. */
function schemasOf(reference: Schema, found = new Set<Schema>()): Set<Schema> {
  const schema = resolve(contract, reference);
  const { oneOf, anyOf, items, properties = {} } = schema as Record<string, Schema | undefined>;
  const forms = [...Object.values(oneOf ?? {}), ...Object.values(anyOf ?? {})] as Schema[];
  for (const part of [...forms, ...(items === undefined ? [] : [items])]) schemasOf(part, found);
  if (schema['additionalProperties'] === false) {
    found.add(schema);
    for (const property of Object.values(properties) as Schema[]) schemasOf(property, found);
  }
  return found;
}

/** A copy of a body in which a member has another value, or none. */
function withMember(body: Members, place: Place, name: string, value: unknown): Members {
  const copy = structuredClone(body);
  const object = place.reduce<unknown>((node, step) => (node as Members)[step], copy) as Members;
  if (value === undefined) Reflect.deleteProperty(object, name);
  else object[name] = value;
  return copy;
}

describe.each(apis)('$path', ({ path, operationId, bodies, needed }) => {
  const entry = listOperations(contract).find(({ operation }) => operation.operationId === operationId);
  const schema = entry?.operation.requestBody?.content['application/json']?.schema ?? {};

  const ask = async (body: Members): Promise<unknown> => {
    harness.mock.reset();
    const answer = await harness.service.call('POST', path, { body });
    const { error } = answer.body as { error?: unknown };
    return { status: answer.status, error, sent: harness.mock.requests.map((request) => request.body) };
  };

  it('has an example of each object', () => {
    const shown = new Set(bodies.flatMap((body) => objectsOf(schema, body)).map((found) => found.schema));
    const missing = [...schemasOf(schema)]
      .filter((one) => !shown.has(one))
      .map(({ title, description }) => [title, description]);
    expect(missing).toEqual([]);
  });

  it('counts null as left out for each optional member', async () => {
    const refused: string[] = [];
    const [first = {}] = bodies;
    const whole = await ask(first);
    expect(whole).toMatchObject({ status: 200 });
    // That of a schema stays.
    expect(JSON.stringify(whole)).toContain('"default":null');
    for (const [index, body] of bodies.entries()) {
      for (const { schema: own, place } of objectsOf(schema, body)) {
        const required = (own['required'] ?? []) as string[];
        for (const name of Object.keys((own['properties'] ?? {}) as Members)) {
          if (required.includes(name)) continue;
          // The other bodies are there for what the first does not have.
          if (index > 0 && (place[0] ?? name) in first) continue;
          if (index > 0 && place.length === 0 && !(name in body)) continue;
          const at = [...place, name].join('/');
          const left = await ask(withMember(body, place, name, undefined));
          expect({ at, ...((await ask(withMember(body, place, name, null))) as object) }).toEqual({
            at,
            ...(left as object),
          });
          if ((left as { status: number }).status === 400) refused.push(at);
        }
      }
    }
    expect(refused).toEqual(needed);
  }, 120_000);
});
