import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMemory } from '../../bench/processes.ts';
import { startProbe } from '../probe.ts';
import type { Figure, Scenario, Target } from '../hostile-world.ts';

/** The heap of the service in all scenarios. It ends the process when it is full. */
const smallHeap = { NODE_OPTIONS: '--max-old-space-size=512' };
/** A connection that takes nothing is cut after 60 s, and this is checked every 5 s. */
const cutAfterMs = 55_000;
const cutBeforeMs = 130_000;
/** What a prompt can contain at most, nearly. */
const long = 'lorem ipsum '.repeat(75_000);

interface Asked {
  readonly key: string;
  readonly count: number;
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request on each of many connections. Of the answer it takes the first bytes, which say the status. */
function leaveUnread({ url }: Target, asked: Asked, statuses: Map<string, number>): Socket[] {
  const { key, count, method = 'GET', path, body, headers = {} } = asked;
  const { hostname, port } = new URL(url);
  const content = body === undefined ? '' : JSON.stringify(body);
  const fields = {
    host: 'x',
    connection: 'close',
    authorization: `Bearer ${key}`,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
    ...headers,
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Array.from({ length: count }, () => {
    const socket = connect({ port: Number(port), host: hostname }).on('error', () => undefined);
    socket.once('data', (chunk: Buffer) => {
      socket.pause();
      const status = chunk.toString('latin1', 9, 12);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      // Only what is sent is interesting.
      if (status !== '200') socket.resume();
    });
    socket.write(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n${content}`);
    return socket;
  });
}

/** How many are open. A paused socket notices that it was closed when it sends. */
async function countOpen(sockets: readonly Socket[]): Promise<number> {
  for (let round = 0; round < 2; round += 1) {
    for (const socket of sockets) if (!socket.destroyed) socket.write('G');
    await sleep(500);
  }
  return sockets.filter((socket) => !socket.destroyed).length;
}

/** Leaves answers unread until the service has cut their connections, while another key makes small invocations. */
async function attack(target: Target, asked: readonly Asked[], mostMebibytes: number): Promise<Figure[]> {
  const prompt = await promptOf(target, { messages: [{ role: 'user', content: 'Hello' }] });
  const other = await keyOf(target, ['prompts:invoke']);
  const before = await residentMemory(target.pid);
  let most = before;
  const sampling = setInterval(() => {
    void residentMemory(target.pid).then(
      (now) => (most = Math.max(most, now)),
      () => undefined,
    );
  }, 200);
  const stop = startProbe({
    url: `${target.url}/api/v1/prompts/${prompt}/invoke`,
    method: 'POST',
    headers: { authorization: `Bearer ${other}`, 'content-type': 'application/json' },
    body: '{"provider":"echo"}',
    pauseMs: 100,
  });
  const started = performance.now();
  const statuses = new Map<string, number>();
  const sockets = asked.flatMap((each) => leaveUnread(target, each, statuses));
  await sleep(cutAfterMs);
  let open = sockets.length;
  while (open > 0 && performance.now() - started < cutBeforeMs) open = await countOpen(sockets);
  const seconds = (performance.now() - started) / 1_000;
  const answers = await stop();
  clearInterval(sampling);
  for (const socket of sockets) socket.destroy();
  return [
    ...[...statuses].sort().map(([status, value]) => ({ name: `answered ${status}`, value })),
    { name: 'connections that are still open', value: open, atMost: 0 },
    { name: 'time until all were cut', value: seconds, unit: 's' },
    { name: "another key's small invocations", value: answers.length, atLeast: 50 },
    { name: 'of these without success', value: answers.filter(({ status }) => status !== 200).length, atMost: 0 },
    { name: 'the slowest of them', value: Math.max(...answers.map(({ ms }) => ms)), unit: 'ms' },
    { name: 'memory before', value: before, unit: 'MiB' },
    { name: 'memory of the service', value: most, unit: 'MiB', atMost: mostMebibytes },
  ];
}

async function keyOf(target: Target, scopes: readonly string[], maker = target.adminKey): Promise<string> {
  const { body } = await target.call('POST', '/api/v1/api-keys', { body: { name: 'Any', scopes }, key: maker });
  return (body as { key: string }).key;
}

async function promptOf(target: Target, members: Record<string, unknown> = {}): Promise<string> {
  const { body } = await target.call('POST', '/api/v1/prompts', {
    body: { name: 'Any', messages: [{ role: 'user', content: '{{text}}' }], ...members },
  });
  return (body as { id: string }).id;
}

/** What makes 8 MB of results. */
const largeTest = {
  providers: Array.from({ length: 8 }, () => ({ provider: 'echo' })),
  variables: { text: long },
};

async function resultsOf(target: Target): Promise<string> {
  const run = await target.call('POST', `/api/v1/prompts/${await promptOf(target)}/test`, { body: largeTest });
  return `/api/v1/test-runs/${(run.body as { id: string }).id}/results`;
}

const exportsOfPrompts: Scenario = {
  name: 'unread-exports-of-prompts',
  about: '40 prompts of 0.9 MB, and 30 exports of them that nobody reads',
  async run(world) {
    const target = await world.startTarget(smallHeap);
    for (let count = 0; count < 40; count += 1) {
      await promptOf(target, { messages: [{ role: 'user', content: long }] });
    }
    const key = await keyOf(target, ['prompts:read']);
    return await attack(target, [{ path: '/api/v1/prompts/export', key, count: 30 }], 500);
  },
};

const exportsOfTheLog: Scenario = {
  name: 'unread-exports-of-the-log',
  about: '1,500 records of invocations, and 230 exports of them that nobody reads',
  async run(world) {
    const target = await world.startTarget(smallHeap);
    const path = `/api/v1/prompts/${await promptOf(target)}/invoke`;
    const tags = Array.from({ length: 10 }, (_, index) => `tag${index}=${'x'.repeat(500)}`).join(',');
    let made = 0;
    const invoke = async (): Promise<void> => {
      while (made < 1_500) {
        made += 1;
        const body = { provider: 'echo', variables: { text: 'Hello' } };
        await target.call('POST', path, { body, headers: { 'X-Tags': tags } });
      }
    };
    await Promise.all(Array.from({ length: 16 }, invoke));
    const key = await keyOf(target, ['invocations:read']);
    return await attack(target, [{ path: '/api/v1/invocations/export', key, count: 230 }], 500);
  },
};

const resultsOfTwoKeys: Scenario = {
  name: 'unread-results-of-two-keys',
  about: 'two keys leave 200 results of test runs unread each, of 8 MB',
  async run(world) {
    const target = await world.startTarget(smallHeap);
    const path = await resultsOf(target);
    const keys = [await keyOf(target, ['prompts:read']), await keyOf(target, ['prompts:read'])];
    return await attack(
      target,
      keys.map((key) => ({ path, key, count: 200 })),
      500,
    );
  },
};

const resultsOfTwoChildren: Scenario = {
  name: 'unread-results-of-two-children',
  about: 'a key creates two keys, which leave 200 results of test runs unread each, of 8 MB',
  async run(world) {
    const target = await world.startTarget(smallHeap);
    const path = await resultsOf(target);
    const maker = await keyOf(target, ['keys:manage', 'prompts:read']);
    const keys = [await keyOf(target, ['prompts:read'], maker), await keyOf(target, ['prompts:read'], maker)];
    return await attack(
      target,
      keys.map((key) => ({ path, key, count: 200 })),
      500,
    );
  },
};

const everyKind: Scenario = {
  name: 'unread-answers-of-every-kind',
  about:
    'two keys leave 20 to 100 answers of each kind unread: prompts, lists, streams, invocations, tests, replays, files',
  async run(world) {
    const target = await world.startTarget(smallHeap);
    const large = await promptOf(target, { messages: [{ role: 'user', content: long }] });
    for (let count = 0; count < 12; count += 1) {
      await promptOf(target, { messages: [{ role: 'user', content: long }] });
    }
    const results = await resultsOf(target);
    const test = `/api/v1/prompts/${await promptOf(target)}/test`;
    const invoke = `/api/v1/prompts/${large}/invoke`;
    const scopes = ['prompts:read', 'prompts:invoke'];
    const asked = async (): Promise<Asked[]> => {
      const key = await keyOf(target, scopes);
      const replayed = { 'idempotency-key': randomUUID() };
      const body = { provider: 'echo' };
      await target.call('POST', invoke, { key, body, headers: replayed });
      return [
        { key, count: 100, path: `/api/v1/prompts/${large}` },
        { key, count: 20, path: '/api/v1/prompts' },
        { key, count: 20, path: '/api/v1/prompts/export' },
        { key, count: 100, path: results },
        { key, count: 20, path: invoke, method: 'POST', body },
        { key, count: 50, path: invoke, method: 'POST', body, headers: replayed },
        { key, count: 50, path: invoke, method: 'POST', body: { ...body, stream: true } },
        { key, count: 20, path: test, method: 'POST', body: largeTest },
        { key, count: 50, path: '/openapi.json' },
        { key, count: 50, path: '/asyncapi.json' },
      ];
    };
    return await attack(target, [...(await asked()), ...(await asked())], 700);
  },
};

export const scenarios: readonly Scenario[] = [
  exportsOfPrompts,
  exportsOfTheLog,
  resultsOfTwoKeys,
  resultsOfTwoChildren,
  everyKind,
];
