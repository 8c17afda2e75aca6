/** Arguments of tool calls go through as they are, to and from every provider. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { remoteIds, secret } from '../../models/providers-harness.ts';
import { startMockProvider, type MockProvider } from '../../support/mock-provider.ts';
import { runSettings } from '../../support/run-settings.ts';
import { readEvents } from '../../support/server-sent-events.ts';
import { startTestService, type Answer, type TestService } from '../../support/service.ts';

let mock: MockProvider;
let service: TestService;
let slug: string;

beforeAll(async () => {
  mock = await startMockProvider();
  const environment: Record<string, string> = {
    OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([{ id: 'local', base_url: mock.url, models: ['llama'] }]),
    GOOGLE_GENERATIVE_AI_API_KEY: secret,
    GOOGLE_BASE_URL: mock.url,
    AWS_BEDROCK_REGION: 'eu-central-1',
    AWS_BEDROCK_BASE_URL: mock.url,
    AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
    AWS_SECRET_ACCESS_KEY: secret,
  };
  const others = [
    'OPENAI',
    'ANTHROPIC',
    'MISTRAL',
    'GROQ',
    'XAI',
    'DEEPSEEK',
    'AZURE',
    'COHERE',
    'OPENROUTER',
    'TOGETHER',
  ];
  for (const name of others) {
    environment[`${name}_API_KEY`] = secret;
    environment[`${name}_BASE_URL`] = mock.url;
  }
  service = await startTestService({ environment });
  const prompt = { name: 'Weather', messages: [{ role: 'user', content: 'Hi' }] };
  slug = (await service.call('POST', '/api/v1/prompts', { body: prompt })).body.slug as string;
});
afterEach(() => {
  mock.reset();
});
afterAll(async () => {
  await service.close();
  await mock.close();
});

const objects = [
  '{}',
  '{"city":"Bern"}',
  '{ "city" : "Bern" ,\t"list" : [ 1, 2 ] }',
  '{"id":12345678901234567890,"small":0.1234567890123456789,"huge":1e400,"zero":-0,"plain":1.0}',
  '{"__proto__":{"a":1},"constructor":{"prototype":{}},"nested":{"__proto__":1}}',
  String.raw`{"text":"say \"input\": {} \\","emoji":"😀","half":"\ud800","escaped":"\u0041\/"}`,
  '{"input":{"input":{"args":{}}},"args":{"args":[{}]}}',
];
/** Objects that have another order or number of members once they were parsed. */
const unordered = ['{"b":1,"2":1,"1":{"z":1,"0":2}}', '{"a":1,"a":2}'];
const others = ['{"half": ', '[1]', '""', 'null', '12345678901234567890', 'no JSON', '"{\\"twice\\":1}"', '{}}'];
/** Some models write nothing for a tool that takes nothing. It counts as `{}`. */
const blanks = ['', ' ', '\n'];
const everything = [...objects, ...unordered, ...others, ...blanks];
const written = (text: string): string => (text.trim() === '' ? '{}' : text);

const ids = [...remoteIds, 'local'];
/** Providers whose API has arguments as an object. */
const withObjects = ['anthropic', 'google', 'amazon-bedrock'];
const withTexts = ids.filter((id) => !withObjects.includes(id));

interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

function callsWith(texts: readonly string[]): Call[] {
  return texts.map((text, index) => ({ id: `call_${index}`, name: 'weather', arguments: text }));
}

/** A conversation with these calls, in the form of an operation. */
interface Face {
  readonly path: () => string;
  readonly body: (provider: string, calls: readonly Call[]) => object;
  /** The arguments in an answer, and in the events of a stream. */
  readonly read: (answer: never) => string[];
  readonly readEvents: (events: readonly never[]) => string[];
  /** The place of the arguments of the first call. */
  readonly place: RegExp;
}

const schema = { name: 'weather', parameters: { type: 'object' } };
const argumentsIn = (calls: readonly { arguments?: string }[] = []): string[] =>
  calls.flatMap((call) => call.arguments ?? []);

const invoke: Face = {
  path: () => `/api/v1/prompts/${slug}/invoke`,
  body: (provider, calls) => ({
    provider,
    model: 'llama',
    tools: [schema],
    messages:
      calls.length === 0
        ? []
        : [
            { role: 'assistant', tool_calls: calls },
            ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Sunny' })),
          ],
  }),
  read: ({ tool_calls }: { tool_calls?: Call[] }) => argumentsIn(tool_calls),
  readEvents: (events: readonly { type: string; tool_calls?: Call[] }[]) =>
    argumentsIn(events.find(({ type }) => type === 'finish')?.tool_calls),
  place: /^#\/messages\/0\/tool_calls\/0\/arguments$/,
};

const chat: Face = {
  path: () => '/v1/chat/completions',
  body: (provider, calls) => ({
    model: `${provider}/llama`,
    tools: [{ type: 'function', function: schema }],
    messages: [
      { role: 'user', content: 'Hi' },
      ...(calls.length === 0
        ? []
        : [
            {
              role: 'assistant',
              content: null,
              tool_calls: calls.map(({ id, ...called }) => ({ id, type: 'function', function: called })),
            },
          ]),
      ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Sunny' })),
    ],
  }),
  read: ({ choices }: { choices: { message: { tool_calls?: { function: Call }[] } }[] }) =>
    argumentsIn(choices[0]?.message.tool_calls?.map((call) => call.function)),
  readEvents(events: readonly { choices: { delta: { tool_calls?: { index: number; function: Call }[] } }[] }[]) {
    const whole: string[] = [];
    for (const { index, function: piece } of events.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])) {
      whole[index] = (whole[index] ?? '') + piece.arguments;
    }
    return whole;
  },
  place: /^messages\[1\]\.tool_calls\[0\]\.function\.arguments$/,
};

const responses: Face = {
  path: () => '/v1/responses',
  body: (provider, calls) => ({
    model: `${provider}/llama`,
    tools: [{ type: 'function', ...schema }],
    input: [
      { role: 'user', content: 'Hi' },
      ...calls.map(({ id, ...called }) => ({ type: 'function_call', call_id: id, ...called })),
      ...calls.map(({ id }) => ({ type: 'function_call_output', call_id: id, output: 'Sunny' })),
    ],
  }),
  read: ({ output }: { output: Call[] }) => argumentsIn(output),
  readEvents: (events: readonly { type: string; response?: { output: Call[] } }[]) =>
    argumentsIn(events.find(({ type }) => type === 'response.completed')?.response?.output),
  place: /^input\[1\]\.arguments$/,
};

const faces: readonly (readonly [string, Face])[] = Object.entries({ invoke, chat, responses });

function send(face: Face, provider: string, texts: readonly string[], more: object = {}): Promise<Answer> {
  return service.call('POST', face.path(), { body: { ...face.body(provider, callsWith(texts)), ...more } });
}

/** The arguments that the provider got. */
function sent(provider: string): string[] {
  const { text = '' } = mock.requests.at(-1) ?? {};
  if (withTexts.includes(provider)) return valuesOf('arguments', JSON.parse(text));
  return valuesOf(provider === 'google' ? 'args' : 'input', parseExactly(text)).map((value) => JSON.stringify(value));
}

/** The values of all members of this name, in their order. */
function valuesOf<T>(name: string, value: unknown): T[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => (key === name ? [member as T] : valuesOf<T>(name, member)));
}

/** Numbers stay as they are written. */
function parseExactly(text: string): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown };
  const keep = (_name: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' ? rawJSON(context?.source ?? '') : value;
  return JSON.parse(text, keep);
}

/** The same JSON without blanks. */
function compact(json: string): string {
  return json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
}

/** Calls the provider, which answers with these arguments. @returns them, as the caller gets them */
async function receive(face: Face, provider: string, texts: readonly string[], stream: boolean): Promise<string[]> {
  const steps = callsWith(texts).map((toolCall) => ({ toolCall }));
  mock.behave('llama', { kind: 'stream', steps: [...steps, { finish: 'tool-calls' }] });
  const answer = await send(face, provider, [], { stream });
  expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
  if (!stream) return face.read(answer.body as never);
  const data = readEvents(answer.text).map((event) => event.data);
  return face.readEvents(data.flatMap((text) => (text === '[DONE]' ? [] : [JSON.parse(text) as never])));
}

describe.each(faces)('%s', (_name, face) => {
  it.each(withTexts)('passes arguments of any kind on to %s, byte for byte', async (id) => {
    for (const stream of [false, true]) {
      expect(await send(face, id, everything, { stream })).toMatchObject({ status: 200 });
      expect(sent(id)).toEqual(everything.map(written));
    }
  });

  it.each(withObjects)('passes objects on to %s, with every digit', async (id) => {
    const texts = [...objects, ...blanks];
    const expected = texts.map((text) => JSON.stringify(parseExactly(written(text))));
    for (const stream of [false, true]) {
      expect(await send(face, id, texts, { stream })).toMatchObject({ status: 200 });
      expect(sent(id)).toEqual(expected);
    }
    expect(await send(face, id, unordered)).toMatchObject({ status: 200 });
    expect(sent(id).map((text) => JSON.parse(text) as unknown)).toEqual(unordered.map((text) => JSON.parse(text)));
  });

  it.each(withObjects)('refuses other arguments for %s before the call', async (id) => {
    for (const text of others) {
      const { status, body } = await send(face, id, [text]);
      expect([text, status]).toEqual([text, 422]);
      const place = (face === invoke ? body.errors[0].pointer : body.error.param) as string;
      expect(place).toMatch(face.place);
    }
    expect(mock.requests).toEqual([]);
  });

  it.each(withTexts)('returns arguments of any kind of %s', async (id) => {
    for (const stream of [false, true])
      expect(await receive(face, id, everything, stream)).toEqual(everything.map(written));
  });

  it.each(withObjects)('returns arguments of %s with every digit and name', async (id) => {
    const texts = [...objects, ...unordered];
    for (const stream of [false, true]) {
      // Google streams whole objects; the others stream texts.
      const expected = stream && id !== 'google' ? texts : texts.map(compact);
      expect(await receive(face, id, texts, stream)).toEqual(expected);
    }
  });
});

it('does not leave out arguments that a provider cannot take', async () => {
  for (const unsupported of ['ignore', 'refuse']) {
    const { status, body } = await send(invoke, 'anthropic', ['[1]'], { unsupported });
    expect([status, body.type]).toEqual([422, 'urn:prompt-gateway:problem:unsupported-by-provider']);
  }
  expect(mock.requests).toEqual([]);
});

it('returns the digits of JSON that comes as a call of a tool', async () => {
  const text = '{"id":12345678901234567890}';
  const steps = [{ toolCall: { id: 'call_0', name: 'json', arguments: text } }, { finish: 'tool-calls' } as const];
  const response_format = {
    type: 'json_schema',
    json_schema: { name: 'answer', schema: { type: 'object', properties: { id: { type: 'integer' } } } },
  };
  for (const id of ['anthropic', 'amazon-bedrock']) {
    for (const stream of [false, true]) {
      mock.behave('llama', { kind: 'stream', steps });
      const body = { model: `${id}/llama`, messages: [{ role: 'user', content: 'Hi' }], response_format, stream };
      const answer = await service.call('POST', '/v1/chat/completions', { body });
      const chunks = stream
        ? readEvents(answer.text)
            .slice(0, -1)
            .map(({ data }) => JSON.parse(data))
        : [answer.body];
      const content = chunks.map(({ choices: [choice] }) => choice?.delta?.content ?? choice?.message?.content ?? '');
      expect([id, stream, content.join('')]).toEqual([id, stream, text]);
    }
  }
});

it('changes no text', async () => {
  const character = fc.oneof(
    ...[fc.constantFrom('{', '}', '"', '\\', ':', '[', ']', ' ', '\n', 'a', '1'), fc.integer({ min: 0, max: 0xffff })],
  );
  const text = fc.array(character, { maxLength: 30 }).map((codes) =>
    codes
      .map((code) => (typeof code === 'string' ? code : String.fromCharCode(code)))
      .join('')
      .toWellFormed(),
  );
  const texts = fc.array(fc.oneof(text, fc.json({ maxDepth: 3 })), { minLength: 1, maxLength: 10 });
  const exchange = async (id: string, values: readonly string[], stream: boolean): Promise<void> => {
    mock.reset();
    expect(await receive(invoke, id, values, stream)).toEqual(values.map(written));
    await send(invoke, id, values);
    expect(sent(id)).toEqual(values.map(written));
  };
  await fc.assert(fc.asyncProperty(fc.constantFrom(...withTexts), texts, fc.boolean(), exchange), runSettings(500));
});
