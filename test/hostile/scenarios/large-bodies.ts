import { request as httpRequest } from 'node:http';
import { maxValues } from '../../../src/http/body-scanner.ts';
import { percentile } from '../../faults/webhooks/percentile.ts';
import { residentMemory } from '../../bench/processes.ts';
import { startMockProvider } from '../../support/mock-provider.ts';
import type { Figure, Scenario, Target, World } from '../hostile-world.ts';
import { monitorLoop, type LoopFigures } from '../loop-monitor.ts';
import { startProbe } from '../probe.ts';

const megabyte = 1024 * 1024;
/** The size limit of the operations that take images, less what stands around a value. */
const largest = 20 * megabyte - 2_000;
/** As many members and elements as a body may have, less those around a value. */
const most = maxValues - 50;

const list = (count: number, element: (index: number) => string): string =>
  Array.from({ length: Math.floor(count) }, (_, index) => element(index)).join(',');

/** Values that are expensive to parse or to look through. Some have far too many parts, others just not too many. */
const shapes: Readonly<Record<string, (bytes: number) => string>> = {
  'far too many objects': (bytes) => `[${list(bytes / 3, () => '{}')}]`,
  'far too many arrays': (bytes) => `[${list(bytes / 3, () => '[]')}]`,
  'far too many members': (bytes) => `{${list(bytes / 14, (index) => `"x${index}":1`)}}`,
  'far too deep': (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  'most objects': () => `[${list(most, () => '{}')}]`,
  'most members': () => `{${list(most, (index) => `"x${index}":1`)}}`,
  'most objects of one member': () => `[${list(most / 2, (index) => `{"x${index}":1}`)}]`,
  'most and deep': () => `[${list(most / 50, () => '['.repeat(50) + ']'.repeat(50))}]`,
  'long numbers': () => `[${list(most, (index) => `0.${1e15 + index * 7}`)}]`,
  'numbers with zeros': (bytes) => `[${list(most, () => `1.${'0'.repeat(Math.min(75, bytes / most - 4))}`)}]`,
  'one number of megabytes': (bytes) => `1${'0'.repeat(Math.min(bytes, 4e6))}`,
  'long names': (bytes) => `{${list(Math.min(most, bytes / 82), (index) => `"${'n'.repeat(68)}${index}":1`)}}`,
  'one name of megabytes': (bytes) => `{"${'n'.repeat(Math.min(bytes, 4e6))}":1}`,
  'one name of everything': (bytes) => `{"${'n'.repeat(bytes - 10)}":1}`,
  'many strings': (bytes) => `[${list(Math.min(most, bytes / 82), (index) => `"${'s'.repeat(68)}${index}"`)}]`,
  'many long strings': (bytes) => `[${list(bytes / 1_110, () => `"${'s'.repeat(1_100)}"`)}]`,
  'the same member again and again': (bytes) => `{${list(bytes / 1_110, () => `"a":"${'s'.repeat(1_100)}"`)}}`,
  'one string': (bytes) => `"${'s'.repeat(bytes - 10)}"`,
  'one string of two bytes a character': (bytes) => `"${'s'.repeat(bytes - 10)}é漢"`,
  'one string of escapes': (bytes) => `"${'\\n'.repeat(bytes / 2 - 10)}"`,
  'one string of surrogates': (bytes) => `"${'\\ud83d\\ude00'.repeat(bytes / 12 - 10)}"`,
  'half a surrogate pair': (bytes) => `"${'s'.repeat(bytes - 20)}\\ud83d"`,
  'nothing but blanks': (bytes) => `[${' '.repeat(bytes - 10)}]`,
};

interface Place {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly body: (value: string) => string;
}

function placesOf(slug: string): readonly Place[] {
  const invoke = `/api/v1/prompts/${slug}/invoke`;
  const large = (name: string, path: string, body: Place['body']): Place => ({ name, path, bytes: largest, body });
  const small = (name: string, path: string, body: Place['body']): Place => ({
    name,
    path,
    bytes: megabyte - 500,
    body,
  });
  const said = '"messages":[{"role":"user","content":"x"}]';
  return [
    large('invoke: variables', invoke, (value) => `{"variables":{"text":"x","a":${value}}}`),
    large('invoke: a variable that is used', invoke, (value) => `{"variables":{"text":${value}}}`),
    large('invoke: all variables', invoke, (value) => `{"variables":${value}}`),
    large('invoke: messages', invoke, (value) => `{"messages":${value}}`),
    large('invoke: content', invoke, (value) => `{"messages":[{"role":"user","content":${value}}]}`),
    large(
      'invoke: schema',
      invoke,
      (value) => `{"response_format":{"type":"json","schema":{"type":"object","properties":${value}}}}`,
    ),
    large('invoke: enum', invoke, (value) => `{"response_format":{"type":"json","schema":{"enum":${value}}}}`),
    large('invoke: tools', invoke, (value) => `{"tools":[{"name":"a","parameters":{"properties":${value}}}]}`),
    large('invoke: options', invoke, (value) => `{"provider_options":{"mock":{"a":${value}}}}`),
    large('invoke: unknown', invoke, (value) => `{"zzz":${value}}`),
    large('render: variables', `/api/v1/prompts/${slug}/render`, (value) => `{"variables":{"text":${value}}}`),
    large('chat: messages', '/v1/chat/completions', (value) => `{"model":"mock/any","messages":${value}}`),
    large(
      'chat: image',
      '/v1/chat/completions',
      (value) =>
        `{"model":"mock/any","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":${value}}}]}]}`,
    ),
    large(
      'chat: schema',
      '/v1/chat/completions',
      (value) =>
        `{"model":"mock/any",${said},"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":${value}}}}`,
    ),
    large(
      'chat: tools',
      '/v1/chat/completions',
      (value) =>
        `{"model":"mock/any",${said},"tools":[{"type":"function","function":{"name":"a","parameters":${value}}}]}`,
    ),
    large('messages: messages', '/v1/messages', (value) => `{"model":"mock/any","max_tokens":1,"messages":${value}}`),
    large('responses: input', '/v1/responses', (value) => `{"model":"mock/any","input":${value}}`),
    large(
      'responses: schema',
      '/v1/responses',
      (value) =>
        `{"model":"mock/any","input":"x","text":{"format":{"type":"json_schema","name":"a","schema":${value}}}}`,
    ),
    small('prompt: settings', '/api/v1/prompts', (value) => `{"name":"x","messages":[],"test_settings":${value}}`),
    small('prompt: messages', '/api/v1/prompts', (value) => `{"name":"x","messages":${value}}`),
    small(
      'test run: variables',
      `/api/v1/prompts/${slug}/test`,
      (value) => `{"providers":[{"provider":"echo"}],"variables":{"text":${value}}}`,
    ),
  ];
}

/** Sends a text as it is. @returns the status; 0 without an answer */
function send(target: Target, path: string, text: string | Buffer, key = target.adminKey): Promise<number> {
  const { hostname, port } = new URL(target.url);
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  };
  return new Promise((resolve) => {
    const sent = httpRequest({ hostname, port, path, method: 'POST', headers }, (answer) => {
      answer.resume().once('close', () => {
        resolve(answer.statusCode ?? 0);
      });
    });
    sent.once('error', () => {
      resolve(0);
    });
    sent.end(text);
  });
}

/** A service with a prompt that calls a provider on this machine. */
async function startWithProvider(
  world: World,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ target: Target; slug: string; close: () => Promise<void> }> {
  const mock = await startMockProvider({ record: false });
  const provider = { id: 'mock', base_url: mock.url, api_key: 'key', models: ['any'], structured_outputs: true };
  const target = await world.startTarget({ OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]), ...environment });
  const messages = [{ role: 'user', content: '{{text}}' }];
  const body = { name: 'Any', slug: 'any', messages, variables: { text: {} }, selected_provider: 'mock' };
  await target.call('POST', '/api/v1/prompts', { body });
  return { target, slug: 'any', close: () => mock.close() };
}

/** The longest stop of the event loop that one request may cause, in milliseconds. */
export const longestStop = 100;

/** Sends a body. @returns its status, the longest stop of the event loop, and by how many bytes the heap grew */
async function observe(
  target: Target,
  loop: () => Promise<LoopFigures>,
  path: string,
  text: Buffer,
): Promise<{ status: number; ms: number; heap: number }> {
  const before = await loop();
  const status = await send(target, path, text);
  const { longestMs, heapBytes } = await loop();
  return { status, ms: longestMs, heap: heapBytes - before.heapBytes };
}

const search: Scenario = {
  name: 'shapes-of-bodies',
  about: 'bodies of every expensive shape at the size limit of every operation that takes a large body',
  async run(world) {
    const { environment, read: loop } = monitorLoop();
    const { target, slug, close } = await startWithProvider(world, environment);
    try {
      let longest = { ms: 0, of: '' };
      let heap = { perByte: 0, of: '' };
      let unanswered = 0;
      let sent = 0;
      for (const { name, path, bytes, body } of placesOf(slug)) {
        for (const [shape, make] of Object.entries(shapes)) {
          const text = Buffer.from(body(make(bytes)));
          const of = `${name}, ${shape}`;
          const { status, ms, heap: grown } = await observe(target, loop, path, text);
          sent += 1;
          if (status === 0) unanswered += 1;
          // What the process uses anyway until its next collection would decide about smaller bodies.
          const perByte = grown / text.length;
          if (text.length >= 4 * megabyte && perByte > heap.perByte) heap = { perByte, of };
          if (ms > longest.ms) longest = { ms, of };
        }
      }
      return [
        { name: 'bodies', value: sent },
        { name: 'bodies without an answer', value: unanswered, atMost: 0 },
        { name: `longest stop of the event loop (${longest.of})`, value: longest.ms, unit: 'ms', atMost: longestStop },
        { name: `heap per byte of body (${heap.of})`, value: heap.perByte, atMost: 8 },
      ];
    } finally {
      await close();
    }
  },
};

/** Sends bodies from several keys at once, to a service with little heap. */
function kill(mebibytes: number, keys: number, perKey: number): Scenario {
  return {
    name: `heap-of-${mebibytes}-mb`,
    about: `${keys * perKey} bodies of 19 MB at once, by ${keys} keys, for a process with ${mebibytes} MB of heap`,
    async run(world) {
      const { target, slug, close } = await startWithProvider(world, {
        NODE_OPTIONS: `--max-old-space-size=${mebibytes}`,
      });
      try {
        const senders: string[] = [];
        while (senders.length < keys) senders.push(await invoker(target));
        const counts = new Map<number, number>();
        const bytes = 19_000_000;
        for (const shape of ['far too many objects', 'many long strings', 'one string of two bytes a character']) {
          const text = Buffer.from(`{"variables":{"text":"x","a":${shapes[shape]?.(bytes) ?? ''}}}`);
          const answers = senders.flatMap((key) =>
            Array.from({ length: perKey }, () => send(target, `/api/v1/prompts/${slug}/invoke`, text, key)),
          );
          for (const status of await Promise.all(answers)) counts.set(status, (counts.get(status) ?? 0) + 1);
        }
        const alive = await target.call('GET', '/health/live').catch(() => undefined);
        return [
          { name: 'the process lives', value: alive?.status === 200 ? 1 : 0, atLeast: 1 },
          { name: 'without an answer', value: counts.get(0) ?? 0, atMost: 0 },
          ...[...counts].map(([status, value]): Figure => ({ name: `answered ${status}`, value })),
          { name: 'memory of the service', value: await residentMemory(target.pid), unit: 'MiB' },
        ];
      } finally {
        await close();
      }
    },
  };
}

async function invoker(target: Target): Promise<string> {
  const body = { name: 'Greedy', scopes: ['prompts:invoke'] };
  return ((await target.call('POST', '/api/v1/api-keys', { body })).body as { key: string }).key;
}

function bodyWithImages(): Buffer {
  const image = { type: 'image', url: `data:image/png;base64,${'A'.repeat(9_400_000)}` };
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'x' }, image, image] }];
  return Buffer.from(JSON.stringify({ variables: { text: 'x' }, messages }));
}

/** Sends one body over some connections for ten seconds. @returns how many were served, in all and in a second */
async function flood(
  target: Target,
  { path, body, keys, connections }: { path: string; body: Buffer; keys: readonly string[]; connections: number },
): Promise<{ served: number; perSecond: number }> {
  let served = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async (_, index) => {
      while (performance.now() < began + 10_000) {
        if ((await send(target, path, body, keys[index % keys.length])) === 200) served += 1;
      }
    }),
  );
  return { served, perSecond: (served / (performance.now() - began)) * 1_000 };
}

const images: Scenario = {
  name: 'large-images',
  about: '24 connections send images of 19 MB, then 16 of two keys while a third key sends small invocations',
  async run(world) {
    const { target, slug, close } = await startWithProvider(world);
    try {
      const path = `/api/v1/prompts/${slug}/invoke`;
      const body = bodyWithImages();
      const [one = '', two = '', third = ''] = [await invoker(target), await invoker(target), await invoker(target)];
      const alone = await flood(target, { path, body, keys: [one], connections: 1 });
      const many = await flood(target, { path, body, keys: [one], connections: 24 });
      const stop = startProbe({
        url: target.url + path,
        method: 'POST',
        pauseMs: 20,
        headers: { authorization: `Bearer ${third}`, 'content-type': 'application/json' },
        // The mock provider shares a thread with those who send images, and parses them.
        body: JSON.stringify({ variables: { text: 'small' }, provider: 'echo' }),
      });
      const both = await flood(target, { path, body, keys: [one, two], connections: 16 });
      const others = await stop();
      const refused = others.filter(({ status }) => status !== 200).length;
      const unit = 'a second';
      return [
        { name: 'served over one connection', value: alone.perSecond, unit, atLeast: 0.1 },
        // Two measurements of the same load differ by a tenth.
        { name: 'served over 24 connections', value: many.perSecond, unit, atLeast: alone.perSecond * 0.9 },
        { name: 'served over 16 connections of two keys', value: both.perSecond, unit, atLeast: 0.1 },
        { name: "third key's small invocations", value: others.length },
        { name: 'refused of them', value: refused, atMost: 0 },
        {
          name: 'their p95',
          value: percentile(
            others.map(({ ms }) => ms),
            0.95,
          ),
          unit: 'ms',
          atMost: 100,
        },
      ];
    } finally {
      await close();
    }
  },
};

export const scenarios: readonly Scenario[] = [search, kill(512, 1, 2), kill(1_024, 2, 4), images];
