import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateObject, generateText, Output, stepCountIs, streamObject, streamText, tool } from 'ai';
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { z } from 'zod';
import * as gateway from './gateway.ts';

/** The AI SDK with `@ai-sdk/openai-compatible`. */
const provider = createOpenAICompatible({
  name: 'gateway',
  baseURL: gateway.baseURL,
  apiKey: gateway.GATEWAY_KEY,
  includeUsage: true,
  supportsStructuredOutputs: true,
});
const model = provider('mock/model-a');
const prompt = 'How is Oslo?';
const Triage = z.object({
  priority: z.enum(['low', 'high']),
  email: z.email(),
  due: z
    .string()
    .regex(/^(?!0)/u)
    .optional(),
});
const triage = { priority: 'high' as const, email: 'ada@example.com' };
const tools = {
  get_weather: tool({
    description: 'Looks up the weather',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `21 °C in ${city}`,
  }),
};

beforeEach(() => gateway.reset());

describe('the AI SDK', () => {
  it('generateText', async () => {
    const { text, usage, finishReason } = await generateText({
      model,
      system: 'Be brief.',
      prompt,
      temperature: 0.3,
      topP: 0.5,
      maxOutputTokens: 60,
      seed: 5,
      stopSequences: ['###'],
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      providerOptions: { gateway: { user: '7', reasoningEffort: 'low', textVerbosity: 'medium' } },
    });
    assert.deepEqual([text, usage.totalTokens, finishReason], ['Hello from model-a.', 18, 'stop']);
    const [sent] = await gateway.requests();
    assert.deepEqual([sent?.body['temperature'], sent?.body['max_tokens']], [0.3, 60]);
  });

  it('generateText with an image', async () => {
    const data = new Uint8Array(Buffer.from('iVBORw0KGgo=', 'base64'));
    const content = [
      { type: 'text' as const, text: 'What is this?' },
      { type: 'file' as const, data, mediaType: 'image/png' },
    ];
    await generateText({ model, messages: [{ role: 'user', content }] });
    const [sent] = await gateway.requests();
    assert.deepEqual(
      sent?.body['messages'][0].content.map((part: { type: string }) => part.type),
      ['text', 'image_url'],
    );
  });

  it('generateText with a stored prompt, without and with variables', async () => {
    const slug = await gateway.createPrompt();
    await generateText({ model: provider(`prompt/${slug}`), prompt: 'Go on' });
    const providerOptions = { gateway: { prompt: { variables: { name: 'Ada' } } } };
    await generateText({ model: provider(`prompt/${slug}`), prompt: 'Go on', providerOptions });
    const said = (await gateway.requests()).map(({ body }) => body['messages'][0].content);
    assert.deepEqual(said, ['Hello world', 'Hello Ada']);
  });

  it('streamText', async () => {
    const { textStream, usage } = streamText({ model, prompt });
    const texts = await Array.fromAsync(textStream);
    assert.equal(texts.join(''), 'Hello from model-a.');
    assert(texts.length > 1);
    assert.equal((await usage).totalTokens, 18);
  });

  it('generateObject and streamObject', async () => {
    await gateway.answer({ text: JSON.stringify(triage) });
    assert.deepEqual((await generateObject({ model, schema: Triage, prompt })).object, triage);
    const [sent] = await gateway.requests();
    assert.equal(sent?.body['response_format'].type, 'json_schema');
    assert.match(JSON.stringify(sent?.body['response_format']), /\(\?!/);
    await gateway.answer({ text: JSON.stringify(triage) });
    const streamed = streamObject({ model, schema: Triage, prompt });
    assert.deepEqual((await Array.fromAsync(streamed.partialObjectStream)).at(-1), triage);
  });

  it('Output.object, whole and streamed', async () => {
    const output = Output.object({ schema: Triage });
    await gateway.answer({ text: JSON.stringify(triage) });
    assert.deepEqual((await generateText({ model, prompt, output })).output, triage);
    await gateway.answer({ text: JSON.stringify(triage) });
    assert.deepEqual(await streamText({ model, prompt, output }).output, triage);
  });

  it('several steps with tools', async () => {
    await gateway.answer({ text: 'Let me look.' }, { toolCall: gateway.weather });
    const { text, steps } = await generateText({ model, prompt, tools, stopWhen: stepCountIs(3) });
    assert.deepEqual([text, steps.length], ['Hello from model-a.', 2]);
    await checkSteps();
  });

  it('a step with a tool that is named', async () => {
    await gateway.answer({ toolCall: gateway.weather });
    const toolChoice = { type: 'tool', toolName: 'get_weather' } as const;
    const { toolResults } = await generateText({ model, prompt, tools, toolChoice });
    assert.deepEqual(
      toolResults.map(({ output }) => output),
      ['21 °C in Oslo'],
    );
  });

  it('several steps with tools, streamed', async () => {
    await gateway.answer({ text: 'Let me look.' }, { toolCall: gateway.weather });
    const result = streamText({ model, prompt, tools, stopWhen: stepCountIs(3) });
    assert.equal((await Array.fromAsync(result.textStream)).join(''), 'Let me look.Hello from model-a.');
    await checkSteps();
  });

  async function checkSteps(): Promise<void> {
    const received = await gateway.requests();
    const messages = received[1]?.body['messages'] as { role: string; content: string }[];
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'tool'],
    );
    assert.equal(messages[2]?.content, '21 °C in Oslo');
    assert.equal(received.length, 2);
  }

  for (const streamed of [false, true]) {
    it(`thought signatures survive, ${streamed ? 'streamed' : 'whole'}`, async () => {
      const google = { model: provider('google/gemini'), prompt, tools, stopWhen: stepCountIs(2) };
      await gateway.answerOfGoogle(streamed);
      if (streamed) await streamText(google).text;
      else await generateText(google);
      const [, second] = await gateway.requests();
      assert.equal(second?.body['contents'][1].parts[0].thoughtSignature, 'SIG');
    });
  }

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
      const failed = generateText({ model: provider(`mock/${name}`), prompt, maxRetries: 0 });
      await assert.rejects(failed, (error) => APICallError.isInstance(error) && error.statusCode === status);
      await gateway.assertCalls(calls);
    }
  });

  it('failures of the request', async () => {
    const refused = generateText({ model, prompt, providerOptions: { gateway: { n: 2 } } });
    await assert.rejects(refused, (error) => APICallError.isInstance(error) && error.statusCode === 400);
    const unknown = generateText({ model: provider('prompt/nothing'), prompt });
    await assert.rejects(unknown, (error) => APICallError.isInstance(error) && error.statusCode === 404);
    await gateway.assertCalls(0);
  });

  it('a stream that breaks is an error, and is not bought again', async () => {
    const errors: unknown[] = [];
    const onError = ({ error }: { error: unknown }): void => void errors.push(error);
    const result = streamText({ model: provider('mock/mock-error'), prompt, onError });
    const parts = await Array.fromAsync(result.fullStream);
    assert(parts.some(({ type }) => type === 'error'));
    assert.equal(errors.length, 1);
    await gateway.assertCalls(1);
  });
});
