import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startInvokeHarness, type InvokeHarness } from '../prompts/invoke/invoke-harness.ts';
import { mockVector } from '../support/mock-embeddings.ts';
import { startMockProvider, type MockProvider } from '../support/mock-provider.ts';
import { until } from '../support/until.ts';
import type { Answer } from '../support/service.ts';

/** Embeddings of each vendor by its own wire. */
let mock: MockProvider;
let harness: InvokeHarness;
beforeAll(async () => {
  mock = await startMockProvider();
  const environment = {
    OPENAI_API_KEY: 'sk-openai-0123456789',
    OPENAI_BASE_URL: mock.url,
    AZURE_API_KEY: 'sk-azure-0123456789',
    AZURE_BASE_URL: `${mock.url}/azure`,
    OPENROUTER_API_KEY: 'sk-openrouter-0123456789',
    OPENROUTER_BASE_URL: `${mock.url}/openrouter`,
    TOGETHER_API_KEY: 'sk-together-0123456789',
    TOGETHER_BASE_URL: `${mock.url}/together`,
    GOOGLE_GENERATIVE_AI_API_KEY: 'sk-google-0123456789',
    GOOGLE_BASE_URL: mock.url,
    COHERE_API_KEY: 'sk-cohere-0123456789',
    COHERE_BASE_URL: mock.url,
    MISTRAL_API_KEY: 'sk-mistral-0123456789',
    MISTRAL_BASE_URL: `${mock.url}/mistral`,
    AWS_BEDROCK_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'AKIAMOCK0123456789AB',
    AWS_SECRET_ACCESS_KEY: 'secret-of-bedrock-0123456789',
    AWS_BEDROCK_BASE_URL: mock.url,
    ANTHROPIC_API_KEY: 'sk-anthropic-0123456789',
    ANTHROPIC_BASE_URL: mock.url,
  };
  harness = await startInvokeHarness({ environment });
});
afterAll(async () => {
  await harness.close();
  await mock.close();
});
afterEach(() => {
  mock.reset();
});

function create(body: object): Promise<Answer> {
  return harness.service.call('POST', '/v1/embeddings', { body });
}

interface Row {
  readonly model: string;
  readonly path: string;
  /** The name and the value of the one with its credentials. */
  readonly header: readonly string[];
  readonly sends: Readonly<Record<string, unknown>>;
  readonly usage: number | undefined;
}

const titan = 'amazon-bedrock/amazon.titan-embed-text-v2:0';

/** A vendor whose API is OpenAI's. */
function ofOpenAis(model: string, path: string, header: readonly string[]): Row {
  const sends = { model: model.slice(model.indexOf('/') + 1), input: ['a', 'b'], dimensions: 256 };
  return { model, path, header, sends, usage: 11 };
}

describe.each<Row>([
  ofOpenAis('openai/text-embedding-3-small', '/embeddings', ['authorization', 'Bearer sk-openai-0123456789']),
  ofOpenAis('azure/my-embeddings', '/azure/embeddings', ['api-key', 'sk-azure-0123456789']),
  ofOpenAis('openrouter/openai/text-embedding-3-small', '/openrouter/embeddings', [
    'authorization',
    'Bearer sk-openrouter-0123456789',
  ]),
  ofOpenAis('together/BAAI/bge-base-en-v1.5', '/together/embeddings', [
    'authorization',
    'Bearer sk-together-0123456789',
  ]),
  {
    model: 'google/gemini-embedding-001',
    path: '/models/gemini-embedding-001:batchEmbedContents',
    header: ['x-goog-api-key', 'sk-google-0123456789'],
    sends: {
      requests: ['a', 'b'].map((text) => ({
        model: 'models/gemini-embedding-001',
        content: { role: 'user', parts: [{ text }] },
        outputDimensionality: 256,
      })),
    },
    usage: undefined,
  },
  {
    model: 'cohere/embed-v4.0',
    path: '/embed',
    header: ['authorization', 'Bearer sk-cohere-0123456789'],
    sends: {
      model: 'embed-v4.0',
      embedding_types: ['float'],
      texts: ['a', 'b'],
      input_type: 'search_query',
      output_dimension: 256,
    },
    usage: 11,
  },
  {
    model: 'mistral/codestral-embed',
    path: '/mistral/embeddings',
    header: ['authorization', 'Bearer sk-mistral-0123456789'],
    sends: { model: 'codestral-embed', input: ['a', 'b'], output_dimension: 256, encoding_format: 'float' },
    usage: 11,
  },
])('$model', ({ model, path, header: [name = '', value], sends, usage }) => {
  it('gets the texts in its own form, with its credentials', async () => {
    for (const format of ['float', 'base64']) {
      mock.reset();
      const { status, body } = await create({ model, input: ['a', 'b'], dimensions: 256, encoding_format: format });
      expect(mock.requests).toHaveLength(1);
      const [request] = mock.requests;
      expect([request?.path, request?.headers[name]]).toEqual([path, value]);
      // OpenAI's own wire also gets the form of the answer.
      const passesOn = 'input' in sends && 'dimensions' in sends;
      expect(request?.body).toEqual({ ...sends, ...(passesOn && { encoding_format: format }) });
      const embeddings = [0, 1].map((index) => {
        const vector = mockVector(index, 256);
        return format === 'float' ? vector : Buffer.from(Float32Array.from(vector).buffer).toString('base64');
      });
      expect([status, body]).toEqual([
        200,
        {
          object: 'list',
          data: embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding })),
          model,
          ...(usage !== undefined && { usage: { prompt_tokens: usage, total_tokens: usage } }),
        },
      ]);
    }
  });

  it('is a provider failure if it fails, and its words are masked', async () => {
    const asked = model.replace(/(?<=^[^/]+\/).*/, 'mock-500');
    const { status, body, text } = await create({ model: asked, input: ['the merger with Initech is on'] });
    expect([status, body.error.code, mock.requests.length]).toEqual([502, 'provider-failed', 1]);
    expect(text).not.toMatch(/Initech|0123456789/);
  });

  it('is a bad answer if it is none', async () => {
    for (const kind of ['mock-garbage', 'mock-partial']) {
      const { status, body } = await create({ model: model.replace(/(?<=^[^/]+\/).*/, kind), input: ['a', 'b'] });
      expect([kind, status, body.error.code]).toEqual([kind, 502, 'provider-bad-answer']);
    }
  });
});

describe('Amazon Bedrock', () => {
  it.each([
    ['amazon.titan-embed-text-v2:0', 256, { inputText: 'a', dimensions: 256 }],
    ['amazon.titan-embed-text-v1', undefined, { inputText: 'a' }],
  ])('signs the call of %s (%s)', async (model, dimensions, sends) => {
    const { status, body } = await create({
      model: `amazon-bedrock/${model}`,
      input: 'a',
      dimensions: dimensions ?? null,
    });
    const [request] = mock.requests;
    expect([request?.path, request?.body]).toEqual([`/model/${encodeURIComponent(model)}/invoke`, sends]);
    expect(request?.headers['authorization']).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIAMOCK0123456789AB\//);
    expect([status, body.data[0].embedding, body.usage?.prompt_tokens]).toEqual([200, mockVector(0, dimensions), 11]);
  });

  it("sends several texts to Cohere's models", async () => {
    const { status, body } = await create({ model: 'amazon-bedrock/cohere.embed-english-v3', input: ['a', 'b'] });
    expect([status, body.data.length]).toEqual([200, 2]);
    expect(mock.requests[0]?.body).toMatchObject({ texts: ['a', 'b'], input_type: 'search_query' });
  });

  it('has no model whose name is a step of a path', async () => {
    const { status, body } = await create({ model: 'amazon-bedrock/..', input: 'a' });
    expect([status, body.error.code, mock.requests.length]).toEqual([502, 'provider-failed', 0]);
  });
});

it('sends one text to Google by its other operation', async () => {
  const { status, body } = await create({ model: 'google/gemini-embedding-001', input: 'a' });
  expect(mock.requests[0]?.path).toBe('/models/gemini-embedding-001:embedContent');
  expect([status, body.data[0].embedding]).toEqual([200, mockVector(0)]);
});

it('counts the ceiling of what Google does not say', async () => {
  const input = 'x'.repeat(1_000);
  const { headers } = await create({ model: 'google/gemini-embedding-001', input });
  const { body } = await until(
    () => harness.service.call('GET', `/api/v1/invocations/${headers['x-invocation-id']}`),
    ({ status }) => status === 200,
  );
  // A token for each byte and 32 for the text, at 0.15 dollars for a million.
  expect(body).toMatchObject({
    cost: { amount: '0.0001548', currency: 'USD' },
    attempts: [{ usage: { inputTokens: 1_032, outputTokens: 0 }, usage_source: 'ceiling' }],
  });
});

it('prices the models of the table by their input', async () => {
  const prices = await Promise.all(
    [
      'openai/text-embedding-3-small',
      'openai/text-embedding-3-large',
      'google/gemini-embedding-2',
      'cohere/embed-v4.0',
    ].map(async (name) => {
      const { body } = await harness.service.call('GET', `/api/v1/prices/${name}`);
      return [body.source, body.rates[0].input, body.rates[0].output];
    }),
  );
  expect(prices).toEqual([
    ['table', '0.02', '0'],
    ['table', '0.13', '0'],
    ['table', '0.2', '0'],
    ['table', '0.12', '0'],
  ]);
});

it.each([
  ['google/gemini-embedding-001', 100],
  ['cohere/embed-v4.0', 96],
  ['mistral/mistral-embed', 32],
  [titan, 1],
  ['amazon-bedrock/cohere.embed-english-v3', 96],
])('%s takes %d inputs, and more are refused by this number', async (model, most) => {
  const list = (length: number): string[] => Array.from({ length }, () => 'a');
  const taken = await create({ model, input: list(most) });
  expect([taken.status, taken.body.data.length, mock.requests.length]).toEqual([200, most, 1]);
  const { status, body } = await create({ model, input: list(most + 1) });
  expect([status, body.error.code, body.error.param]).toEqual([400, 'conflicting-members', 'input']);
  expect(body.error.message).toContain(`must have at most ${most} ${most === 1 ? 'item' : 'items'} for a model of`);
  expect(mock.requests).toHaveLength(1);
});

it.each([
  ['input', 'google/gemini-embedding-001', { input: [1, 2] }],
  ['input', 'cohere/embed-v4.0', { input: [[1, 2]] }],
  ['input', 'mistral/mistral-embed', { input: [[1, 2], [3]] }],
  ['input', titan, { input: [1] }],
  ['dimensions', 'cohere/embed-v4.0', { input: 'a', dimensions: 300 }],
  ['dimensions', titan, { input: 'a', dimensions: 1_536 }],
  ['dimensions', 'amazon-bedrock/amazon.nova-2-multimodal-embeddings-v1:0', { input: 'a', dimensions: 512 }],
  ['dimensions', 'amazon-bedrock/cohere.embed-english-v3', { input: 'a', dimensions: 384 }],
  ['model', 'anthropic/claude-opus-5-5', { input: 'a' }],
])('422 unsupported-by-provider: %s of %s (%j)', async (param, model, members) => {
  const { status, body } = await create({ model, ...members });
  expect([status, body.error]).toMatchObject([422, { code: 'unsupported-by-provider', param }]);
  expect(mock.requests).toHaveLength(0);
});

it('lists the models of embeddings beside the others', async () => {
  const { body } = await harness.service.call('GET', '/v1/models');
  const names = (body.data as { id: string }[]).map(({ id }) => id);
  expect(names).toEqual(expect.arrayContaining(['openai/text-embedding-3-small', titan, 'echo/echo-embed']));
  const { status } = await harness.service.call('GET', '/v1/models/openai/text-embedding-3-small');
  expect(status).toBe(200);
  expect((await create({ model: 'gemini-embedding-001', input: 'a' })).body.model).toBe('google/gemini-embedding-001');
});
