/** A written-down sequence of an agent's requests, as Claude Code sends them: five turns of tools, then the answer. */
import Anthropic from '@anthropic-ai/sdk';
import { expect, it } from '@jest/globals';
import { name, setUpAnthropic } from './anthropic-harness.ts';

const setup = setUpAnthropic();

const ephemeral = { type: 'ephemeral' } as const;
/** What all requests of the agent have. */
const session = {
  system: [
    { type: 'text', text: 'You are an agent for the command line.' },
    { type: 'text', text: '# Rules\nUse the tools.', cache_control: ephemeral },
  ],
  tools: [
    {
      name: 'Bash',
      description: 'Runs a command.',
      input_schema: { type: 'object', properties: { command: { type: 'string' } } },
    },
    {
      name: 'Read',
      input_schema: { type: 'object', properties: { path: { type: 'string' } } },
      cache_control: ephemeral,
    },
  ],
  metadata: { user_id: '{"session_id":"131556cd"}' },
  max_tokens: 32_000,
} satisfies Partial<Anthropic.MessageCreateParams>;
const preview = {
  thinking: { type: 'enabled', budget_tokens: 31_999, display: 'omitted' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
} satisfies Partial<Anthropic.Beta.MessageCreateParams>;
const betas = ['claude-code-20250219', 'interleaved-thinking-2025-05-14', 'context-management-2025-06-27'];

function event(value: { readonly type: string; readonly [member: string]: unknown }): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}

/** A turn of the model, as Anthropic streams it. */
function turnOf(number: number): string {
  const usage = { input_tokens: 10, cache_read_input_tokens: 90, cache_creation_input_tokens: 0, output_tokens: 1 };
  const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model: name, content: [], usage };
  const blocks = [
    [
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'signature_delta', signature: `SIG${number}==` },
    ],
    [
      { type: 'tool_use', id: `toolu_${number}`, name: 'Bash', input: {} },
      { type: 'input_json_delta', partial_json: `{"command":"echo ${number}"}` },
    ],
  ];
  return [
    event({ type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } }),
    event({ type: 'ping' }),
    ...blocks.flatMap(([content_block, delta], index) => [
      event({ type: 'content_block_start', index, content_block }),
      event({ type: 'content_block_delta', index, delta }),
      event({ type: 'content_block_stop', index }),
    ]),
    event({
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { output_tokens: 20 },
    }),
    event({ type: 'message_stop' }),
  ].join('');
}

it('goes to Anthropic unchanged over five turns, with the thinking that came', async () => {
  for (let turn = 1; turn <= 5; turn += 1) {
    setup.mock.behave(name, { kind: 'body', contentType: 'text/event-stream', body: turnOf(turn) });
  }
  const client = new Anthropic({ baseURL: setup.service.url, authToken: setup.service.adminKey, apiKey: null });
  const messages: Anthropic.Beta.BetaMessageParam[] = [
    { role: 'user', content: [{ type: 'text', text: 'Go.', cache_control: ephemeral }] },
  ];
  for (let turn = 1; turn <= 6; turn += 1) {
    const body = { model: `anthropic/${name}`, ...session, ...preview, messages };
    const message = await client.beta.messages.stream({ ...body, betas }).finalMessage();
    const { text, headers } = setup.mock.requests[turn - 1] ?? {};
    expect(text).toBe(JSON.stringify({ ...body, model: name, stream: true }));
    expect(headers?.['anthropic-beta']).toBe(betas.join(','));
    if (turn === 6) {
      expect(message.content).toMatchObject([{ type: 'text', text: `Hello from ${name}.` }]);
      break;
    }
    expect(message.content).toMatchObject([
      { type: 'thinking', signature: `SIG${turn}==` },
      { type: 'tool_use', id: `toolu_${turn}`, input: { command: `echo ${turn}` } },
    ]);
    expect(message.usage).toMatchObject({ input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 20 });
    messages.push({ role: 'assistant', content: message.content as Anthropic.Beta.BetaContentBlockParam[] });
    const result = {
      type: 'tool_result',
      tool_use_id: `toolu_${turn}`,
      content: `${turn}\n`,
      is_error: false,
    } as const;
    messages.push({ role: 'user', content: [{ ...result, cache_control: ephemeral }] });
  }
  expect(setup.mock.requests).toHaveLength(6);
  const { body } = await setup.service.call('GET', '/api/v1/invocations?limit=100');
  const statuses = body.data.map(({ operation, status }: Record<string, string>) => [operation, status]);
  expect(statuses).toEqual(Array.from({ length: 6 }, () => ['message', 'succeeded']));
});

it('is answered by another provider too, without what only Anthropic has', async () => {
  setup.mock.reset();
  for (let turn = 1; turn <= 5; turn += 1) {
    const toolCall = { id: `call_${turn}`, name: 'Bash', arguments: `{"command":"echo ${turn}"}` };
    setup.mock.behave('model-a', { kind: 'stream', steps: [{ text: 'So.' }, { toolCall }, { finish: 'tool-calls' }] });
  }
  const client = new Anthropic({ baseURL: setup.service.url, apiKey: setup.service.adminKey });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Go.' }];
  for (let turn = 1; turn <= 6; turn += 1) {
    const message = await client.messages.stream({ model: 'mock/model-a', ...session, messages }).finalMessage();
    if (turn === 6) break;
    messages.push({ role: 'assistant', content: message.content });
    messages.push({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `call_${turn}`, content: String(turn) }],
    });
  }
  expect(setup.mock.requests).toHaveLength(6);
  expect(setup.mock.requests.at(-1)?.body['messages']).toHaveLength(12);
});
