import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import type { RunnableToolFunctionWithoutParse } from 'openai/lib/RunnableFunction';
import { z } from 'zod';
import { startInvokeHarness, type InvokeHarness } from '../invoke/invoke-harness.ts';
import { mockVector } from '../../support/mock-embeddings.ts';
import { startAnother } from '../../support/per-operation.ts';
import type { TestService } from '../../support/service.ts';

/** The official SDK, unchanged except for its base URL and key, with its own retries. */
let harness: InvokeHarness;
let openai: OpenAI;
beforeAll(async () => {
  harness = await startInvokeHarness();
  openai = clientOf(harness.service);
});
afterAll(() => harness.close());
afterEach(() => {
  harness.mock.reset();
});

function clientOf({ url, adminKey }: TestService, apiKey = adminKey): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey });
}

const model = 'mock/model-a';
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'What is a webhook?' }];

describe('chat', () => {
  it('answers', async () => {
    const completion = await openai.chat.completions.create({ model, messages });
    expect(completion.choices[0]?.message.content).toBe('Hello from model-a.');
    expect(completion.usage?.total_tokens).toBe(18);
    expect(completion._request_id).toBeTruthy();
  });

  it('runs a stored prompt', async () => {
    const slug = await harness.createPrompt();
    const completion = await openai.chat.completions.create({ model: `prompt/${slug}`, messages: [] });
    expect(completion.model).toBe('mock/model-a');
    expect(harness.mock.requests[0]?.body['messages']).toEqual([{ role: 'user', content: 'Hello world' }]);
  });

  it('parses structured answers', async () => {
    harness.mock.behave('model-a', {
      kind: 'stream',
      steps: [{ text: '{"priority":"high"}' }, { finish: 'stop' }],
    });
    const schema = {
      type: 'object',
      properties: { priority: { type: 'string', enum: ['low', 'high'] } },
      required: ['priority'],
      additionalProperties: false,
    };
    const completion = await openai.chat.completions.parse({
      model: 'mock/model-a',
      messages,
      response_format: { type: 'json_schema', json_schema: { name: 'triage', schema, strict: true } },
    });
    expect(completion.choices[0]?.message.parsed).toEqual({ priority: 'high' });
    expect(harness.mock.requests[0]?.body['response_format']).toMatchObject({
      type: 'json_schema',
      json_schema: { name: 'triage', schema, strict: true },
    });
  });

  it('takes schemas that the service could not check: the answer is not checked', async () => {
    const slug = await harness.createPrompt();
    for (const name of [model, `prompt/${slug}`]) {
      harness.mock.reset();
      harness.mock.behave('model-a', { kind: 'stream', steps: [{ text: '{"email":"ada@example.com"}' }] });
      const completion = await openai.chat.completions.parse({
        model: name,
        messages,
        response_format: zodResponseFormat(z.object({ email: z.string().regex(/^(?!root@).+@/) }), 'contact'),
      });
      expect(completion.choices[0]?.message.parsed).toEqual({ email: 'ada@example.com' });
      expect(JSON.stringify(harness.mock.requests[0]?.body['response_format'])).toContain('(?!');
    }
  });

  it('calls tools, and takes the message of the assistant back as it is', async () => {
    const calls: string[] = [];
    const tool = (name: string): RunnableToolFunctionWithoutParse => ({
      type: 'function',
      function: {
        name,
        description: name,
        parameters: { type: 'object', properties: {} },
        function() {
          calls.push(name);
          return '21 °C';
        },
      },
    });
    harness.mock.behave('model-a', {
      kind: 'stream',
      steps: [
        { toolCall: { id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' } },
        { toolCall: { id: 'call_2', name: 'get_time', arguments: '{}' } },
        { finish: 'tool-calls' },
      ],
    });
    const runner = openai.chat.completions.runTools({
      model,
      messages,
      tools: [tool('get_weather'), tool('get_time')],
    });
    expect(await runner.finalContent()).toBe('Hello from model-a.');
    expect(calls).toEqual(['get_weather', 'get_time']);
    expect(harness.mock.requests).toHaveLength(2);
    expect(harness.mock.requests[1]?.body['messages']).toMatchObject([
      ...[{ role: 'user' }, { role: 'assistant', tool_calls: [{ id: 'call_1' }, { id: 'call_2' }] }],
      ...[
        { role: 'tool', tool_call_id: 'call_1', content: '21 °C' },
        { role: 'tool', tool_call_id: 'call_2' },
      ],
    ]);
  });
});

describe('streaming chat', () => {
  it('sends the role, the pieces, the end, and the usage only if it is wanted', async () => {
    const chunksOf = async (
      stream_options?: { include_usage: boolean },
      name = model,
    ): Promise<OpenAI.ChatCompletionChunk[]> => {
      const stream = await openai.chat.completions.create({
        model: name,
        messages,
        stream: true,
        ...(stream_options && { stream_options }),
      });
      return await Array.fromAsync(stream);
    };
    const chunks = await chunksOf();
    expect(chunks[0]?.choices[0]?.delta).toMatchObject({ role: 'assistant', content: '' });
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Hello from model-a.');
    expect(chunks.at(-1)?.choices[0]).toMatchObject({ delta: {}, finish_reason: 'stop' });
    expect(new Set(chunks.map(({ id, model: name, object }) => `${id} ${name} ${object}`)).size).toBe(1);
    expect(chunks.filter(({ usage }) => usage !== undefined)).toEqual([]);

    const withUsage = await chunksOf({ include_usage: true });
    expect(withUsage.map(({ usage }) => usage?.total_tokens)).toEqual([...withUsage.slice(1).map(() => undefined), 18]);
    expect(withUsage.at(-1)?.choices).toEqual([]);

    const unknown = await chunksOf({ include_usage: true }, 'mock/mock-nousage');
    expect(unknown.filter(({ usage }) => usage !== null)).toEqual([]);
    expect(unknown.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  it('streams calls of tools', async () => {
    const runner = openai.chat.completions.stream({
      model: 'mock/mock-tools',
      messages,
      tools: [{ type: 'function', function: { name: 'get_weather' } }],
    });
    const { choices } = await runner.finalChatCompletion();
    expect(choices[0]?.finish_reason).toBe('tool_calls');
    expect(choices[0]?.message.tool_calls?.map((call) => call.type === 'function' && call.function.name)).toEqual([
      ...['get_weather', 'get_time'],
    ]);
  });

  it('throws the error of a stream that fails after its first content, and the call is made once', async () => {
    const stream = await openai.chat.completions.create({ model: 'mock/mock-error', messages, stream: true });
    let text = '';
    const read = async (): Promise<void> => {
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
    };
    await expect(read()).rejects.toMatchObject({ constructor: OpenAI.APIError, type: 'server_error' });
    expect(text).not.toBe('');
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('has a real status if it fails before its first content', async () => {
    const started = openai.chat.completions.create({ model: 'mock/mock-400', messages, stream: true });
    await expect(started).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('cancels the call of the provider when the loop is left', async () => {
    const stream = await openai.chat.completions.create({ model: 'mock/mock-endless', messages, stream: true });
    for await (const { choices } of stream) if (choices[0]?.delta.content) break;
    const { requests } = harness.mock;
    await requests[0]?.ended;
    expect(requests.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

describe('models', () => {
  it('are listed and retrieved', async () => {
    const slug = await harness.createPrompt();
    const ids = (await Array.fromAsync(openai.models.list())).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([`prompt/${slug}`, 'mock/model-a', 'echo/echo-1']));
    expect(await openai.models.retrieve('echo/echo-1')).toMatchObject({ id: 'echo/echo-1', owned_by: 'echo' });
  });
});

describe('embeddings', () => {
  it('has floats, which come as base64 unless the caller wants otherwise', async () => {
    for (const encoding_format of [undefined, 'float', 'base64'] as const) {
      harness.mock.reset();
      const { data, usage } = await openai.embeddings.create({
        ...{ model: 'mock/embed-a', input: ['a', 'b'], dimensions: 5 },
        ...(encoding_format && { encoding_format }),
      });
      const said = data.map(({ embedding }) => embedding);
      const bytes = Buffer.from(Float32Array.from(mockVector(0, 5)).buffer).toString('base64');
      if (encoding_format === 'base64') expect(said[0]).toBe(bytes);
      else expect(said).toEqual([mockVector(0, 5), mockVector(1, 5)]);
      expect(usage.total_tokens).toBe(11);
      expect(harness.mock.requests[0]?.body['encoding_format']).toBe(encoding_format ?? 'base64');
    }
  });

  it('takes tokens, and gives large answers', async () => {
    const input = Array.from({ length: 500 }, (_, index) => [index, 1]);
    const { data } = await openai.embeddings.create({ model: 'mock/embed-a', input, dimensions: 1_000 });
    expect(data).toHaveLength(500);
    expect(data[499]?.embedding).toEqual(mockVector(499, 1_000));
    const floats = await openai.embeddings.create({
      ...{ model: 'mock/embed-a', input, dimensions: 1_000, encoding_format: 'float' as const },
    });
    expect(floats.data).toEqual(data);
  });

  it('is what the AI SDK asks for', async () => {
    const { url, adminKey } = harness.service;
    const provider = createOpenAICompatible({ name: 'gateway', baseURL: `${url}/v1`, apiKey: adminKey });
    const { embeddings, usage } = await provider.embeddingModel('mock/embed-a').doEmbed({ values: ['a', 'b'] });
    expect([embeddings, usage?.tokens]).toEqual([[mockVector(0), mockVector(1)], 11]);
  });
});

describe('errors', () => {
  const create = (client: OpenAI, members: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) =>
    client.chat.completions.create({ model, messages, ...members });

  it('are the typed exceptions of the SDK', async () => {
    const withoutScope = clientOf(harness.service, await harness.service.createKey('prompts:invoke'));
    const slug = await harness.createPrompt({ messages: [{ role: 'user', content: '{{name}}' }] });
    const unknown = `pgw_${'0'.repeat(32)}_${'A'.repeat(43)}`;
    await expect(create(openai, { n: 2 })).rejects.toMatchObject({
      constructor: OpenAI.BadRequestError,
      code: 'invalid-request',
      param: 'n',
      type: 'invalid_request_error',
    });
    await expect(create(clientOf(harness.service, unknown))).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    await expect(create(withoutScope)).rejects.toBeInstanceOf(OpenAI.PermissionDeniedError);
    await expect(create(openai, { model: 'prompt/nothing' })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(openai.models.retrieve('nobody/x')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(openai.images.generate({ model, prompt: 'x' })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(create(openai, { model: `prompt/${slug}` })).rejects.toMatchObject({
      constructor: OpenAI.UnprocessableEntityError,
      code: 'missing-variables',
    });
    expect(harness.mock.requests).toHaveLength(0);
  });

  it.each(['mock-garbage', 'mock-cut', 'mock-401'])('of the provider are not repeated by the SDK: %s', async (name) => {
    await expect(create(openai, { model: `mock/${name}` })).rejects.toBeInstanceOf(OpenAI.InternalServerError);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('of rate limits and of time-outs too', async () => {
    const environment = {
      RATE_LIMIT: '1/3600s',
      INVOKE_TIMEOUT_MS: '1000',
      OPENAI_COMPATIBLE_PROVIDERS: harness.service.environment['OPENAI_COMPATIBLE_PROVIDERS'] ?? '',
    };
    const limited = await startAnother(harness.service, environment);
    try {
      const client = clientOf(limited);
      await expect(create(client, { model: 'mock/mock-hang' })).rejects.toMatchObject({
        constructor: OpenAI.InternalServerError,
        code: 'provider-timeout',
      });
      expect(harness.mock.requests).toHaveLength(1);
      // The SDK would wait before it repeats this.
      const refused = client.chat.completions.create({ model, messages }, { maxRetries: 0 });
      await expect(refused).rejects.toMatchObject({ constructor: OpenAI.RateLimitError, code: 'rate-limited' });
      expect(harness.mock.requests).toHaveLength(1);
    } finally {
      await limited.close();
    }
  });
});

describe('the AI SDK', () => {
  const language = (id: string) =>
    createOpenAICompatible({
      name: 'gateway',
      baseURL: `${harness.service.url}/v1`,
      apiKey: harness.service.adminKey,
      includeUsage: true,
      supportsStructuredOutputs: true,
    }).chatModel(id);
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello' }] }];

  it('answers', async () => {
    const { content, finishReason, usage } = await language(model).doGenerate({ prompt });
    expect(content).toMatchObject([{ type: 'text', text: 'Hello from model-a.' }]);
    expect([finishReason.unified, usage.outputTokens.total]).toEqual(['stop', 7]);
  });

  it('streams', async () => {
    const { stream } = await language('mock/mock-tools').doStream({ prompt });
    const parts = await Array.fromAsync(stream);
    expect(parts.filter(({ type }) => type === 'error')).toEqual([]);
    expect(parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolName] : []))).toEqual([
      ...['get_weather', 'get_time'],
    ]);
    expect(parts.at(-1)).toMatchObject({ type: 'finish', usage: { outputTokens: { total: 7 } } });
  });
});
