import Anthropic from '@anthropic-ai/sdk';
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import * as gateway from './gateway.ts';

/** `@anthropic-ai/sdk`, over any provider and over Anthropic itself. */
const client = new Anthropic({ baseURL: gateway.GATEWAY_URL, apiKey: gateway.GATEWAY_KEY });
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'What is a webhook?' }];
const tools: Anthropic.Tool[] = [{ name: 'get_weather', input_schema: { type: 'object' } }];

beforeEach(() => gateway.reset());

for (const model of ['mock/model-a', 'anthropic/model-a']) {
  describe(`@anthropic-ai/sdk with ${model}`, () => {
    const asked = { model, messages, max_tokens: 100 };

    it('create', async () => {
      const message = await client.messages.create(asked);
      assert.partialDeepStrictEqual(message.content, [{ type: 'text', text: 'Hello from model-a.' }]);
      assert.equal(message.usage.output_tokens, 7);
      assert(message._request_id);
    });

    it('stream', async () => {
      const texts: string[] = [];
      const stream = client.messages.stream(asked).on('text', (text) => texts.push(text));
      const message = await stream.finalMessage();
      assert.equal(texts.join(''), 'Hello from model-a.');
      assert.equal(message.stop_reason, 'end_turn');
    });

    it('tools', async () => {
      await gateway.answer({ text: 'I look.' }, { toolCall: gateway.weather });
      const message = await client.messages.stream({ ...asked, tools }).finalMessage();
      assert.equal(message.stop_reason, 'tool_use');
      const result: Anthropic.ToolResultBlockParam = { type: 'tool_result', tool_use_id: 'call_1', content: '21 °C' };
      const turns: Anthropic.MessageParam[] = [
        ...messages,
        { role: 'assistant', content: message.content },
        { role: 'user', content: [result] },
      ];
      const final = await client.messages.create({ ...asked, messages: turns, tools });
      assert.partialDeepStrictEqual(final.content, [{ type: 'text', text: 'Hello from model-a.' }]);
      await gateway.assertCalls(2);
    });

    it('errors, once', async () => {
      for (const [name, errorClass] of [
        ['mock-400', Anthropic.BadRequestError],
        ['mock-404', Anthropic.NotFoundError],
        ['mock-429-300', Anthropic.RateLimitError],
        ['mock-500', Anthropic.InternalServerError],
      ] as const) {
        await gateway.reset();
        const failing = { ...asked, model: model.replace('model-a', name) };
        await assert.rejects(client.messages.create(failing), errorClass);
        await gateway.assertCalls(1);
      }
    });
  });
}
