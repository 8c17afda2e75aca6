import { AIMessageChunk, HumanMessage, SystemMessage, type BaseMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings, type ChatOpenAIFields } from '@langchain/openai';
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { z } from 'zod';
import * as gateway from './gateway.ts';

/** `ChatOpenAI` of `@langchain/openai`. */
function chat(model = 'mock/model-a', fields: ChatOpenAIFields = {}): ChatOpenAI {
  return new ChatOpenAI({ model, apiKey: gateway.GATEWAY_KEY, configuration: { baseURL: gateway.baseURL }, ...fields });
}

const getWeather = tool(({ city }) => `21 °C in ${city}`, {
  name: 'get_weather',
  description: 'Looks up the weather',
  schema: z.object({ city: z.string() }),
});
const Triage = z.object({ priority: z.enum(['low', 'high']), email: z.email() });
const triage = { priority: 'high', email: 'ada@example.com' };

beforeEach(() => gateway.reset());

describe('LangChain', () => {
  it('invoke', async () => {
    const message = await chat(undefined, { temperature: 0.2, maxTokens: 50 }).invoke([
      ...[new SystemMessage('Be brief.'), new HumanMessage({ content: 'Hi', name: 'Ada' })],
    ]);
    assert.deepEqual([message.text, message.usage_metadata?.total_tokens], ['Hello from model-a.', 18]);
    const [sent] = await gateway.requests();
    assert.deepEqual([sent?.body['temperature'], sent?.body['max_tokens']], [0.2, 50]);
  });

  it('invoke with a stored prompt and variables', async () => {
    const slug = await gateway.createPrompt();
    const modelKwargs = { prompt: { variables: { name: 'Ada' } } };
    await chat(`prompt/${slug}`, { modelKwargs }).invoke('Go on');
    const [sent] = await gateway.requests();
    assert.equal(sent?.body['messages'][0].content, 'Hello Ada');
  });

  it('invoke with an image', async () => {
    const image_url = { url: 'data:image/png;base64,iVBORw0KGgo=' };
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url },
    ];
    assert.equal((await chat().invoke([new HumanMessage({ content })])).text, 'Hello from model-a.');
  });

  it('stream', async () => {
    const chunks = await Array.fromAsync(await chat().stream('Hi'));
    const whole = chunks.reduce((sum, chunk) => sum.concat(chunk));
    assert.deepEqual([whole.text, whole.usage_metadata?.output_tokens], ['Hello from model-a.', 7]);
  });

  for (const options of [{}, { strict: true, parallel_tool_calls: false, tool_choice: 'get_weather' }]) {
    it(`bindTools ${JSON.stringify(options)}`, async () => {
      await gateway.answer({ toolCall: gateway.weather });
      await roundTrip(chat(), options);
    });
  }

  async function roundTrip(on: ChatOpenAI, options = {}): Promise<void> {
    const bound = on.bindTools([getWeather], options);
    const messages: BaseMessage[] = [new HumanMessage('How is Oslo?')];
    const called = await bound.invoke(messages);
    assert.equal(called.tool_calls?.length, 1);
    messages.push(called, await getWeather.invoke(called.tool_calls[0]!));
    assert.equal((await bound.invoke(messages)).text, 'Hello from model-a.');
    const sent = (await gateway.requests()).at(-1)?.body['messages'] as { role: string; content: string }[];
    assert.deepEqual(
      sent.map(({ role }) => role),
      ['user', 'assistant', 'tool'],
    );
    assert.equal(sent[2]?.content, '21 °C in Oslo');
  }

  it('stream of calls', async () => {
    await gateway.answer({ text: 'Let me look.' }, { toolCall: gateway.weather });
    let whole: AIMessageChunk | undefined;
    for await (const chunk of await chat().bindTools([getWeather]).stream('How is Oslo?')) {
      whole = whole?.concat(chunk) ?? chunk;
    }
    assert.deepEqual(
      whole?.tool_calls?.map(({ name, args }) => [name, args]),
      [['get_weather', { city: 'Oslo' }]],
    );
  });

  for (const method of ['jsonSchema', 'jsonMode', 'functionCalling'] as const) {
    it(`withStructuredOutput, ${method}`, async () => {
      const text = JSON.stringify(triage);
      await gateway.answer(
        method === 'functionCalling' ? { toolCall: { id: '1', name: 'extract', arguments: text } } : { text },
      );
      assert.deepEqual(await chat().withStructuredOutput(Triage, { method, name: 'extract' }).invoke('Hi'), triage);
    });
  }

  it('with the Responses API', async () => {
    const on = chat(undefined, { useResponsesApi: true });
    assert.equal((await on.invoke('Hi')).text, 'Hello from model-a.');
    const chunks = await Array.fromAsync(await on.stream('Hi'));
    assert.equal(chunks.map(({ text }) => text).join(''), 'Hello from model-a.');
    await gateway.answer({ text: JSON.stringify(triage) });
    assert.deepEqual(await on.withStructuredOutput(Triage).invoke('Hi'), triage);
    await gateway.answer({ toolCall: gateway.weather });
    await roundTrip(on);
  });

  it('drops thought signatures: a limitation of the package', async () => {
    await gateway.answerOfGoogle(false);
    const bound = chat('google/gemini').bindTools([getWeather]);
    const called = await bound.invoke('How is Oslo?');
    await bound.invoke([new HumanMessage('How is Oslo?'), called, await getWeather.invoke(called.tool_calls![0]!)]);
    const [, second] = await gateway.requests();
    assert.doesNotMatch(JSON.stringify(second?.body['contents']), /thoughtSignature/);
  });

  it('failures of the provider are not repeated by the service', async () => {
    // The package ignores `x-should-retry`, so its own retries are off.
    for (const [name, calls, status] of [
      ['mock-401', 1, 502],
      ['mock-400', 1, 400],
      ['mock-429', 3, 429],
      ['mock-garbage', 1, 502],
      ['mock-reset', 1, 502],
      ['mock-503', 3, 502],
    ] as const) {
      await gateway.reset();
      await assert.rejects(chat(`mock/${name}`, { maxRetries: 0 }).invoke('Hi'), { status });
      await gateway.assertCalls(calls);
    }
  });

  it('failures of the request, and a stream that breaks', async () => {
    await assert.rejects(chat(undefined, { n: 2 }).invoke('Hi'), { status: 400, code: 'invalid-request' });
    await gateway.assertCalls(0);
    const stream = await chat('mock/mock-error').stream('Hi');
    await assert.rejects(Array.fromAsync(stream));
    await gateway.assertCalls(1);
  });
});

describe("LangChain's OpenAIEmbeddings", () => {
  const embeddings = (model = 'mock/embed-a', fields: object = {}): OpenAIEmbeddings =>
    new OpenAIEmbeddings({
      model,
      apiKey: gateway.GATEWAY_KEY,
      configuration: { baseURL: gateway.baseURL },
      ...fields,
    });
  const length = (vector: readonly number[] | undefined): number => Math.hypot(...(vector ?? []));

  it('embedQuery', async () => {
    const vector = await embeddings(undefined, { dimensions: 8 }).embedQuery('Hello');
    assert.equal(vector.length, 8);
    const [sent] = await gateway.requests();
    assert.deepEqual([sent?.body['input'], sent?.body['dimensions']], ['Hello', 8]);
  });

  it('embedDocuments, in batches', async () => {
    const texts = Array.from({ length: 5 }, (_, index) => `text ${index}`);
    const vectors = await embeddings(undefined, { batchSize: 2 }).embedDocuments(texts);
    assert.equal(vectors.length, 5);
    await gateway.assertCalls(3);
  });

  it('embeds without a provider', async () => {
    const [vector] = await embeddings('echo/echo-embed').embedDocuments(['out of paper']);
    assert.ok(Math.abs(length(vector) - 1) < 1e-6);
  });
});
