/** What a provider's answer becomes: text, calls of tools, metadata for the next request, and usage. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  callsOf,
  type AnswerPart,
  type GenerateResult,
  type Message,
  type Tool,
} from '../../src/models/language-model.ts';
import { collect, provider, remoteIds, request, startHarness, streamOf, type Harness } from './providers-harness.ts';

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

const weather: Tool = { name: 'weather', parameters: { type: 'object' } };
const input = '{"city": "Bern"}';

/** The result of a request with a tool, for a body as the provider sends it. */
async function resultOf(id: string, body: object, messages?: readonly Message[]): Promise<GenerateResult> {
  harness.mock.behave('llama', { kind: 'body', contentType: 'application/json', body: JSON.stringify(body) });
  return provider(harness.registry, id).generate(request('llama', { tools: [weather], ...(messages && { messages }) }));
}

function completion(message: object, usage: object, finish = 'tool_calls'): object {
  const choices = [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish }];
  return { id: 'c', object: 'chat.completion', created: 1_790_000_000, model: 'llama', choices, usage };
}

const chatCalls = ['call_1', 'call_2'].map((id) => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: input },
}));
const chatUsage = {
  prompt_tokens: 20,
  completion_tokens: 9,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 4 },
};

const chatAnswer = completion({ tool_calls: chatCalls }, chatUsage);

/** Where it is not `chatAnswer`. */
const answers: Record<string, object> = {
  mistral: completion({ tool_calls: chatCalls }, { ...chatUsage, num_cached_tokens: 8 }),
  deepseek: completion({ tool_calls: chatCalls }, { ...chatUsage, prompt_cache_hit_tokens: 8 }),
  xai: {
    id: 'r',
    object: 'response',
    created_at: 1_790_000_000,
    model: 'llama',
    status: 'completed',
    output: ['call_1', 'call_2'].map((id) => ({
      type: 'function_call',
      id: `fc_${id}`,
      call_id: id,
      name: 'weather',
      arguments: input,
      status: 'completed',
    })),
    usage: {
      input_tokens: 20,
      output_tokens: 9,
      total_tokens: 29,
      input_tokens_details: { cached_tokens: 8 },
      output_tokens_details: { reasoning_tokens: 4 },
    },
  },
  anthropic: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'llama',
    content: ['call_1', 'call_2'].map((id) => ({ type: 'tool_use', id, name: 'weather', input: { city: 'Bern' } })),
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage: {
      input_tokens: 12,
      cache_read_input_tokens: 8,
      cache_creation_input_tokens: 0,
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 4 },
    },
  },
  google: {
    candidates: [
      {
        content: {
          role: 'model',
          parts: ['call_1', 'call_2'].map((id) => ({ functionCall: { id, name: 'weather', args: { city: 'Bern' } } })),
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: {
      promptTokenCount: 20,
      cachedContentTokenCount: 8,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 4,
      totalTokenCount: 29,
    },
  },
  'amazon-bedrock': {
    output: {
      message: {
        role: 'assistant',
        content: ['call_1', 'call_2'].map((toolUseId) => ({
          toolUse: { toolUseId, name: 'weather', input: { city: 'Bern' } },
        })),
      },
    },
    stopReason: 'tool_use',
    usage: { inputTokens: 12, cacheReadInputTokens: 8, outputTokens: 9, totalTokens: 29 },
  },
  cohere: {
    generation_id: 'g',
    message: { role: 'assistant', tool_calls: chatCalls },
    finish_reason: 'TOOL_CALL',
    usage: { tokens: { input_tokens: 20, output_tokens: 9 } },
  },
};

/** These do not say how many tokens of the answer are reasoning. */
const withoutReasoning = ['amazon-bedrock', 'cohere'];

describe.each([...remoteIds, 'local'])('%s', (id) => {
  it('asks for calls of tools, and says how many tokens came from its cache and how many are reasoning', async () => {
    const { usage, ...result } = await resultOf(id, answers[id] ?? chatAnswer);
    const calls = callsOf(result);
    expect(result).toEqual({ content: calls, finishReason: 'tool-calls' });
    expect(calls.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) as unknown }))).toEqual([
      { type: 'tool-call', id: 'call_1', name: 'weather', arguments: { city: 'Bern' } },
      { type: 'tool-call', id: 'call_2', name: 'weather', arguments: { city: 'Bern' } },
    ]);
    expect(usage).toEqual({
      inputTokens: 20,
      outputTokens: 9,
      ...(id !== 'cohere' && { cachedInputTokens: 8 }),
      ...(id === 'anthropic' && { cacheWriteInputTokens: 0 }),
      ...(!withoutReasoning.includes(id) && { reasoningTokens: 4 }),
    });
  });

  it('has no count that the provider leaves out', async () => {
    const { usage } = await provider(harness.registry, id).generate(request('llama'));
    expect(usage).toEqual({ inputTokens: 11, outputTokens: 7 });
  });
});

describe('arguments', () => {
  it.each(['openai', 'local', 'xai'])('of %s are the text that the model wrote', async (id) => {
    const [call] = callsOf(await resultOf(id, answers[id] ?? chatAnswer));
    expect(call?.arguments).toBe(input);
  });

  it('can be broken JSON', async () => {
    const broken = [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city": ' } }];
    const [call] = callsOf(await resultOf('openai', completion({ tool_calls: broken }, chatUsage)));
    expect(call?.arguments).toBe('{"city": ');
  });
});

describe('usage', () => {
  it('has zeros that the provider sends', async () => {
    const zeros = { prompt_tokens_details: { cached_tokens: 0 }, completion_tokens_details: { reasoning_tokens: 0 } };
    const { usage } = await resultOf('openai', completion({ content: 'Hi' }, { ...chatUsage, ...zeros }, 'stop'));
    expect(usage).toEqual({ inputTokens: 20, outputTokens: 9, cachedInputTokens: 0, reasoningTokens: 0 });
  });
});

describe('billed units of Cohere', () => {
  const usage = {
    billed_units: { input_tokens: 12, output_tokens: 5, search_units: 1 },
    tokens: { input_tokens: 20, output_tokens: 9 },
  };

  it('are its usage, in whole and streamed answers, also if they are 0', async () => {
    const whole = await resultOf('cohere', { ...answers['cohere'], usage });
    expect(whole.usage).toEqual({ inputTokens: 12, outputTokens: 5 });
    const free = { ...usage, billed_units: { input_tokens: 0, output_tokens: 0 } };
    expect((await resultOf('cohere', { ...answers['cohere'], usage: free })).usage).toEqual({
      inputTokens: 0,
      outputTokens: 0,
    });
    const events = [
      { type: 'message-start', id: 'm', delta: { message: { role: 'assistant', content: [] } } },
      { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Hi' } } } },
      { type: 'content-end', index: 0 },
      { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage } },
    ];
    const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
    harness.mock.behave('llama', { kind: 'body', contentType: 'text/event-stream', body });
    const { events: seen } = await collect(streamOf(harness.registry, 'cohere', request('llama')));
    expect(seen.at(-1)).toMatchObject({ type: 'finish', result: { usage: { inputTokens: 12, outputTokens: 5 } } });
  });
});

describe('tokens written to a cache', () => {
  const written = { cachedInputTokens: 8, cacheWriteInputTokens: 100, cacheWrite1hInputTokens: 60 };

  it('of Anthropic are kept by their lifetime, in whole and streamed answers', async () => {
    const counts = {
      input_tokens: 12,
      cache_read_input_tokens: 8,
      cache_creation_input_tokens: 100,
      cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 60 },
      output_tokens: 9,
    };
    const { usage } = await resultOf('anthropic', { ...answers['anthropic'], usage: counts });
    expect(usage).toEqual({ inputTokens: 120, outputTokens: 9, ...written });

    const events = [
      { type: 'message_start', message: { ...answers['anthropic'], content: [], stop_reason: null, usage: counts } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      // Repeats only a part of the counts.
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { input_tokens: 12, output_tokens: 30 },
      },
      { type: 'message_stop' },
    ];
    const lines = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    const streamed = async (raw: readonly string[]): Promise<unknown> => {
      harness.mock.behave('llama', { kind: 'body', contentType: 'text/event-stream', body: raw.join('') });
      const { events: seen, problem } = await collect(streamOf(harness.registry, 'anthropic', request('llama')));
      const last = seen.at(-1);
      return last?.type === 'finish' ? last.result.usage : problem?.extensions.usage;
    };
    expect(await streamed(lines)).toEqual({ inputTokens: 120, outputTokens: 30, ...written });
    expect(await streamed(lines.slice(0, 3))).toEqual({ inputTokens: 120, outputTokens: 9, ...written });
  });

  it('of Bedrock are kept by their lifetime', async () => {
    const cacheDetails = [
      { ttl: '5m', inputTokens: 40 },
      { ttl: '1h', inputTokens: 60 },
    ];
    const usage = {
      inputTokens: 12,
      cacheReadInputTokens: 8,
      cacheWriteInputTokens: 100,
      cacheDetails,
      outputTokens: 9,
      totalTokens: 129,
    };
    const result = await resultOf('amazon-bedrock', { ...answers['amazon-bedrock'], usage });
    expect(result.usage).toEqual({ inputTokens: 120, outputTokens: 9, ...written });
  });

  it.each(['openai', 'local'])('of %s are part of the input tokens that it counts', async (id) => {
    const usage = { ...chatUsage, prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 5 } };
    const result = await resultOf(id, completion({ content: 'Hi' }, usage, 'stop'));
    expect(result.usage).toMatchObject({ inputTokens: 20, cachedInputTokens: 8, cacheWriteInputTokens: 5 });
  });

  it('are not added to those of servers that count them in both forms', async () => {
    const both = { cache_read_input_tokens: 8, cache_creation_input_tokens: 5 };
    const result = await resultOf('local', completion({ content: 'Hi' }, { ...chatUsage, ...both }, 'stop'));
    expect(result.usage).toMatchObject({ inputTokens: 20, cachedInputTokens: 8, cacheWriteInputTokens: 5 });
  });
});

describe('metadata of calls', () => {
  /** Sends the calls of a result back, with results of the tools. */
  async function sendBack(id: string, { content }: Pick<GenerateResult, 'content'>): Promise<Record<string, unknown>> {
    harness.mock.reset();
    const messages: Message[] = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content },
      ...callsOf({ content }).map((call): Message => ({
        role: 'tool',
        toolCallId: call.id,
        toolName: call.name,
        content: 'Sunny',
      })),
    ];
    await provider(harness.registry, id).generate(request('llama', { tools: [weather], messages }));
    return harness.mock.requests[0]?.body ?? {};
  }

  const thinking = (signature: string, thought = 'Hm.'): object => ({ type: 'thinking', thinking: thought, signature });
  const use = (id: string): object => ({ type: 'tool_use', id, name: 'weather', input: { city: 'Bern' } });
  const message = (...content: object[]): object => ({ ...(answers['anthropic'] as object), content });

  it('contains the thinking of Anthropic, which goes back before the text', async () => {
    const said = { type: 'text', text: 'I look.' };
    const result = await resultOf(
      'anthropic',
      message(thinking('S1'), said, use('a'), thinking('S2'), use('b'), use('c')),
    );
    const thought = (signature: string): object => ({
      type: 'thinking',
      text: 'Hm.',
      provider_metadata: { provider: 'anthropic', signature: { signature } },
    });
    const called = (id: string): object => expect.objectContaining({ type: 'tool-call', id }) as object;
    expect(result.content).toEqual([
      thought('S1'),
      { type: 'text', text: 'I look.' },
      called('a'),
      thought('S2'),
      called('b'),
      called('c'),
    ]);
    const { messages } = await sendBack('anthropic', result);
    expect(messages).toMatchObject([
      {},
      {
        role: 'assistant',
        content: [thinking('S1'), said, { id: 'a' }, thinking('S2'), { id: 'b' }, { id: 'c' }],
      },
      { content: [{ tool_use_id: 'a' }, { tool_use_id: 'b' }, { tool_use_id: 'c' }] },
    ]);
  });

  it('contains redacted thinking of Anthropic', async () => {
    const result = await resultOf('anthropic', message({ type: 'redacted_thinking', data: 'DATA' }, use('a')));
    const { messages } = await sendBack('anthropic', result);
    expect(messages).toMatchObject([{}, { content: [{ type: 'redacted_thinking', data: 'DATA' }, { id: 'a' }] }, {}]);
  });

  it('contains the signatures of Google', async () => {
    const part = { functionCall: { id: 'a', name: 'weather', args: {} }, thoughtSignature: 'SIG' };
    const thought = { text: 'Hm.', thought: true };
    const body = { candidates: [{ content: { role: 'model', parts: [thought, part] }, finishReason: 'STOP' }] };
    const result = await resultOf('google', body);
    expect(result).toMatchObject({
      content: [
        { type: 'thinking', text: 'Hm.' },
        { type: 'tool-call', provider_metadata: { provider: 'google', call: { thoughtSignature: 'SIG' } } },
      ],
    });
    const { contents } = await sendBack('google', result);
    expect(contents).toMatchObject([
      {},
      { parts: [{ functionCall: { name: 'weather' }, thoughtSignature: 'SIG' }] },
      {},
    ]);
  });

  it('contains the signatures that compatible servers pass on', async () => {
    const calls = [{ ...chatCalls[0], extra_content: { google: { thought_signature: 'SIG' } } }];
    const result = await resultOf('local', completion({ tool_calls: calls }, chatUsage));
    const { messages } = await sendBack('local', result);
    expect(JSON.stringify(messages)).toContain('{"google":{"thought_signature":"SIG"}}');
  });

  it('contains the reasoning of DeepSeek, which has no signature', async () => {
    const reasoned = completion({ reasoning_content: 'Hm.', tool_calls: chatCalls }, chatUsage);
    const { messages } = await sendBack('deepseek', await resultOf('deepseek', reasoned));
    expect(messages).toMatchObject([{}, { reasoning_content: 'Hm.' }, {}, {}]);
  });

  it('contains the reasoning of Bedrock and xAI', async () => {
    const reasoningContent = { reasoningText: { text: 'Hm.', signature: 'SIG' } };
    const content = [{ reasoningContent }, { toolUse: { toolUseId: 'a', name: 'weather', input: {} } }];
    const bedrock = { ...answers['amazon-bedrock'], output: { message: { role: 'assistant', content } } };
    const sent = await sendBack('amazon-bedrock', await resultOf('amazon-bedrock', bedrock));
    expect(sent).toMatchObject({ messages: [{}, { content: [{ reasoningContent }, { toolUse: {} }] }, {}] });

    const { output } = answers['xai'] as { output: object[] };
    const encrypted = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'SECRET', status: 'completed' };
    const result = await resultOf('xai', { ...answers['xai'], output: [encrypted, ...output] });
    expect(JSON.stringify(await sendBack('xai', result))).toContain('"encrypted_content":"SECRET"');
  });

  it('can be long', async () => {
    const long = thinking('S'.repeat(100_000), 'x'.repeat(100_000));
    const { messages } = await sendBack('anthropic', await resultOf('anthropic', message(long, use('a'))));
    expect(messages).toMatchObject([{}, { content: [long, { id: 'a' }] }, {}]);
  });

  it('goes back only as far as answers contain it', async () => {
    const call = { thoughtSignature: 7, id: 'forged', cacheControl: { type: 'ephemeral' } };
    const content: AnswerPart[] = [
      { type: 'thinking', text: 'kept', provider_metadata: { provider: 'local', signature: { model: 'gpt' } } },
      {
        type: 'tool-call',
        id: 'a',
        name: 'weather',
        arguments: '{}',
        provider_metadata: { provider: 'local', call, model: 'gpt' },
      },
    ];
    const body = JSON.stringify(await sendBack('local', { content }));
    expect(body).not.toMatch(/forged|gpt|ephemeral|thought_signature/);
  });
});

describe('too many or too long calls of tools', () => {
  const call = (id: string, name = 'weather'): object => ({
    id,
    type: 'function',
    function: { name, arguments: '{}' },
  });
  const calls = (count: number): object[] => Array.from({ length: count }, (_, index) => call(`call_${index}`));

  it('are refused as an answer that the service cannot read', async () => {
    const { content } = await resultOf('openai', completion({ tool_calls: calls(1_000) }, chatUsage));
    expect(content).toHaveLength(1_000);
    harness.mock.reset();
    for (const refused of [calls(1_001), [call('x'.repeat(1_001))], [call('x', 'y'.repeat(1_001))]]) {
      const answer = resultOf('openai', completion({ tool_calls: refused }, chatUsage));
      await expect(answer).rejects.toMatchObject({ type: 'provider-bad-answer' });
      expect(harness.mock.requests).toHaveLength(1);
      harness.mock.reset();
    }
  });
});
