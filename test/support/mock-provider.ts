import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

/**
 * A model provider for tests and benchmarks: a real HTTP server that speaks the wire formats of OpenAI (chat
 * completions, and the responses API as xAI uses it), Anthropic, Google, Cohere and Amazon Bedrock.
 *
 * The name of the model, or `behave`, selects its behaviour:
 *
 *     mock-<status>[-<seconds>]  that status with the vendor's error body, and Retry-After
 *     mock-slow-<ms>             an answer after that time
 *     mock-held                  an answer once the test calls `release`
 *     mock-flaky-<n>             status 500 n times, then answers
 *     mock-hang                  never answers
 *     mock-stall                 sends the headers and half the answer, then nothing
 *     mock-reset                 closes the connection without an answer
 *     mock-cut                   closes the connection in the middle of the answer
 *     mock-garbage               status 200 with a web page
 *     mock-partial               status 200 with JSON without the required parts
 *     mock-redirect              status 307 to `redirectTarget`
 *     mock-huge                  an answer of 17 MiB with Content-Length
 *     mock-endless               an answer that never ends, without Content-Length
 *     mock-nousage               an answer without token counts
 *     anything else              "Hello from <model>."
 *
 * Run as a program it serves benchmarks: `node test/support/mock-provider.ts --port 9100 --delay-ms 0`.
 */
export interface MockProvider {
  /** Such as `http://127.0.0.1:41234`. The path of each vendor follows directly. */
  readonly url: string;
  /** Every request since the start or the last `reset`, oldest first. */
  readonly requests: readonly RecordedRequest[];
  /** The highest number of simultaneous requests. */
  readonly mostConcurrent: number;
  /** Sets the behaviour for the next requests for a model, one each. After that, the model's name decides again. */
  behave(model: string, ...behaviours: Behaviour[]): void;
  /** Sends the held answers, and those of later requests until the next `reset`. */
  release(): void;
  reset(): void;
  close(): Promise<void>;
}

export interface RecordedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
  readonly model: string;
  /** Whether the client disconnected before it had the complete answer. */
  aborted: boolean;
  /** Resolves when the exchange has ended in any way. */
  readonly ended: Promise<void>;
}

export type Behaviour =
  | { readonly kind: 'answer'; readonly delay?: number; readonly usage?: boolean; readonly finish?: Finish }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly code?: string;
    }
  | { readonly kind: 'body'; readonly contentType: string; readonly body: string }
  | { readonly kind: 'flaky'; readonly failures: number }
  | { readonly kind: 'held' | 'hang' | 'stall' | 'reset' | 'cut' | 'redirect' | 'huge' | 'endless' };

type Finish = 'stop' | 'length';

export interface MockProviderOptions {
  /** 0, the default, means any free port. */
  readonly port?: number;
  /** Delay of every answer, in milliseconds. */
  readonly delay?: number;
  /** False discards the requests, for benchmarks. */
  readonly record?: boolean;
  /** The target of `mock-redirect`. */
  readonly redirectTarget?: string;
}

/** Starts a mock provider on the loopback interface. */
export async function startMockProvider(options: MockProviderOptions = {}): Promise<MockProvider> {
  const { port = 0, delay = 0, record = true, redirectTarget = 'http://127.0.0.1:9/stolen' } = options;
  const requests: RecordedRequest[] = [];
  const scripts = new Map<string, Behaviour[]>();
  const answers = new Map<string, string>();
  const flaked = new Map<string, number>();
  const held: (() => void)[] = [];
  let isReleased = false;
  const hold = (): Promise<void> => (isReleased ? Promise.resolve() : new Promise((resolve) => held.push(resolve)));
  let open = 0;
  let mostConcurrent = 0;

  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const path = request.url ?? '/';
      const model = findModel(path, body);
      const vendor = findVendor(path);
      if (vendor === undefined) {
        sendJson(response, 404, { error: { message: 'no such path', type: 'not_found_error' } });
        return;
      }
      const behaviour = scripts.get(model)?.shift() ?? fromName(model, delay);
      if (!record) {
        void perform({ vendor, model, behaviour, request, response, answers, flaked, hold, redirectTarget, said: '' });
        return;
      }
      open += 1;
      mostConcurrent = Math.max(mostConcurrent, open);
      const ended = once(response, 'close').then(() => {
        open -= 1;
        entry.aborted = !response.writableFinished;
      });
      const entry: RecordedRequest = {
        path,
        headers: request.headers,
        body: JSON.parse(body) as Record<string, unknown>,
        model,
        aborted: false,
        ended,
      };
      requests.push(entry);
      void perform({ vendor, model, behaviour, request, response, answers, flaked, hold, redirectTarget, said: body });
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get mostConcurrent() {
      return mostConcurrent;
    },
    behave(model, ...behaviours) {
      scripts.set(model, [...(scripts.get(model) ?? []), ...behaviours]);
    },
    release() {
      isReleased = true;
      for (const go of held.splice(0)) go();
    },
    reset() {
      for (const go of held.splice(0)) go();
      isReleased = false;
      requests.length = 0;
      scripts.clear();
      flaked.clear();
      mostConcurrent = open;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Exchange {
  readonly vendor: Vendor;
  readonly model: string;
  readonly behaviour: Behaviour;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Serialized answers. */
  readonly answers: Map<string, string>;
  /** The number of failures of flaky models so far. */
  readonly flaked: Map<string, number>;
  /** Waits until the test releases the held answers. */
  readonly hold: () => Promise<void>;
  readonly redirectTarget: string;
  /** The body of the request, which error messages quote, as those of some real providers do. */
  readonly said: string;
}

async function perform(exchange: Exchange): Promise<void> {
  const { vendor, model, behaviour, request, response, flaked, redirectTarget, said } = exchange;
  switch (behaviour.kind) {
    case 'answer': {
      if (behaviour.delay) await sleep(behaviour.delay);
      sendText(response, answer(exchange, behaviour));
      return;
    }
    case 'held': {
      await exchange.hold();
      sendText(response, answer(exchange, { kind: 'answer' }));
      return;
    }
    case 'flaky': {
      const failures = (flaked.get(model) ?? 0) + 1;
      flaked.set(model, failures);
      const next: Behaviour = failures > behaviour.failures ? { kind: 'answer' } : { kind: 'status', status: 500 };
      await perform({ ...exchange, behaviour: next });
      return;
    }
    case 'status': {
      const key = JSON.stringify([request.headers.authorization, request.headers['x-api-key'], request.headers]);
      const message = `Refused with ${key} while reading ${said}`;
      for (const [name, value] of Object.entries(behaviour.headers ?? {})) response.setHeader(name, value);
      sendJson(response, behaviour.status, vendor.error(behaviour.status, message, behaviour.code));
      return;
    }
    case 'body': {
      response.writeHead(200, { 'Content-Type': behaviour.contentType });
      response.end(behaviour.body);
      return;
    }
    case 'redirect': {
      response.writeHead(307, { Location: redirectTarget });
      response.end();
      return;
    }
    case 'huge': {
      const text = 'x'.repeat(17 * 1024 * 1024);
      sendText(response, JSON.stringify(vendor.answer(model, text, 'stop', true)));
      return;
    }
    case 'endless': {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      const more = (): void => {
        while (response.write(' '.repeat(65_536)));
      };
      response.on('drain', more);
      more();
      return;
    }
    case 'cut':
    case 'stall': {
      const whole = answer(exchange, { kind: 'answer' });
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(whole) });
      response.write(whole.slice(0, whole.length / 2), () => {
        if (behaviour.kind === 'cut') request.socket.destroy();
      });
      return;
    }
    case 'reset':
      request.socket.destroy();
      return;
    case 'hang':
      return;
  }
}

/** Reads a behaviour from a model's name. */
function fromName(model: string, delay: number): Behaviour {
  const [, kind = '', argument] = /^mock-([a-z0-9]+)(?:-(\d+))?/.exec(model) ?? [];
  if (/^\d{3}$/.test(kind)) {
    const headers = argument === undefined ? {} : { 'Retry-After': argument };
    return { kind: 'status', status: Number(kind), headers };
  }
  switch (kind) {
    case 'slow':
      return { kind: 'answer', delay: Number(argument) };
    case 'flaky':
      return { kind: 'flaky', failures: Number(argument) };
    case 'garbage':
      return { kind: 'body', contentType: 'text/html', body: '<html><body>Bad gateway</body></html>' };
    case 'partial':
      return { kind: 'body', contentType: 'application/json', body: '{"id":"mock","choices":[],"content":null}' };
    case 'nousage':
      return { kind: 'answer', usage: false };
    case 'held':
    case 'hang':
    case 'stall':
    case 'reset':
    case 'cut':
    case 'redirect':
    case 'huge':
    case 'endless':
      return { kind };
    default:
      return { kind: 'answer', delay };
  }
}

/** The model is in the path or early in the body. Benchmarks do not parse the whole body. */
function findModel(path: string, body: string): string {
  const inPath = /\/models?\/([^/:?]+)(?::generateContent|\/converse)|\/models\/([^?]+):generateContent/.exec(path);
  const name = inPath?.[1] ?? inPath?.[2];
  return name === undefined ? (/"model":"([^"]*)"/.exec(body)?.[1] ?? '') : decodeURIComponent(name);
}

/** The JSON of an answer, created once. */
function answer(
  { vendor, model, answers }: Exchange,
  { usage = true, finish = 'stop' }: Behaviour & { kind: 'answer' },
): string {
  const key = `${vendor.name} ${model} ${usage} ${finish}`;
  let text = answers.get(key);
  if (text === undefined) {
    text = JSON.stringify(vendor.answer(model, `Hello from ${model}.`, finish, usage));
    answers.set(key, text);
  }
  return text;
}

function sendText(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** The answers and errors of one vendor. */
interface Vendor {
  readonly name: string;
  /** Without usage, vendors that always send usage send zeros. */
  answer(model: string, text: string, finish: Finish, usage: boolean): unknown;
  error(status: number, message: string, code?: string): unknown;
}

const openai: Vendor = {
  name: 'openai',
  answer: (model, text, finish, usage) => ({
    id: 'chatcmpl-mock',
    object: 'chat.completion',
    created: 1_790_000_000,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: finish }],
    ...(usage && { usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } }),
  }),
  error: (_status, message, code = 'mock_error') => ({ error: { message, type: 'mock_error', param: null, code } }),
};

const responses: Vendor = {
  name: 'responses',
  answer: (model, text, finish, usage) => ({
    id: 'resp_mock',
    object: 'response',
    created_at: 1_790_000_000,
    model,
    status: finish === 'stop' ? 'completed' : 'incomplete',
    output: [
      {
        type: 'message',
        id: 'msg_mock',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
    ...(usage && { usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 } }),
  }),
  error: openai.error,
};

const anthropic: Vendor = {
  name: 'anthropic',
  answer: (model, text, finish, usage) => ({
    id: 'msg_mock',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text }],
    stop_reason: finish === 'stop' ? 'end_turn' : 'max_tokens',
    stop_sequence: null,
    usage: usage ? { input_tokens: 11, output_tokens: 7 } : { input_tokens: 0, output_tokens: 0 },
  }),
  error: (_status, message, code = 'mock_error') => ({ type: 'error', error: { type: code, message } }),
};

const google: Vendor = {
  name: 'google',
  answer: (model, text, finish, usage) => ({
    candidates: [
      { content: { role: 'model', parts: [{ text }] }, finishReason: finish === 'stop' ? 'STOP' : 'MAX_TOKENS' },
    ],
    ...(usage && { usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 } }),
    modelVersion: model,
  }),
  error: (status, message, code = 'MOCK_ERROR') => ({ error: { code: status, message, status: code } }),
};

const cohere: Vendor = {
  name: 'cohere',
  answer: (_model, text, finish, usage) => ({
    id: 'mock',
    message: { role: 'assistant', content: [{ type: 'text', text }] },
    finish_reason: finish === 'stop' ? 'COMPLETE' : 'MAX_TOKENS',
    usage: {
      billed_units: { input_tokens: 11, output_tokens: 7 },
      tokens: { input_tokens: usage ? 11 : 0, output_tokens: usage ? 7 : 0 },
    },
  }),
  error: (_status, message) => ({ id: 'mock', message }),
};

const bedrock: Vendor = {
  name: 'bedrock',
  answer: (_model, text, finish, usage) => ({
    output: { message: { role: 'assistant', content: [{ text }] } },
    stopReason: finish === 'stop' ? 'end_turn' : 'max_tokens',
    metrics: { latencyMs: 1 },
    usage: usage
      ? { inputTokens: 11, outputTokens: 7, totalTokens: 18 }
      : { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  }),
  error: (_status, message) => ({ message }),
};

const vendors: readonly (readonly [RegExp, Vendor])[] = [
  [/\/chat\/completions(\?|$)/, openai],
  [/\/responses(\?|$)/, responses],
  [/\/messages(\?|$)/, anthropic],
  [/:generateContent(\?|$)/, google],
  [/\/converse$/, bedrock],
  [/\/chat$/, cohere],
];

function findVendor(path: string): Vendor | undefined {
  return vendors.find(([pattern]) => pattern.test(path))?.[1];
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: 'string' }, 'delay-ms': { type: 'string' } } });
  const mock = await startMockProvider({
    port: Number(values.port ?? 0),
    delay: Number(values['delay-ms'] ?? 0),
    record: false,
  });
  console.log(mock.url);
}
