/** Doors beside the door: what one caller, or one server that is called, must not do to others or see of them. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../faults/webhooks/percentile.ts';
import { openConnection } from '../../support/raw-connection.ts';
import { figuresOf, type CallOptions, type CallResult, type Scenario, type Target } from '../hostile-world.ts';

async function must(target: Target, method: string, path: string, options?: CallOptions): Promise<CallResult['body']> {
  const { status, body } = await target.call(method, path, options);
  if (status >= 300) throw new Error(`${method} ${path} was answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

async function createKey(target: Target, ...scopes: string[]): Promise<string> {
  return String((await must(target, 'POST', '/api/v1/api-keys', { body: { name: 'Hostile', scopes } })).key);
}

async function setDataset(target: Target, name: string, cases: readonly object[]): Promise<void> {
  const headers = { authorization: `Bearer ${target.adminKey}`, 'content-type': 'application/x-ndjson' };
  const body = cases.map((one) => `${JSON.stringify(one)}\n`).join('');
  const { status } = await fetch(`${target.url}/api/v1/datasets/${name}`, { method: 'PUT', headers, body });
  if (status >= 300) throw new Error(`the data set was answered ${status}`);
}

const large = 'x'.repeat(200 * 1024);
const signIn = {
  OIDC_ISSUER: 'http://127.0.0.1:9',
  OIDC_CLIENT_ID: 'hostile',
  OIDC_CLIENT_SECRET: 'EXAMPLE-not-a-real-secret',
  OIDC_ROLES: '{"admins":"administrator"}',
  PUBLIC_URL: 'http://127.0.0.1:8080',
  SECRETS_KEY: '07'.repeat(32),
};

const refusedBodies: Scenario = {
  name: 'refused-bodies',
  about: 'eight connections of a pool send bodies that are refused to each of some paths, then a small request each',
  async run(world) {
    const target = await world.startTarget(signIn);
    const watching = await world.watch(target);
    const form = 'content-type: application/x-www-form-urlencoded\r\n';
    const paths = ['/oidc/back-channel-logout', '/oidc/sign-in', '/dashboard', '/nowhere', '/api/v1/prompts'];
    const attack = async (path: string): Promise<boolean> => {
      const connection = openConnection(target.url);
      try {
        connection.send(`POST ${path} HTTP/1.1\r\nhost: x\r\n${form}content-length: ${large.length}\r\n\r\n${large}`);
        const limit = sleep(5_000, []);
        const [first] = await Promise.race([connection.answers(1), limit]);
        if (first?.headers['connection'] === 'close') {
          return await Promise.race([connection.closed.then(() => true), limit.then(() => false)]);
        }
        connection.send('GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n');
        const [, second] = await Promise.race([connection.answers(2), limit]);
        return second?.status === 200;
      } finally {
        connection.socket.destroy();
      }
    };
    let unusable = 0;
    for (const path of paths) {
      const usable = await Promise.all(Array.from({ length: 8 }, () => attack(path)));
      unusable += usable.filter((one) => !one).length;
    }
    return [
      { name: 'connections that neither answer the next request nor close', value: unusable, atMost: 0 },
      ...figuresOf(await watching.stop()),
    ];
  },
};

const foreignCases: Scenario = {
  name: 'foreign-cases',
  about: 'a key without datasets:read lets evaluations read a data set for it, its own and those of others',
  async run(world) {
    const target = await world.startTarget({ INVOCATION_CONTENT: 'all' });
    const secret = 'SECRET-7781';
    const key = await createKey(target, 'prompts:read', 'prompts:invoke', 'invocations:read', 'invocations:content');
    const prompt = await must(target, 'POST', '/api/v1/prompts', {
      body: { name: 'Say', messages: [{ role: 'user', content: '{{say}}' }], selected_provider: 'echo' },
    });
    const checks = [{ type: 'contains', value: 'SECRET' }];
    await setDataset(target, 'hidden', [{ id: 'one', variables: { say: secret } }]);
    const path = `/api/v1/prompts/${String(prompt.id)}/evaluations`;
    const body = { candidate: {}, dataset: { name: 'hidden' }, checks, rule: { all_pass: true } };
    const of = await must(target, 'POST', path, { body });
    const own = await target.call('POST', path, { body, key });
    const ids = [of.id, own.body.id].filter((id) => id !== undefined).map(String);
    for (const id of ids) {
      for (let each = 0; each < 300; each += 1) {
        if ((await must(target, 'GET', `/api/v1/evaluations/${id}`)).status === 'ended') break;
        await sleep(100);
      }
    }
    const logs = ids.map((id) => must(target, 'GET', `/api/v1/invocations?evaluation_id=${id}`));
    const calls = (await Promise.all(logs)).flatMap(({ data }) => (data as { id: string }[]).map(({ id }) => id));
    const doors = [
      ...ids.flatMap((id) => [`/api/v1/evaluations/${id}`, `/api/v1/evaluations/${id}/results`]),
      ...calls.map((id) => `/api/v1/invocations/${id}/content`),
      '/api/v1/datasets/hidden/versions/1/export',
    ];
    const seen = await Promise.all(doors.map(async (door) => (await target.call('GET', door, { key })).body));
    const shown = seen.filter((answer) => JSON.stringify(answer).includes(secret)).length;
    return [
      { name: 'evaluations that the key could start', value: own.status === 202 ? 1 : 0, atMost: 0 },
      { name: 'calls of evaluations', value: calls.length, atLeast: 1 },
      { name: 'answers that show a case', value: shown, atMost: 0 },
    ];
  },
};

const accepted = 'HTTP/1.1 200 Connection established\r\n\r\n';
const early = [accepted, `${accepted}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`, `${accepted}x`];

const earlyProxy: Scenario = {
  name: 'early-proxy',
  about:
    'a proxy sends more bytes, and the end, with its 200, for three deliveries and three calls of a model, for 5 s',
  async run(world) {
    let connects = 0;
    const sockets = new Set<Socket>();
    const proxy = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('data', (head) => {
        connects += 1;
        const [, name = '1'] = /shop-(\d)/.exec(String(head)) ?? [];
        socket.end(early[Number(name)] ?? '');
      });
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    try {
      const provider = { id: 'behind', name: 'Behind', models: ['m'], api_key: 'E', base_url: 'http://192.0.2.1/v1' };
      const target = await world.startTarget({
        ...{ WEBHOOK_PROXY_URL: origin, WEBHOOK_PROXY_RESOLVES: 'on', PROVIDER_PROXY_URL: origin },
        OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]),
      });
      const watching = await world.watch(target);
      for (let each = 0; each < 3; each += 1) {
        const body = { name: 'Receiver', url: `http://shop-${each}.example/hook`, event_types: ['ORDER_PLACED'] };
        const { id } = await must(target, 'POST', '/api/v1/integrations', { body });
        await must(target, 'POST', `/api/v1/integrations/${String(id)}/test`);
      }
      const prompt = await must(target, 'POST', '/api/v1/prompts', {
        body: { name: 'Call', messages: [{ role: 'user', content: 'Hi' }], selected_provider: 'behind' },
      });
      const invoke = `/api/v1/prompts/${String(prompt.id)}/invoke`;
      const invoked = Promise.all(Array.from({ length: 3 }, () => target.call('POST', invoke, { body: {} })));
      await sleep(5_000);
      const answers = await Promise.race([invoked, sleep(30_000, [])]);
      return [
        // Of each delivery and call some attempts.
        { name: 'connections that the proxy was asked for', value: connects, atLeast: 6, atMost: 60 },
        { name: 'calls that ended', value: answers.length, atLeast: 3 },
        ...figuresOf(await watching.stop()),
      ];
    } finally {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    }
  },
};

const checkThreads: Scenario = {
  name: 'check-threads',
  about:
    'evaluations of one key have a hundred patterns a case that never end; others invoke with a JSON format, for 8 s',
  async run(world) {
    const target = await world.startTarget();
    const slow = `${'a'.repeat(100)}!`;
    const scopes = ['prompts:read', 'prompts:invoke', 'prompts:override', 'datasets:read'];
    const attacker = await createKey(target, ...scopes);
    const other = await createKey(target, 'prompts:invoke', 'prompts:override');
    const prompt = await must(target, 'POST', '/api/v1/prompts', {
      body: { name: 'Say', messages: [{ role: 'user', content: '{{say}}' }], selected_provider: 'echo' },
    });
    const path = `/api/v1/prompts/${String(prompt.id)}`;
    const cases = Array.from({ length: 20 }, (_, index) => ({ id: `${index}`, variables: { say: slow } }));
    await setDataset(target, 'slow', cases);
    const checks = Array.from({ length: 20 }, () => ({ type: 'regex', value: '^(a+)+$' }));
    const body = { candidate: {}, dataset: { name: 'slow' }, checks, rule: { all_pass: true } };
    const watching = await world.watch(target);
    const asked = { response_format: { type: 'json', schema: { type: 'object' } }, variables: { say: '{}' } };
    let failed = 0;
    /** @returns the p95, in milliseconds */
    const invokeFor = async (milliseconds: number): Promise<number> => {
      const times: number[] = [];
      const end = performance.now() + milliseconds;
      while (performance.now() < end) {
        const began = performance.now();
        const { status } = await target.call('POST', `${path}/invoke`, { body: asked, key: other });
        times.push(performance.now() - began);
        if (status !== 200) failed += 1;
      }
      return percentile(times, 0.95);
    };
    const before = await invokeFor(4_000);
    const started = await Promise.all(
      Array.from({ length: 2 }, () => must(target, 'POST', `${path}/evaluations`, { body, key: attacker })),
    );
    const beside = await invokeFor(8_000);
    for (const { id } of started) await must(target, 'POST', `/api/v1/evaluations/${String(id)}/cancel`);
    const after = await invokeFor(4_000);
    return [
      { name: "others' JSON answers that failed", value: failed, atMost: 0 },
      { name: "p95 of others' JSON answers, alone", value: before, unit: 'ms' },
      { name: "p95 of others' JSON answers", value: beside, unit: 'ms', atMost: 100 + 4 * before },
      { name: 'p95 after the evaluations were canceled', value: after, unit: 'ms', atMost: 100 + 4 * before },
      ...figuresOf(await watching.stop()),
    ];
  },
};

export const scenarios: readonly Scenario[] = [refusedBodies, foreignCases, earlyProxy, checkThreads];
