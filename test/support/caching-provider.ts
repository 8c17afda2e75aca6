/**
 * A provider with a cache of its own, as Anthropic, OpenAI and Amazon Bedrock have it: what a request begins with is
 * found again if it is the same bytes, and the usage of the answer says how much of it was read and written. Answers are
 * whole.
 *
 * A request is a row of units: tools, instructions, and the blocks of messages. A unit is the JSON that was sent, without
 * its hint. With Anthropic and Bedrock a prefix is kept where a hint is; with OpenAI also every prefix, by the key
 * of the request, as far as it may set breakpoints itself. A token is four bytes.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface CachingProvider {
  readonly url: string;
  /** The bodies of all requests since the start or the last `reset`, as they were sent. */
  readonly bodies: readonly string[];
  /** Forgets requests and what is kept. */
  reset(): void;
  close(): Promise<void>;
}

interface Unit {
  readonly bytes: string;
  /** Whether the prefix that ends here is kept. */
  readonly isKept: boolean;
}

type Json = Record<string, unknown>;

export async function startCachingProvider(): Promise<CachingProvider> {
  const kept = new Set<string>();
  const bodies: string[] = [];

  /** Looks a request up, and keeps its prefixes. @returns tokens */
  const take = (scope: string, units: readonly Unit[]): { read: number; written: number; rest: number } => {
    const hash = createHash('sha256').update(scope);
    let [bytes, read, end] = [0, 0, 0];
    const isRead = units.some(({ isKept }) => isKept);
    const fresh: string[] = [];
    for (const unit of units) {
      hash.update(`\n${unit.bytes}`);
      bytes += unit.bytes.length;
      if (!isRead || !unit.isKept) continue;
      const prefix = hash.copy().digest('hex');
      if (kept.has(prefix)) read = bytes;
      fresh.push(prefix);
      end = bytes;
    }
    for (const prefix of fresh) kept.add(prefix);
    const tokens = (count: number): number => Math.floor(count / 4);
    return { read: tokens(read), written: tokens(end) - tokens(read), rest: tokens(bytes) - tokens(end) };
  };

  const server = createServer((request, response) => {
    void text(request).then((sent) => {
      bodies.push(sent);
      const body = JSON.parse(sent) as Json;
      const answer = answerTo(String(request.url), body, take);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answer));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    reset() {
      kept.clear();
      bodies.length = 0;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

type Take = (scope: string, units: readonly Unit[]) => { read: number; written: number; rest: number };

function answerTo(path: string, body: Json, take: Take): Json {
  if (path.startsWith('/messages')) {
    const { read, written, rest } = take('', anthropicUnits(body));
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: body['model'],
      content: [{ type: 'text', text: 'Hello.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: rest,
        cache_creation_input_tokens: written,
        cache_read_input_tokens: read,
        output_tokens: 3,
      },
    };
  }
  if (path.startsWith('/chat/completions')) {
    const { read, written, rest } = take(JSON.stringify(body['prompt_cache_key'] ?? null), openaiUnits(body));
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 0,
      model: body['model'],
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: read + written + rest,
        completion_tokens: 3,
        total_tokens: read + written + rest + 3,
        prompt_tokens_details: { cached_tokens: read },
      },
    };
  }
  const { read, written, rest } = take('', bedrockUnits(body));
  return {
    output: { message: { role: 'assistant', content: [{ text: 'Hello.' }] } },
    stopReason: 'end_turn',
    metrics: { latencyMs: 1 },
    usage: {
      inputTokens: rest,
      outputTokens: 3,
      totalTokens: read + written + rest + 3,
      cacheReadInputTokens: read,
      cacheWriteInputTokens: written,
    },
  };
}

function listOf(value: unknown): Json[] {
  if (typeof value === 'string') return [{ text: value }];
  return Array.isArray(value) ? (value as Json[]) : [];
}

function unitOf(place: string, value: Json, hint: string, isAlwaysKept = false): Unit {
  const { [hint]: control, ...rest } = value;
  return { bytes: `${place} ${JSON.stringify(rest)}`, isKept: isAlwaysKept || (control ?? null) !== null };
}

function anthropicUnits({ tools, system, messages }: Json): Unit[] {
  const hint = 'cache_control';
  return [
    ...listOf(tools).map((tool) => unitOf('tool', tool, hint)),
    ...listOf(system).map((block) => unitOf('system', block, hint)),
    ...listOf(messages).flatMap(({ role, content }) =>
      listOf(content).map((block) => unitOf(String(role), block, hint)),
    ),
  ];
}

function openaiUnits({ tools, messages, prompt_cache_options: options }: Json): Unit[] {
  const hint = 'prompt_cache_breakpoint';
  const isImplicit = (options as Json | undefined)?.['mode'] !== 'explicit';
  return [
    ...listOf(tools).map((tool) => unitOf('tool', tool, hint, isImplicit)),
    ...listOf(messages).flatMap(({ content, ...message }) =>
      listOf(content).map((part) => unitOf(JSON.stringify(message), part, hint, isImplicit)),
    ),
  ];
}

/** Here a hint is a block of its own, after what is kept. */
function bedrockUnits({ toolConfig, system, messages }: Json): Unit[] {
  const units: Unit[] = [];
  const add = (place: string, block: Json): void => {
    const last = units.at(-1);
    if (block['cachePoint'] === undefined) units.push({ bytes: `${place} ${JSON.stringify(block)}`, isKept: false });
    else if (last !== undefined) units[units.length - 1] = { ...last, isKept: true };
  };
  for (const tool of listOf((toolConfig as Json | undefined)?.['tools'])) add('tool', tool);
  for (const block of listOf(system)) add('system', block);
  for (const { role, content } of listOf(messages)) for (const block of listOf(content)) add(String(role), block);
  return units;
}
