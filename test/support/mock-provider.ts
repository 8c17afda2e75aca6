import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { findEmbeddings } from './mock-embeddings.ts';
import { findVendor, toJson, type Finish, type MockAnswer, type MockToolCall, type Vendor } from './mock-vendors.ts';

/**
 * A model provider for tests and benchmarks: a real HTTP server that speaks the wire formats of OpenAI (chat
 * completions, and the responses API as xAI uses it), Anthropic, Google, Cohere and Amazon Bedrock, whole and streamed,
 * and of embeddings (`mock-embeddings.ts`).
 * A streamed answer has one event for each word.
 *
 * The name of the model, or `behave`, selects its behaviour:
 *
 *     mock-<status>[-<seconds>]  that status with the vendor's error body, and Retry-After
 *     mock-slow-<ms>             an answer after that time
 *     mock-held                  an answer once the test calls `release`
 *     mock-flaky-<n>             status 503 n times, then answers
 *     mock-hang                  never answers
 *     mock-stall                 sends the headers and half the answer, then nothing
 *     mock-reset                 closes the connection without an answer, but says that it works at one
 *     mock-cut                   closes the connection in the middle of the answer
 *     mock-garbage               status 200 with a web page
 *     mock-partial               status 200 with JSON without the required parts
 *     mock-redirect              status 307 to `redirectTarget`
 *     mock-huge                  an answer of 17 MiB with Content-Length
 *     mock-endless               an answer that never ends, without Content-Length
 *     mock-nousage               an answer without token counts
 *     mock-tools                 a text, and calls of the tools `get_weather` and `get_time`
 *     mock-echo                  the text of the last message, of a chat completion
 *     anything else              "Hello from <model>."
 *
 * With `-detailed` at its end, usage has tokens of caches and of reasoning. `-says-<n>` in it makes usage have n output
 * tokens, `-says-<n>-<m>` also m input tokens.
 *
 * Those that differ only in streams; whole answers are the same text:
 *
 *     mock-stall, mock-cut       after half of the events; the connection stays open or is destroyed
 *     mock-endless               words that never end, as fast as the caller reads
 *     mock-drip-<ms>[-<n>]       n words (20 if left out) with that pause after each
 *     mock-reasoning             reasoning before the text
 *     mock-quiet                 the headers and an event without content, then nothing
 *     mock-unended               all words, then the end of the response without the format's own end
 *     mock-error                 an error event after two words, and the format's own end after that
 *     mock-early-error           status 200 whose first and only event is an error
 *     mock-broken                an event that is not JSON after two words, then the rest of the answer
 *
 * `{ kind: 'stream', steps }` is any other stream, such as one that continues when the test says so. A whole answer to
 * it has all its words and calls.
 *
 * Run as a program it serves benchmarks: `node test/support/mock-provider.ts --port 9100 --delay-ms 0`.
 */
export interface MockProvider {
  /**
   * Such as `http://127.0.0.1:41234`. The path of each vendor follows directly; `/mistral` and `/groq` before it make
   * streams send usage as those do.
   */
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
  /** The body as it was sent. */
  readonly text: string;
  readonly model: string;
  /** Whether the request asked for a stream. */
  readonly streamed: boolean;
  /** The number of bytes of a streamed answer that were written so far. */
  written: number;
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
  | { readonly kind: 'body'; readonly status?: number; readonly contentType: string; readonly body: string | Buffer }
  | { readonly kind: 'flaky'; readonly failures: number }
  | { readonly kind: 'stream'; readonly steps: readonly Step[] }
  | { readonly kind: 'held' | 'hang' | 'stall' | 'reset' | 'cut' | 'redirect' | 'huge' | 'endless' | 'echo' };

/** A step of a stream. The headers and the format's first event precede the first step, unless that is an error. */
export type Step =
  | { readonly text: string }
  | { readonly reasoning: string }
  | { readonly toolCall: MockToolCall }
  /** In milliseconds. */
  | { readonly pause: number }
  | { readonly wait: Promise<unknown> }
  /** The format's own end. The response ends after the last step. */
  | { readonly finish: Finish; readonly usage?: boolean }
  /** An error event with that code. */
  | { readonly error: string }
  /** An event without content; an event that is not JSON. */
  | 'ping'
  | 'garbage'
  /** Bytes of no format. */
  | { readonly raw: string }
  /** Destroys the connection; leaves it open without another byte. */
  | 'cut'
  | 'hang';

export interface MockProviderOptions {
  /** 0, the default, means any free port. */
  readonly port?: number;
  /** Delay of every answer, in milliseconds. */
  readonly delay?: number;
  /** False discards the requests, for benchmarks. */
  readonly record?: boolean;
  /** Called for each request, also if they are not recorded. */
  readonly onRequest?: (request: Pick<RecordedRequest, 'path' | 'headers' | 'model'>) => void;
  /** The target of `mock-redirect`. */
  readonly redirectTarget?: string;
}

/** Starts a mock provider on the loopback interface. */
export async function startMockProvider(options: MockProviderOptions = {}): Promise<MockProvider> {
  const { port = 0, delay = 0, record = true, onRequest, redirectTarget = 'http://127.0.0.1:9/stolen' } = options;
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
      onRequest?.({ path, headers: request.headers, model });
      const behaviour = scripts.get(model)?.shift() ?? fromName(model, delay);
      const streamed = asksForStream(path, body);
      const asksForUsage = body.includes('"include_usage":true');
      const exchange = {
        vendor,
        model,
        behaviour,
        streamed,
        asksForUsage,
        request,
        response,
        answers,
        flaked,
        hold,
        redirectTarget,
      };
      if (!record) {
        void perform({ ...exchange, said: '' });
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
        text: body,
        model,
        streamed,
        written: 0,
        aborted: false,
        ended,
      };
      requests.push(entry);
      void perform({ ...exchange, said: body, entry });
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
  readonly streamed: boolean;
  readonly asksForUsage: boolean;
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
  readonly entry?: RecordedRequest;
}

async function perform(exchange: Exchange): Promise<void> {
  const { vendor, model, behaviour, streamed, request, response, flaked, redirectTarget, said } = exchange;
  const steps = streamed ? stepsOf(exchange) : undefined;
  if (steps !== undefined) {
    await stream(exchange, steps);
    return;
  }
  switch (behaviour.kind) {
    case 'answer': {
      if (behaviour.delay) await sleep(behaviour.delay);
      sendText(response, answer(exchange, behaviour));
      return;
    }
    case 'stream': {
      sendText(response, toJson(vendor.answer(wholeAnswer(model, behaviour.steps))));
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
      const next: Behaviour = failures > behaviour.failures ? { kind: 'answer' } : { kind: 'status', status: 503 };
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
      response.writeHead(behaviour.status ?? 200, { 'Content-Type': behaviour.contentType });
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
      sendText(response, toJson(vendor.answer({ model, text, toolCalls: [], finish: 'stop', usage: true })));
      return;
    }
    case 'echo': {
      const { messages } = JSON.parse(said) as { messages: readonly { content: string }[] };
      const text = messages.at(-1)?.content ?? '';
      sendText(response, toJson(vendor.answer({ model, text, toolCalls: [], finish: 'stop', usage: true })));
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
      // Otherwise its request could have met a connection that was closed before.
      request.socket.write('HTTP/1.1 102 Processing\r\n\r\n', () => request.socket.destroy());
      return;
    case 'hang':
      return;
  }
}

/** The stream of a behaviour; undefined if its answer is no stream. */
function stepsOf({ model, behaviour, hold }: Exchange): Steps | undefined {
  const words: Step[] = wordsOf(greeting(model));
  switch (behaviour.kind) {
    case 'answer': {
      const { delay = 0, finish = 'stop', usage = true } = behaviour;
      return [...(delay > 0 ? [{ pause: delay }] : []), ...words, { finish, usage }];
    }
    case 'stream':
      return behaviour.steps;
    case 'held':
      return [{ wait: hold() }, ...words, { finish: 'stop' }];
    case 'stall':
      return [...words.slice(0, 2), 'hang'];
    case 'cut':
      return [...words.slice(0, 2), 'cut'];
    case 'huge':
      return [{ text: 'x'.repeat(17 * 1024 * 1024) }, { finish: 'stop' }];
    case 'endless':
      return (function* () {
        for (let number = 0; ; number += 1) yield { text: `word${number} ` };
      })();
    default:
      return undefined;
  }
}

type Steps = Iterable<Step>;

/** Writes a stream, no faster than the caller reads. */
async function stream(
  { vendor, model, asksForUsage, request, response, entry }: Exchange,
  steps: Steps,
): Promise<void> {
  const writer = vendor.stream(model, asksForUsage);
  const gone = new Promise((resolve) => response.once('close', resolve));
  const write = (bytes: string | Buffer): Promise<void> => {
    if (entry) entry.written += Buffer.byteLength(bytes);
    return new Promise((resolve) => {
      response.write(bytes, () => {
        resolve();
      });
    });
  };
  response.writeHead(200, { 'Content-Type': vendor.streamType });
  let isFirst = true;
  for (const step of steps) {
    if (response.destroyed) return;
    if (isFirst && !(typeof step === 'object' && 'error' in step)) await write(writer.start());
    isFirst = false;
    if (step === 'hang') return;
    if (step === 'cut') {
      request.socket.destroy();
      return;
    }
    if (step === 'ping') await write(writer.ping());
    else if (step === 'garbage') await write(writer.garbage());
    else if ('text' in step) await write(writer.text(step.text));
    else if ('reasoning' in step) await write(writer.reasoning(step.reasoning));
    else if ('pause' in step) await sleep(step.pause);
    else if ('wait' in step) await Promise.race([step.wait, gone]);
    else if ('finish' in step) await write(writer.finish(step.finish, step.usage ?? true));
    else if ('error' in step) await write(writer.error(step.error, 'The stream broke.'));
    else if ('raw' in step) await write(step.raw);
    else for (const piece of writer.toolCall(step.toolCall)) await write(piece);
  }
  response.end();
}

/** The whole answer with the words and calls of a stream. */
function wholeAnswer(model: string, steps: readonly Step[]): MockAnswer {
  let text = '';
  const toolCalls: MockToolCall[] = [];
  let finish: Finish = 'stop';
  let usage = true;
  for (const step of steps) {
    if (typeof step === 'string') continue;
    if ('text' in step) text += step.text;
    if ('toolCall' in step) toolCalls.push(step.toolCall);
    if ('finish' in step) ({ finish, usage = true } = step);
  }
  return { model, text, toolCalls, finish, usage };
}

function greeting(model: string): string {
  return `Hello from ${model}.`;
}

/** One step for each word, with the space before it. */
function wordsOf(text: string): { text: string }[] {
  return (text.match(/\s*\S+/g) ?? []).map((word) => ({ text: word }));
}

/** The calls of `mock-tools`. */
export const mockToolCalls: readonly MockToolCall[] = [
  { id: 'call_1', name: 'get_weather', arguments: '{"city":"Zürich","unit":"celsius"}' },
  { id: 'call_2', name: 'get_time', arguments: '{"zone":"Europe/Zurich"}' },
];

/** Reads a behaviour from a model's name. */
function fromName(model: string, delay: number): Behaviour {
  const [, kind = '', argument, count] = /^mock-(early-error|[a-z0-9]+)(?:-(\d+))?(?:-(\d+))?/.exec(model) ?? [];
  if (/^\d{3}$/.test(kind)) {
    const headers = argument === undefined ? {} : { 'Retry-After': argument };
    return { kind: 'status', status: Number(kind), headers };
  }
  const words = wordsOf(greeting(model));
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
    case 'tools':
      return {
        kind: 'stream',
        steps: [
          ...wordsOf('Let me look.'),
          ...mockToolCalls.map((toolCall) => ({ toolCall })),
          { finish: 'tool-calls' },
        ],
      };
    case 'drip': {
      const words = Array.from({ length: Number(count ?? 20) }, (_, index) => `word${index} `);
      const steps = words.flatMap((text): Step[] => [{ text }, { pause: Number(argument) }]);
      return { kind: 'stream', steps: [...steps, { finish: 'stop' }] };
    }
    case 'reasoning':
      return {
        kind: 'stream',
        steps: [...wordsOf('I think about it.').map(({ text }) => ({ reasoning: text })), ...words, { finish: 'stop' }],
      };
    case 'quiet':
      return { kind: 'stream', steps: ['ping', 'hang'] };
    case 'unended':
      return { kind: 'stream', steps: words };
    case 'error':
      return { kind: 'stream', steps: [...words.slice(0, 2), { error: 'server_error' }, { finish: 'stop' }] };
    case 'early-error':
      return { kind: 'stream', steps: [{ error: 'server_error' }] };
    case 'broken':
      return { kind: 'stream', steps: [...words.slice(0, 2), 'garbage', ...words.slice(2), { finish: 'stop' }] };
    case 'held':
    case 'hang':
    case 'stall':
    case 'reset':
    case 'cut':
    case 'redirect':
    case 'huge':
    case 'endless':
    case 'echo':
      return { kind };
    default:
      return { kind: 'answer', delay };
  }
}

/** The model is in the path or early in the body. Benchmarks do not parse the whole body. */
function findModel(path: string, body: string): string {
  const inPath =
    /\/models?\/([^/:?]+)(?::generateContent|:streamGenerateContent|:embedContent|:batchEmbedContents|\/converse|\/invoke)|\/models\/([^?]+):\w*[gG]enerateContent/.exec(
      path,
    );
  const name = inPath?.[1] ?? inPath?.[2];
  return name === undefined ? (/"model":"([^"]*)"/.exec(body)?.[1] ?? '') : decodeURIComponent(name);
}

/** Whether a request asks for a stream: the path says it or the body. */
function asksForStream(path: string, body: string): boolean {
  return /:streamGenerateContent|\/converse-stream$/.test(path) || /"stream":\s*true/.test(body);
}

/** The JSON of an answer, created once. */
function answer(
  { vendor, model, answers, said, request }: Exchange,
  { usage = true, finish = 'stop' }: Behaviour & { kind: 'answer' },
): string {
  const embed = findEmbeddings(request.url ?? '');
  if (embed !== undefined)
    return JSON.stringify(embed({ model, body: JSON.parse(said) as Record<string, unknown>, usage }));
  const key = `${vendor.name} ${model} ${usage} ${finish}`;
  let text = answers.get(key);
  if (text === undefined) {
    text = toJson(vendor.answer({ model, text: greeting(model), toolCalls: [], finish, usage }));
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

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: 'string' }, 'delay-ms': { type: 'string' } } });
  const mock = await startMockProvider({
    port: Number(values.port ?? 0),
    delay: Number(values['delay-ms'] ?? 0),
    record: false,
  });
  console.log(mock.url);
}
