import { execFile, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { allScopes } from '../src/access/api-keys/feature.ts';
import { createIntegration, path as integrationsPath, secret } from './webhooks/integrations/integrations-harness.ts';
import { openShop, placeOrder } from './orders/orders-harness.ts';
import { startReceiver } from './support/receiver.ts';
import { until } from './support/until.ts';
import { testDatabaseUri } from './support/database.ts';
import { findBlock, readBlocks, readGuide } from './support/documents.ts';
import { startServiceProcess, type ServiceProcess } from './support/service-process.ts';
import { startTestService } from './support/service.ts';

const run = promisify(execFile);
const documented = 'http://127.0.0.1:8080';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'guides-'));
  // As `npm install` of the client does.
  await symlink(path.resolve('node_modules'), path.join(folder, 'node_modules'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs commands of a guide as a reader does, with the service at this address. */
async function perform(commands: string, url: string, apiKey = ''): Promise<string> {
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', commands.replaceAll(documented, url)], {
    cwd: folder,
    env: { ...process.env, API_KEY: apiKey },
  });
  return stdout;
}

function keyIn(text: string): string {
  return /pgw_[0-9a-f]{32}_[\w-]{43}/.exec(text)?.[0] ?? '';
}

/** The guides whose commands need nothing but a running service. Those of the others are run below. */
describe.each([
  ...[
    '3-upgrade.md',
    '61-limits-of-keys.md',
    '62-keys-for-partners.md',
    '63-sign-in-with-accounts.md',
    '8-stream-answers.md',
  ],
  ...[
    '90-invocation-log.md',
    '92-costs.md',
    '921-budgets.md',
    '93-audit-log.md',
    '94-openai-hosted-prompts.md',
    '941-create-embeddings.md',
    '942-use-anthropics-sdks.md',
    '942-connect-an-editor.md',
    '951-data-sets.md',
    '952-evaluate-a-version.md',
    '953-gates.md',
    '954-canaries.md',
  ],
])('the guide %s', (name) => {
  it('runs by itself, from its first command to its last', async () => {
    const service = await startTestService({ environment: { INVOCATION_CONTENT: 'all' } });
    const commands = readBlocks(await readGuide(name)).filter(({ language }) => language === 'sh');
    const script = commands.map(({ text }) => text).join('\n');
    // A status of 400 or more is a failure.
    await perform(`curl() { command curl --fail-with-body "$@"; }\n${script}`, service.url, service.adminKey);
    await service.close();
  });
});

describe('the guide "Costs"', () => {
  it('lists missing prices, and sets one', async () => {
    const service = await startTestService();
    const blocks = readBlocks(await readGuide('92-costs.md'));
    const answerOf = async (part: string): Promise<unknown> =>
      JSON.parse(await perform(findBlock(blocks, 'sh', part), service.url, service.adminKey));
    expect(await answerOf('source=none')).toMatchObject({ data: [] });
    expect(await answerOf('-X PUT')).toMatchObject({ source: 'operator', rates: [{}, {}] });
    await service.close();
  });
});

describe('the guide "Budgets"', () => {
  it('sets a budget', async () => {
    const service = await startTestService();
    const block = findBlock(readBlocks(await readGuide('921-budgets.md')), 'sh', '-X PUT');
    const budget = JSON.parse(await perform(block, service.url, service.adminKey)) as unknown;
    expect(budget).toMatchObject({ name: 'checkout', period: 'month', current: { left: { amount: '50' } } });
    await service.close();
  });
});

describe('the guide "Evaluate a version"', () => {
  it('gets its verdict', async () => {
    const blocks = readBlocks(await readGuide('952-evaluate-a-version.md'));
    const service = await startTestService();
    const commands = ['PROMPTS=', 'evaluation.json <<', 'until send'].map((part) => findBlock(blocks, 'sh', part));
    const said = await perform(commands.join('\n'), service.url, service.adminKey);
    const [plan = '', evaluation = ''] = said.split(/(?<=\})(?=\{)/);
    expect(JSON.parse(plan)).toEqual({ calls: 200, ceiling: { amount: '0', currency: 'USD' } });
    const { verdict } = JSON.parse(evaluation) as { verdict: { interval: { lower: number; upper: number } } };
    const round = (bound: number): number => Number(bound.toFixed(6));
    const interval = { lower: round(verdict.interval.lower), upper: round(verdict.interval.upper) };
    expect({ ...verdict, interval }).toEqual(JSON.parse(findBlock(blocks, 'json', '"outcome"')));
    await service.close();
  });
});

describe('the guide "Evaluate a version", for CI systems', () => {
  it('shows what the command line program prints, and a job that runs', async () => {
    const blocks = readBlocks(await readGuide('952-evaluate-a-version.md'));
    const service = await startTestService();
    const withoutId = (text: string): string => text.replace(/Evaluation [0-9a-f-]+\./, '');
    const setUp = findBlock(blocks, 'sh', 'PROMPTS=');
    const printed = await perform(`${setUp}\n${findBlock(blocks, 'sh', '--junit')}`, service.url, service.adminKey);
    const shown = findBlock(blocks, 'text', 'Evaluation');
    expect(withoutId(printed)).toBe(withoutId(shown));

    const { evaluate } = parse(findBlock(blocks, 'yaml', 'artifacts')) as { evaluate: { script: string[] } };
    await rm(path.join(folder, 'report.xml'));
    const job = [
      'export PROMPT_GATEWAY_URL=http://127.0.0.1:8080 PROMPT_GATEWAY_API_KEY=$API_KEY',
      ...evaluate.script.slice(1),
    ];
    await perform(job.join('\n'), service.url, service.adminKey);
    expect(await readFile(path.join(folder, 'report.xml'), 'utf8')).toContain('<testcase name="verdict"');
    await service.close();
  });
});

describe('the guide "Data sets"', () => {
  it('shows what the command line program prints', async () => {
    const service = await startTestService();
    const blocks = readBlocks(await readGuide('951-data-sets.md'));
    const commands = findBlock(blocks, 'sh', 'datasets push');
    const printed = await perform(`{ ${commands}\n} 2>&1`, service.url, service.adminKey);
    expect(printed).toBe(findBlock(blocks, 'text', 'Nothing was stored.'));
    await service.close();
  });
});

describe('the guide "Read events"', () => {
  it('has a program that does each event once, a stream, and events on the own computer', async () => {
    const blocks = readBlocks(await readGuide('11-read-events.md'));
    const service = await startTestService();
    const receiver = await startReceiver();
    const shop = await openShop(service);
    const environment = { ...process.env, API_KEY: service.adminKey, PROMPT_GATEWAY_URL: service.url };
    /** Runs a command beside the test. */
    const begin = (command: string): { output: () => string; interrupt: () => Promise<unknown> } => {
      const child = spawn('bash', ['-c', `exec ${command}`], {
        ...{ cwd: folder, detached: true },
        env: { ...environment, PROMPT_GATEWAY_API_KEY: service.adminKey },
      });
      let output = '';
      child.stdout.on('data', (data: Buffer) => (output += data.toString()));
      child.stderr.on('data', (data: Buffer) => (output += data.toString()));
      return {
        output: () => output,
        async interrupt() {
          const ended = once(child, 'close');
          process.kill(-(child.pid ?? 0), 'SIGINT');
          return await ended;
        },
      };
    };
    const program = findBlock(blocks, 'js', 'cursor').replaceAll(documented, service.url);
    await writeFile(path.join(folder, 'read.mjs'), program);
    const [, listen = ''] = /\$ (npx .*)/.exec(findBlock(blocks, 'text', 'listen')) ?? [];
    const listening = begin(listen.replace('http://localhost:3000', receiver.url));
    const stream = begin(findBlock(blocks, 'sh', 'event-stream').replaceAll(documented, service.url));
    await until(() => listening.output().includes('signed with') && stream.output().startsWith('id: '));
    const reading = begin('node read.mjs');
    await until(() => existsSync(path.join(folder, 'cursor')));
    const { id } = await placeOrder(service, shop);
    await until(() => reading.output().includes(id) && stream.output().includes(id));
    await until(() => listening.output().includes(' 200 '));
    expect(receiver.requests[0]?.body.toString()).toContain(id);
    await reading.interrupt();
    await listening.interrupt();
    expect(listening.output()).toMatch(/Go on with --after [\w-]+\n$/);
    await stream.interrupt();

    const later = await placeOrder(service, shop);
    const again = begin('node read.mjs');
    await until(() => again.output().includes(later.id));
    await again.interrupt();
    expect(again.output()).toBe(`ORDER_PLACED ${later.id}\n`);
    const page = await perform(findBlock(blocks, 'sh', 'limit=100'), service.url, service.adminKey);
    expect((JSON.parse(page) as { data: { targetId: string }[] }).data.map(({ targetId }) => targetId)).toEqual([
      id,
      later.id,
    ]);
    await receiver.close();
    await service.close();
  });
});

describe('the guide "Stream answers"', () => {
  it('shows the events of a stream', async () => {
    const blocks = readBlocks(await readGuide('8-stream-answers.md'));
    const service = await startTestService();
    const events = await perform(findBlock(blocks, 'sh', '"stream": true'), service.url, service.adminKey);
    await service.close();
    const withoutTime = (text: string): string => text.replace(/"latency_ms":\d+|"invocation_id":"[\w-]+"/g, '').trim();
    expect(withoutTime(events)).toBe(withoutTime(findBlock(blocks, 'text', 'event: start')));
  });
});

describe('the guide "Release a version"', () => {
  it('moves a label with a warning, and compares before the move', async () => {
    const blocks = readBlocks(await readGuide('81-release-a-version.md'));
    const service = await startTestService();
    const moved = await perform(findBlock(blocks, 'sh', 'If-Match'), service.url, service.adminKey);
    const { warnings, ...shown } = JSON.parse(findBlock(blocks, 'json', '"warnings"')) as Record<string, unknown>;
    expect(JSON.parse(moved)).toEqual({ ...shown, author: expect.anything(), moved_at: expect.anything(), warnings });

    const label = '/api/v1/prompts/reminder/labels/production';
    await service.call('PUT', label, { body: { version: 1 }, headers: { 'If-Match': '*' } });
    const program = findBlock(blocks, 'ts', 'releaseWarnings').replaceAll(documented, service.url);
    await writeFile(path.join(folder, 'compare.mts'), program);
    const compared = await perform('node compare.mts 2>&1 || echo "status $?"', service.url, service.adminKey);
    expect(compared).toBe('variable-required #/variables/date: is new and required\nstatus 1\n');
    await service.close();
  });
});

describe('the guide "Leave OpenAI\'s hosted prompts"', () => {
  it('stores a prompt under its former id, and makes version 2', async () => {
    const blocks = readBlocks(await readGuide('94-openai-hosted-prompts.md'));
    const service = await startTestService();
    await perform(findBlock(blocks, 'sh', '"aliases"'), service.url, service.adminKey);
    const changed = await perform(findBlock(blocks, 'sh', '-X PUT'), service.url, service.adminKey);
    expect(JSON.parse(changed)).toMatchObject({ version: 2, aliases: ['pmpt_68a1f0c2d4e88190b3a5c7d9e1f20413'] });
    await service.close();
  });
});

describe('the guide "Limits of keys"', () => {
  it('creates a key that reaches one prompt', async () => {
    const blocks = readBlocks(await readGuide('61-limits-of-keys.md'));
    const service = await startTestService();
    const body = { name: 'other', messages: [{ role: 'user', content: 'Hello' }], selected_provider: 'echo' };
    await service.call('POST', '/api/v1/prompts', { body });
    const key = keyIn(await perform(findBlock(blocks, 'sh', '"limits"'), service.url, service.adminKey));
    const invoke = (slug: string): ReturnType<typeof service.call> =>
      service.call('POST', `/api/v1/prompts/${slug}/invoke`, { key, body: {} });
    expect((await invoke('checkout-helper')).headers['ratelimit-policy']).toBe('"key";q=60;w=60');
    expect((await invoke('other')).status).toBe(404);
    await service.close();
  });
});

describe('the guide "Keys for partners"', () => {
  it('creates a key that reaches one location', async () => {
    const blocks = readBlocks(await readGuide('62-keys-for-partners.md'));
    const service = await startTestService();
    const place = (name: string): ReturnType<typeof service.call> =>
      service.call('POST', '/v1/locations', { body: { name, currency: 'EUR', time_zone: 'Europe/Amsterdam' } });
    const other = await place('Other');
    const key = keyIn(await perform(findBlock(blocks, 'sh', '"locations"'), service.url, service.adminKey));
    const { body } = await service.call('GET', '/v1/locations', { key });
    expect(body.data).toMatchObject([{ name: 'Harbour' }]);
    expect((await service.call('GET', `/v1/locations/${other.body.id}`, { key })).status).toBe(404);
    await service.close();
  });
});

describe('the guide "Deploy"', () => {
  it('makes every password that compose.yaml requires', async () => {
    const blocks = readBlocks(await readGuide('2-deploy.md'));
    await perform(findBlock(blocks, 'sh', '> .env'), documented);
    const lines = (await readFile(path.join(folder, '.env'), 'utf8')).trim().split('\n');
    expect(lines.every((line) => /^[A-Z0-9_]+=[0-9a-f]{64}$/.test(line))).toBe(true);
    const compose = await readFile(new URL('../compose.yaml', import.meta.url), 'utf8');
    const required = [...compose.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
    expect(new Set(lines.map((line) => line.split('=')[0]))).toEqual(new Set(required));
  });

  it('belongs to containers with limits, whose images are pinned by digest', async () => {
    const compose = await readFile(new URL('../compose.yaml', import.meta.url), 'utf8');
    const { services } = parse(compose) as { services: Record<string, { image?: string; mem_limit?: string }> };
    expect(Object.keys(services).length).toBeGreaterThan(3);
    for (const [name, { image, mem_limit }] of Object.entries(services)) {
      expect([name, mem_limit]).toEqual([name, expect.stringMatching(/^\d+[mg]$/)]);
      if (name !== 'prompt-gateway') expect(image).toMatch(/:[\w.-]+@sha256:[0-9a-f]{64}$/);
    }
  });

  it('has a manifest for Kubernetes that asks for paths and ports of the service', async () => {
    const manifest = findBlock(readBlocks(await readGuide('2-deploy.md')), 'yaml', 'kind: Deployment');
    const documents = parseAllDocuments(manifest);
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    const kinds = documents.map((document) => (document.toJS() as { kind: string }).kind);
    expect(kinds).toEqual(['Deployment', 'Service', 'PodDisruptionBudget']);
    const probed = new Set([...manifest.matchAll(/path: (\/health\/\w+)/g)].map(([, probe]) => probe));
    expect(probed).toEqual(new Set(['/health/live', '/health/ready']));
  });
});

describe('the guide "Back up and restore"', () => {
  it('copies the folder of a running service, and starts the copy', async () => {
    const blocks = readBlocks(await readGuide('4-back-up.md'));
    const adminKey = randomBytes(32).toString('hex');
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
    const start = (dataDir: string, more: Record<string, string> = {}): Promise<ServiceProcess> =>
      startServiceProcess({ PORT: '0', ADMIN_API_KEY: adminKey, DATA_DIR: path.join(folder, dataDir), ...more });
    const running = await start('data');
    const body = JSON.stringify({ name: 'Greeter', messages: [{ role: 'user', content: 'Hello' }] });
    expect((await fetch(`${running.url}/api/v1/prompts`, { method: 'POST', headers, body })).status).toBe(201);
    await perform(findBlock(blocks, 'sh', 'cp -a data backup'), running.url);
    expect(findBlock(blocks, 'sh', 'PORT=8081')).toContain('READ_ONLY=on DATA_DIR=backup');
    const copy = await start('backup', { READ_ONLY: 'on' });
    expect(await (await fetch(`${copy.url}/health/ready`)).json()).toMatchObject({ status: 'ok', read_only: true });
    const statuses = await Promise.all(
      ['/health/ready', '/api/v1/prompts/greeter'].map(async (target) => {
        const { status } = await fetch(copy.url + target, { headers });
        return status;
      }),
    );
    await Promise.all([copy.stop(), running.stop()]);
    expect(statuses).toEqual([200, 200]);
  });
});

describe('the guide "Rotate SECRETS_KEY"', () => {
  it('shows which keys are needed', async () => {
    const blocks = readBlocks(await readGuide('5-rotate-secrets-key.md'));
    const MONGODB_DATABASE = `test_${randomUUID().slice(0, 8)}`;
    const keys = { MONGODB_DATABASE, SECRETS_KEY: randomBytes(32).toString('hex') };
    const first = await startTestService({ environment: keys });
    await createIntegration(first, { secret, headers: { 'X-Kitchen': 'first floor' } });
    await first.close();
    const service = await startTestService({ environment: keys });
    const shown = await perform(findBlock(blocks, 'sh', 'secrets_key'), service.url);
    const counted = await perform(findBlock(blocks, 'sh', 'stored_secrets'), service.url, service.adminKey);
    await service.close();
    expect(shown).toBe(findBlock(blocks, 'text', 'secrets_key'));
    const withoutId = (text: string): string => text.replace(/key_id="[0-9a-f]{16}"/, 'key_id');
    expect(withoutId(counted)).toBe(withoutId(findBlock(blocks, 'text', 'stored_secrets')));
  });
});

describe('the guide "Lose a key"', () => {
  it('replaces a lost administrator key', async () => {
    const blocks = readBlocks(await readGuide('6-lose-a-key.md'));
    const database = `test_${randomUUID().slice(0, 8)}`;
    const dataDir = await mkdtemp(path.join(tmpdir(), 'lost-key-'));
    const settings = { PORT: '0', DATA_DIR: dataDir, MONGODB_URI: testDatabaseUri(), MONGODB_DATABASE: database };
    const adminKey = /ADMIN_API_KEY=(\S+) npm start/.exec(findBlock(blocks, 'sh', 'ADMIN_API_KEY='))?.[1] ?? '';
    const replace = findBlock(blocks, 'sh', '/revoke');
    expect(replace).toContain(`API_KEY=${adminKey}\n`);

    const first = await startServiceProcess(settings);
    const lost = keyIn(first.messages.join('\n'));
    await first.stop();

    const second = await startServiceProcess({ ...settings, ADMIN_API_KEY: adminKey });
    const { stdout } = await run('bash', ['-c', replace.replaceAll('http://127.0.0.1:8080', second.url)]);
    await second.stop();

    const third = await startServiceProcess(settings);
    const get = (key: string): Promise<Response> =>
      fetch(`${third.url}/api/v1/api-keys`, { headers: { authorization: `Bearer ${key}` } });
    const refused = await Promise.all([lost, adminKey].map(async (key) => (await get(key)).status));
    const keys = (await (await get(keyIn(stdout))).json()) as { data: { name: string; scopes: string[] }[] };
    await third.stop();
    await rm(dataDir, { recursive: true });
    expect(refused).toEqual([401, 401]);
    const made = keys.data.find(({ name }) => name === 'New administrator');
    expect(new Set(made?.scopes)).toEqual(new Set(allScopes));
  });

  it('replaces the secrets of an integration after SECRETS_KEY was lost', async () => {
    const blocks = readBlocks(await readGuide('6-lose-a-key.md'));
    const MONGODB_DATABASE = `test_${randomUUID().slice(0, 8)}`;
    const start = (): ReturnType<typeof startTestService> =>
      startTestService({
        environment: { MONGODB_DATABASE, SECRETS_KEY: randomBytes(32).toString('hex'), SECRETS_KEY_CHECK: 'off' },
      });
    const first = await start();
    const { id } = await createIntegration(first, { secret, headers: { 'X-Kitchen': 'first floor' } });
    await first.close();
    const second = await start();
    const before = await second.call('GET', `${integrationsPath}/${id}`);
    const commands = findBlock(blocks, 'sh', 'ROTATION=').replace(/^INTEGRATION=.*$/m, `INTEGRATION=${id}`);
    await perform(commands, second.url, second.adminKey);
    const after = await second.call('GET', `${integrationsPath}/${id}`);
    await second.close();
    expect([before.status, after.status, after.body.signed]).toEqual([500, 200, true]);
  });
});
