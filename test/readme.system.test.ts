import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import packageJson from '../package.json' with { type: 'json' };
import { findBlock, readBlocks, readGuide, type Block } from './support/documents.ts';
import { reservePort } from './support/ports.ts';
import { until } from './support/until.ts';
import { startTestService, type TestService } from './support/service.ts';

const run = promisify(execFile);

/** The port of the receiver in the README. The test replaces it by a free port. */
const receiverAddress = '127.0.0.1:9000';
const firstKeyId = '00000000-0000-4000-8000-000000000001';
const ids = /(cat_[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})/g;

let readme: string;
let blocks: Block[];
let service: TestService;
/** Where commands run. */
let folder: string;
let receiver: { address: string; output: () => string; stop: () => Promise<void> };

beforeAll(async () => {
  readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  // The guide continues where the README ends, with the same key and receiver.
  blocks = readBlocks(readme + (await readGuide('1-receive-events.md')));
  folder = await mkdtemp(path.join(tmpdir(), 'readme-'));
  service = await startTestService({ environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await service.close();
  await rm(folder, { recursive: true });
});

/** The first block in a language that contains a text. */
function blockWith(language: string, part: string): string {
  return findBlock(blocks, language, part);
}

/** Every `sh` block with a curl call, and the `json` block that follows it. */
function readCalls(): { command: string; answer: unknown }[] {
  return blocks.flatMap(({ language, text }, index) => {
    const next = blocks[index + 1];
    if (language !== 'sh' || !/^curl /m.test(text) || next?.language !== 'json') return [];
    return [{ command: text, answer: JSON.parse(next.text) as unknown }];
  });
}

/** Starts the receiver of the README with the command of the README. */
async function startReceiver(): Promise<typeof receiver> {
  const folder = await mkdtemp(path.join(tmpdir(), 'receiver-'));
  const port = await reservePort();
  const program = blockWith('js', 'createServer').replace('listen(9000', `listen(${port}`);
  await writeFile(path.join(folder, 'receiver.mjs'), program);
  const command = blockWith('sh', 'node receiver.mjs');
  const child: ChildProcess = spawn('bash', ['-c', `exec env ${command}`], { cwd: folder });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  const address = `127.0.0.1:${port}`;
  await until(() => isListening(port));
  return {
    address,
    output: () => output,
    async stop() {
      child.kill();
      await once(child, 'exit');
      await rm(folder, { recursive: true });
    },
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * Runs the calls one after the other, as a reader does. Ids in the README are replaced by the ids of the real answers,
 * and variables keep their values.
 */
async function perform(calls: readonly { command: string; answer: unknown }[]): Promise<unknown[]> {
  const realIds = new Map<string, string>();
  const answers: unknown[] = [];
  let variables = '';
  for (const { command, answer } of calls) {
    const script = command
      .replaceAll('http://127.0.0.1:8080', service.url)
      .replaceAll(receiverAddress, receiver.address)
      .replaceAll(ids, (id) => realIds.get(id) ?? id);
    const environment = { ...process.env, API_KEY: service.adminKey };
    const { stdout } = await run('bash', ['-c', variables + script], { cwd: folder, env: environment });
    variables += (script.match(/^[A-Z]+=.*\n/gm) ?? []).join('');
    // The reader uses the key of the first start, the test a configured one, whose id is no UUID.
    const shown = stdout.replaceAll(/("(?:key_)?id":)"administrator"/g, `$1"${firstKeyId}"`);
    answers.push(JSON.parse(shown.replaceAll(receiver.address, receiverAddress)));
    const real = shown.match(ids) ?? [];
    for (const [index, id] of (JSON.stringify(answer).match(ids) ?? []).entries()) realIds.set(id, real[index] ?? id);
  }
  return answers;
}

/** Replaces what differs between runs: ids by their order, and times, latencies and signatures by their form. */
function normalise(texts: readonly unknown[]): unknown {
  const seen: string[] = [];
  return JSON.parse(
    JSON.stringify(texts)
      .replaceAll(ids, (id) => {
        if (!seen.includes(id)) seen.push(id);
        return `id ${seen.indexOf(id)}`;
      })
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
      .replaceAll(/"latency_ms":\d+/g, '"latency_ms":0')
      .replaceAll(/'\d{10}'/g, "'seconds'")
      .replaceAll(/'v1,[A-Za-z0-9+/]{43}='/g, "'v1,base64'")
      .replaceAll(/'[0-9a-f]{64}'/g, "'hex'"),
  );
}

describe('README', () => {
  it('shows calls, answers and the webhook as they really are', async () => {
    const calls = readCalls();
    expect(calls.length).toBeGreaterThanOrEqual(10);
    const shownWebhook = blockWith('text', 'x-service-signature');
    const answers = await perform(calls);
    await until(() => receiver.output().includes('} {"type"') && receiver.output().endsWith('}\n'));
    const webhook = receiver.output().replaceAll(receiver.address, receiverAddress);
    expect(normalise([...answers, webhook])).toEqual(normalise([...calls.map(({ answer }) => answer), shownWebhook]));
  });

  it('shows what the SDK of OpenAI prints', async () => {
    const environment = { ...process.env, API_KEY: service.adminKey };
    const program = blockWith('js', "from 'openai'").replaceAll('http://127.0.0.1:8080', service.url);
    const sdk = await run('node', ['--input-type=module', '--eval', program], { env: environment });
    expect(`${sdk.stdout}\n`).toBe(blockWith('text', 'webhook? a is What'));
  });

  it('shows a webhook with valid signatures', () => {
    const shown = blockWith('text', 'x-service-signature');
    const [, secret = ''] = /WEBHOOK_SECRET=(\S+)/.exec(blockWith('sh', 'node receiver.mjs')) ?? [];
    const header = (name: string): string => new RegExp(`'${name}': '([^']+)'`).exec(shown)?.[1] ?? '';
    const body = shown.slice(shown.indexOf('} {') + 2).trimEnd();
    expect(Buffer.byteLength(body)).toBe(Number(header('content-length')));
    expect(header('x-service-signature')).toBe(createHmac('sha256', secret).update(body).digest('hex'));
    const signed = `${header('webhook-id')}.${header('webhook-timestamp')}.${body}`;
    expect(header('webhook-signature')).toBe(`v1,${createHmac('sha256', secret).update(signed).digest('base64')}`);
  });

  it('shows a receiver that refuses a request without a valid signature', async () => {
    const body = '{"type":"ORDER_PLACED"}';
    const signature = createHmac('sha256', 'another-secret-of-somebody').update(body).digest('hex');
    const headers = { 'x-service-signature': signature };
    const answer = await fetch(`http://${receiver.address}/events`, { method: 'POST', headers, body });
    expect(answer.status).toBe(401);
  });

  it('can be read in a few minutes', () => {
    expect(readme.split(/\s+/).length).toBeLessThanOrEqual(1_500);
  });

  it('gives the reason for each runtime dependency', () => {
    const [, table = ''] = /## Runtime dependencies\n\n([^]*?)\n\n/.exec(readme) ?? [];
    const rows = [...table.matchAll(/^\| (`.+?) +\| (\S.*?) +\|$/gm)];
    const named = rows.flatMap(([, names = '']) => [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
    const inFamily = (name: string): string => name.replace(/^(@ai-sdk|@opentelemetry)\/.*/, '$1/*');
    expect(new Set(named)).toEqual(new Set(Object.keys(packageJson.dependencies).map(inFamily)));
  });
});
