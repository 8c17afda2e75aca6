import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMemory } from '../../bench/processes.ts';
import { startMockProvider, type MockProvider, type RecordedRequest, type Step } from '../../support/mock-provider.ts';
import { figuresOf, type Figure, type Scenario, type Target, type World } from '../hostile-world.ts';

/** A stream as its caller saw it. */
interface Seen {
  /** Undefined without an answer. */
  readonly status: number | undefined;
  readonly text: string;
  /** The type of the last event; `cut` if it is neither `finish` nor `error`. */
  readonly end: 'finish' | 'error' | 'cut';
}

/** A service with a stored prompt, and the provider that it calls. */
interface Stage {
  readonly target: Target;
  readonly mock: MockProvider;
  readonly path: string;
  /** Creates a key that can only invoke. */
  key(): Promise<string>;
}

async function withStage(
  world: World,
  run: (stage: Stage) => Promise<Figure[]>,
  environment: Readonly<Record<string, string>> = {},
): Promise<Figure[]> {
  const mock = await startMockProvider();
  try {
    const target = await world.startTarget({
      OPENAI_API_KEY: 'sk-mock',
      OPENAI_BASE_URL: `${mock.url}/v1`,
      ...environment,
    });
    const { body } = await target.call('POST', '/api/v1/prompts', {
      body: {
        name: 'Any',
        messages: [{ role: 'user', content: 'Hello' }],
        selected_provider: 'openai',
        selected_model: 'gpt-5-mini',
      },
    });
    return await run({
      target,
      mock,
      path: `/api/v1/prompts/${(body as { id: string }).id}/invoke`,
      async key() {
        const made = await target.call('POST', '/api/v1/api-keys', {
          body: { name: 'Reader', scopes: ['prompts:invoke'] },
        });
        return (made.body as { key: string }).key;
      },
    });
  } finally {
    await mock.close();
  }
}

/** Lets the provider answer with this many tokens, each of which names the stream. */
function script({ mock }: Stage, id: string, tokens: number, pause: number): void {
  const steps = Array.from({ length: tokens }, (_, token): Step[] => [{ text: `${id}:${token} ` }, { pause }]);
  mock.behave(id, { kind: 'stream', steps: [...steps.flat(), { finish: 'stop' }] });
}

function textOf(id: string, tokens: number): string {
  return Array.from({ length: tokens }, (_, token) => `${id}:${token} `).join('');
}

/** Reads a stream to its end, or until it is canceled. Never rejects. */
async function read({ target, path }: Stage, key: string, model: string, signal?: AbortSignal): Promise<Seen> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  let status: number | undefined;
  let body = '';
  try {
    const asked = request(`${target.url}${path}`, { method: 'POST', headers, agent: false, signal });
    asked.end(JSON.stringify({ model, stream: true }));
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    status = response.statusCode;
    for await (const chunk of response.setEncoding('utf8')) body += chunk as string;
  } catch {
    // What was read until then counts.
  }
  const events = body.match(/^data: .*\n(?=\n)/gm)?.map((line) => JSON.parse(line.slice(6)) as Event) ?? [];
  const last = events.at(-1)?.type;
  const text = events.map(({ type, delta = '' }) => (type === 'text' ? delta : '')).join('');
  return { status, text, end: last === 'finish' || last === 'error' ? last : 'cut' };
}

interface Event {
  readonly type: string;
  readonly delta?: string;
}

async function until(isTrue: () => boolean, mostMs: number): Promise<void> {
  const end = performance.now() + mostMs;
  while (!isTrue() && performance.now() < end) await sleep(20);
}

function count(seen: readonly Seen[], isCounted: (one: Seen) => boolean): number {
  return seen.filter(isCounted).length;
}

const many = 1_000;

const slow: Scenario = {
  name: 'streams-slow',
  about: `${many} streams of four keys at once, 20 tokens each, one a second`,
  run: (world) =>
    withStage(world, async (stage) => {
      const { target } = stage;
      const keys = await Promise.all(Array.from({ length: 4 }, () => stage.key()));
      const open = (round: string, streams: number, tokens: number, pause: number): Promise<Seen[]> =>
        Promise.all(
          Array.from({ length: streams }, (_, index) => {
            const id = `${round}-${index}`;
            script(stage, id, tokens, pause);
            return read(stage, keys[index % keys.length] ?? '', id);
          }),
        );
      // The heap grows with any work. This measures the memory that open streams add.
      await open('warm', 200, 20, 10);
      await open('hot', 200, 20, 10);
      const before = await residentMemory(target.pid);
      const watching = await world.watch(target);
      const seen = await open('slow', many, 20, 1_000);
      const others = await watching.stop();
      const isRight = ({ text }: Seen, index: number): boolean => text === textOf(`slow-${index}`, 20);
      return [
        { name: 'finished with their own text', value: seen.filter(isRight).length, atLeast: many },
        { name: 'ended with finish', value: count(seen, ({ end }) => end === 'finish'), atLeast: many },
        { name: 'calls of the provider at the same time', value: stage.mock.mostConcurrent, atLeast: many },
        { name: 'memory before', value: before, unit: 'MiB' },
        {
          name: 'memory of each stream',
          value: ((others.serviceMebibytes - before) * 1_024) / many,
          unit: 'KiB',
          atMost: 200,
        },
        ...figuresOf(others, { p50: 50, serviceMebibytes: 600 }),
      ];
    }),
};

/** Opens a stream and stops reading after its first bytes. */
async function openUnread({ target, path }: Stage, key: string, model: string): Promise<Socket> {
  const { hostname, port, host } = new URL(target.url);
  const body = JSON.stringify({ model, stream: true });
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await once(socket, 'data');
  return socket.pause();
}

/** The bytes in both queues of the kernel between two ports (Linux). */
async function queuedBytes(from: number, to: number): Promise<number> {
  const hex = (port: number): string => `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  let sum = 0;
  for (const line of (await readFile('/proc/net/tcp', 'utf8')).split('\n')) {
    const [, local = '', remote = '', , queues = ''] = line.trim().split(/\s+/);
    const [sent = '', received = ''] = queues.split(':');
    if (local.endsWith(hex(from)) && remote.endsWith(hex(to))) sum += Number.parseInt(sent, 16);
    if (local.endsWith(hex(to)) && remote.endsWith(hex(from))) sum += Number.parseInt(received, 16);
  }
  return sum;
}

/** The port from which the service calls the provider. It has one connection that is in use. */
async function callingPort(mock: MockProvider): Promise<number> {
  const port = Number(new URL(mock.url).port);
  const from = port.toString(16).toUpperCase().padStart(4, '0');
  let most = { queued: -1, port: 0 };
  for (const line of (await readFile('/proc/net/tcp', 'utf8')).split('\n')) {
    const [, local = '', remote = ''] = line.trim().split(/\s+/);
    if (!local.endsWith(`:${from}`) || remote.endsWith(':0000')) continue;
    const other = Number.parseInt(remote.split(':')[1] ?? '', 16);
    const queued = await queuedBytes(port, other);
    if (queued > most.queued) most = { queued, port: other };
  }
  return most.port;
}

/**
 * The bytes of a stream that nobody reads which the service has taken from the provider's connection and not yet put
 * into the caller's, as the caller would get them. All events have the same length, so bytes tell their number.
 */
async function undelivered(stage: Stage, key: string, length: number): Promise<number> {
  const { mock, target } = stage;
  const id = `unread-${length}`;
  // JSON has six characters for it, so the connection is full before the longest answer is.
  const text = '\u0001'.repeat(length / 6);
  mock.reset();
  mock.behave(id, { kind: 'stream', steps: Array.from({ length: Math.ceil(64e6 / length) }, () => ({ text })) });
  const socket = await openUnread(stage, key, id);
  const [call] = mock.requests;
  if (call === undefined) throw new Error('the provider was not called');
  let written = -1;
  while (written !== call.written) {
    written = call.written;
    await sleep(2_000);
  }
  const framed = (bytes: number): number => bytes + bytes.toString(16).length + 4;
  // As the mock provider writes it in OpenAI's format.
  const wrapper = { id: 'chatcmpl-mock', object: 'chat.completion.chunk', created: 1_790_000_000, model: id };
  const choice = (delta: object): object => ({ ...wrapper, choices: [{ index: 0, delta, finish_reason: null }] });
  const event = `data: ${JSON.stringify(choice({ content: text }))}\n\n`.length;
  const passed = framed(`event: text\ndata: ${JSON.stringify({ type: 'text', delta: text })}\n\n`.length);
  const [up, down] = await Promise.all([
    queuedBytes(Number(new URL(mock.url).port), await callingPort(mock)),
    queuedBytes(Number(new URL(target.url).port), socket.localPort ?? 0),
  ]);
  socket.destroy();
  await call.ended;
  const taken = written / event - up / framed(event);
  const given = (socket.bytesRead + down) / passed;
  return (taken - given) * passed;
}

const unread: Scenario = {
  name: 'streams-unread',
  about: 'streams without an end whose callers stop reading: one, then 100 for 10 s',
  run: (world) =>
    withStage(world, async (stage) => {
      const { target, mock } = stage;
      const key = await stage.key();
      const words = await undelivered(stage, key, 60);
      const pages = await undelivered(stage, key, 3_000);
      mock.reset();
      for (let round = 0; round < 200; round += 1) await read(stage, key, 'mock-drip-0-20');
      const before = await residentMemory(target.pid);
      const streams = 100;
      const steps = Array.from({ length: 10_000 }, (): Step => ({ text: '\u0001'.repeat(1_000) }));
      for (let index = 0; index < streams; index += 1) mock.behave('unread', { kind: 'stream', steps });
      const sockets = await Promise.all(Array.from({ length: streams }, () => openUnread(stage, key, 'unread')));
      // A stream that had to wait for its first event began with a heartbeat.
      const isUnread = ({ model }: RecordedRequest): boolean => model === 'unread';
      await until(() => mock.requests.filter(isUnread).length >= streams, 60_000);
      const calls = mock.requests.filter(isUnread);
      const total = (): number => calls.reduce((sum, { written }) => sum + written, 0);
      for (let written = -1; written !== total(); await sleep(2_000)) written = total();
      const watching = await world.watch(target);
      await sleep(10_000);
      const others = await watching.stop();
      for (const socket of sockets) socket.destroy();
      const left = performance.now();
      await Promise.all(calls.map(({ ended }) => ended));
      return [
        { name: 'undelivered bytes, events of 100 bytes', value: words / 1_024, unit: 'KiB', atMost: 64 },
        { name: 'undelivered bytes, events of 3 KB', value: pages / 1_024, unit: 'KiB', atMost: 64 },
        {
          // The text of an answer is kept until its end. It has some 700 KB when the connection is full.
          name: 'memory of each stream, with its text so far',
          value: ((others.serviceMebibytes - before) * 1_024) / streams,
          unit: 'KiB',
          atMost: 3_072,
        },
        { name: 'canceled calls', value: calls.filter(({ aborted }) => aborted).length, atLeast: streams },
        { name: 'time until the calls ended', value: performance.now() - left, unit: 'ms', atMost: 1_000 },
        ...figuresOf(others, { p50: 50, serviceMebibytes: 600 }),
      ];
    }),
};

const greedy: Scenario = {
  name: 'streams-of-one-key',
  about: 'one key opens 2,500 streams; another one opens 50 meanwhile',
  run: (world) =>
    withStage(world, async (stage) => {
      const [key, other] = [await stage.key(), await stage.key()];
      const ending = new AbortController();
      const watching = await world.watch(stage.target);
      let refused = 0;
      const opened = Array.from({ length: 2_500 }, () =>
        read(stage, key, 'mock-drip-1000-60', ending.signal).then((seen) => {
          if (seen.status === 429) refused += 1;
          return seen;
        }),
      );
      await until(() => refused + stage.mock.requests.length >= 2_500, 60_000);
      const seen = await Promise.all(Array.from({ length: 50 }, () => read(stage, other, 'mock-drip-10-20')));
      const others = await watching.stop();
      ending.abort();
      const all = await Promise.all(opened);
      return [
        { name: 'served', value: count(all, ({ status }) => status === 200), atLeast: 900 },
        { name: 'refused with 429', value: refused, atLeast: 1 },
        { name: 'other answers', value: count(all, ({ status }) => status !== 200 && status !== 429), atMost: 0 },
        { name: 'finished streams of the other key', value: count(seen, ({ end }) => end === 'finish'), atLeast: 50 },
        ...figuresOf(others, { serviceMebibytes: 700 }),
      ];
    }),
};

const vanishing: Scenario = {
  name: 'streams-left',
  about: '500 callers leave their streams at the same time',
  run: (world) =>
    withStage(world, async (stage) => {
      const { mock } = stage;
      const key = await stage.key();
      const leaving = new AbortController();
      const watching = await world.watch(stage.target);
      const opened = Array.from({ length: 500 }, () => read(stage, key, 'mock-drip-100-600', leaving.signal));
      await until(() => mock.requests.length >= 500, 30_000);
      await sleep(2_000);
      const calls = [...mock.requests];
      const left = performance.now();
      leaving.abort();
      await Promise.all(calls.map(({ ended }) => ended));
      const endedAfter = performance.now() - left;
      await Promise.all(opened);
      return [
        { name: 'calls of the provider', value: calls.length, atLeast: 500, atMost: 500 },
        { name: 'canceled calls', value: calls.filter(({ aborted }) => aborted).length, atLeast: 500 },
        { name: 'time until all calls ended', value: endedAfter, unit: 'ms', atMost: 1_000 },
        ...figuresOf(await watching.stop(), { serviceMebibytes: 500 }),
      ];
    }),
};

const killed: Scenario = {
  name: 'streams-killed',
  about: 'kill -9 of the process while 500 callers read streams',
  run: (world) =>
    withStage(world, async (stage) => {
      const key = await stage.key();
      const opened = Array.from({ length: 500 }, () => read(stage, key, 'mock-drip-100-600'));
      await until(() => stage.mock.requests.length >= 500, 30_000);
      await sleep(2_000);
      await stage.target.kill();
      const seen = await Promise.all(opened);
      return [
        { name: 'streams that had begun', value: count(seen, ({ text }) => text !== ''), atLeast: 500 },
        { name: 'seen as finished', value: count(seen, ({ end }) => end === 'finish'), atMost: 0 },
        { name: 'seen as broken', value: count(seen, ({ end }) => end === 'cut'), atLeast: 500 },
      ];
    }),
};

const drained: Scenario = {
  name: 'streams-drained',
  about: 'SIGTERM while 250 streams have 4 s to go and 250 have a minute; the service has 8 s',
  run: (world) =>
    withStage(
      world,
      async (stage) => {
        const key = await stage.key();
        const open = (model: string): Promise<Seen>[] => Array.from({ length: 250 }, () => read(stage, key, model));
        const short = open('mock-drip-100-40');
        const long = open('mock-drip-100-600');
        await until(() => stage.mock.requests.length >= 500, 30_000);
        const started = performance.now();
        const { code } = await stage.target.stop();
        const took = performance.now() - started;
        const [shortSeen, longSeen] = await Promise.all([Promise.all(short), Promise.all(long)]);
        return [
          { name: 'short ones finished', value: count(shortSeen, ({ end }) => end === 'finish'), atLeast: 250 },
          { name: 'long ones ended with an error', value: count(longSeen, ({ end }) => end === 'error'), atLeast: 250 },
          { name: 'exit code', value: code ?? -1, atMost: 0, atLeast: 0 },
          { name: 'time until the end', value: took / 1_000, unit: 's', atMost: 12 },
        ];
      },
      { SHUTDOWN_TIMEOUT_MS: '8000' },
    ),
};

export const scenarios: readonly Scenario[] = [slow, unread, greedy, vanishing, killed, drained];
