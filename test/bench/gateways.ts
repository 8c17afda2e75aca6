import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { defaultCacheDir } from '../../src/storage/db/embedded/cache-dir.ts';
import { installPythonPackage } from '../../src/storage/db/embedded/python-package.ts';
import { freePort } from '../../src/storage/db/embedded/server-process.ts';
import { checkSetting, type TestEngine } from '../support/database-server.ts';
import { startFlags } from '../support/start-flags.ts';
import { startProgram } from './processes.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const portkeyRelease = '1.15.2';
const liteLlmRelease = '1.106.2';
const tensorZeroRelease = '2026.6.0';
/** The releases that it is developed with. With later ones, which its package allows, all its streams fail. */
const portkeyServer = ['@hono/node-server@1.13.5', '@hono/node-ws@1.2.0'];
export const adminKey = 'administrator-key-of-the-benchmark-0123456789';
export const model = 'gpt-5-mini';

const system = `You summarise support tickets. ${'Keep to the facts of the ticket. '.repeat(15)}`;
/** The variable of every stored prompt. */
export const ticket = `The export button does nothing. ${'I pressed it again and again. '.repeat(10)}`;
/** What reaches the provider on every way. */
export const messages: readonly { readonly role: string; readonly content: string }[] = [
  { role: 'system', content: system },
  { role: 'user', content: `Summarise this ticket in three sentences:\n\n${ticket}` },
];

/** A model of Anthropic's API, and what reaches it there. */
export const claude = 'claude-sonnet-4-5';
export const claudeBody = {
  max_tokens: 1024,
  system,
  messages: messages.filter(({ role }) => role === 'user'),
} as const;

/** A program that answers requests, and the header fields that it needs. */
export interface Gateway {
  readonly name: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly process: ChildProcess;
}

const json = { 'content-type': 'application/json' };
/** The header fields of a call without a gateway. */
export const directHeaders = { ...json, authorization: 'Bearer sk-bench' };

/** Starts the mock provider. @returns its base URL in OpenAI's format */
export async function startMock(children: ChildProcess[], delayMs: number): Promise<string> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const program = path.join(root, 'test/support/mock-provider.ts');
  const args = [program, '--port', new URL(url).port, '--delay-ms', String(delayMs)];
  children.push(await startProgram(process.execPath, args, `${url}/`));
  return `${url}/v1`;
}

export interface ServiceOptions {
  readonly folder: string;
  /** The base URL of the provider. */
  readonly provider: string;
  readonly engine: TestEngine;
  readonly databaseUri: string;
  readonly prompts: number;
}

/** Starts the service with this many stored prompts: `bench-0`, `bench-1` … */
export async function startService(
  children: ChildProcess[],
  { folder, provider, engine, databaseUri, prompts }: ServiceOptions,
): Promise<Gateway> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = await startProgram(
    process.execPath,
    [...startFlags, path.join(root, 'src/server.ts')],
    `${url}/health/ready`,
    {
      PORT: new URL(url).port,
      DATA_DIR: folder,
      MONGODB_URI: databaseUri,
      ...checkSetting(engine),
      ADMIN_API_KEY: adminKey,
      RATE_LIMIT: 'off',
      OPENAI_API_KEY: 'sk-bench',
      OPENAI_BASE_URL: provider,
      ANTHROPIC_API_KEY: 'sk-bench',
      ANTHROPIC_BASE_URL: provider,
    },
  );
  children.push(child);
  const headers = { ...json, authorization: `Bearer ${adminKey}` };
  const prompt = {
    name: 'Bench',
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: 'Summarise this ticket in {{sentences|three}} sentences:\n\n{{ticket}}' },
    ],
    variables: { ticket: { required: true } },
    selected_provider: 'openai',
    selected_model: model,
  };
  for (let index = 0; index < prompts; index += 1) {
    const body = JSON.stringify({ ...prompt, slug: `bench-${index}` });
    const created = await fetch(`${url}/api/v1/prompts`, { method: 'POST', headers, body });
    if (created.status !== 201) throw new Error(await created.text());
    await created.arrayBuffer();
  }
  return { name: 'prompt-gateway', url, headers, process: child };
}

/** The header fields by which Portkey's gateway calls Anthropic. */
export function portkeyToAnthropic(provider: string): Record<string, string> {
  const version = { 'anthropic-version': '2023-06-01', 'x-api-key': 'sk-bench' };
  return { ...version, 'x-portkey-provider': 'anthropic', 'x-portkey-custom-host': provider };
}

/** Installs and starts Portkey's gateway. */
export async function startPortkey(children: ChildProcess[], provider: string): Promise<Gateway> {
  const prefix = path.join(defaultCacheDir(process.env, homedir()), `portkey-${portkeyRelease}-streams`);
  const packages = [`@portkey-ai/gateway@${portkeyRelease}`, ...portkeyServer];
  await run('npm', ['install', '--no-save', '--prefix', prefix, ...packages]);
  const url = `http://127.0.0.1:${await freePort()}`;
  const script = path.join(prefix, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  const args = [script, '--headless', `--port=${new URL(url).port}`];
  const child = await startProgram(process.execPath, args, `${url}/`);
  children.push(child);
  const headers = { ...directHeaders, 'x-portkey-provider': 'openai', 'x-portkey-custom-host': provider };
  return { name: `Portkey ${portkeyRelease}`, url, headers, process: child };
}

/** @returns the folder of the programs of a package from PyPI */
function installPython(name: string, version: string): Promise<string> {
  const cacheDir = defaultCacheDir(process.env, homedir());
  const log = { info: () => undefined, warn: () => undefined };
  return installPythonPackage({ name, version, env: process.env, cacheDir, log });
}

/** Installs and starts LiteLLM's proxy. */
export async function startLiteLlm(children: ChildProcess[], folder: string, provider: string): Promise<Gateway> {
  const programs = await installPython('litellm[proxy]', liteLlmRelease);
  const config = path.join(folder, 'litellm.json');
  const target = { model: `openai/${model}`, api_base: provider, api_key: 'sk-bench' };
  const ofClaude = { model: `anthropic/${claude}`, api_base: new URL(provider).origin, api_key: 'sk-bench' };
  const models = [
    { model_name: model, litellm_params: target },
    { model_name: claude, litellm_params: ofClaude },
  ];
  await writeFile(config, JSON.stringify({ model_list: models }));
  const url = `http://127.0.0.1:${await freePort()}`;
  const args = ['--config', config, '--host', '127.0.0.1', '--port', new URL(url).port];
  const key = `sk-${adminKey}`;
  const environment = { LITELLM_MASTER_KEY: key, LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'ERROR' };
  const child = await startProgram(path.join(programs, 'litellm'), args, `${url}/health/liveliness`, environment);
  children.push(child);
  return {
    name: `LiteLLM ${liteLlmRelease}`,
    url,
    headers: { ...json, authorization: `Bearer ${key}` },
    process: child,
  };
}

/** The HTTP server of TensorZero's gateway. It has no program in any registry: the Python package contains it. */
const tensorZeroProgram = `
import sys, tensorzero
gateway = tensorzero._start_http_gateway(
  config_file=sys.argv[1], clickhouse_url=None, postgres_url=None, valkey_url=None, async_setup=False)
print(gateway.base_url, flush=True)
sys.stdin.read()
`;

/** Installs and starts TensorZero's gateway, without a database. Its server is in Rust; Python only starts it. */
export async function startTensorZero(children: ChildProcess[], folder: string, provider: string): Promise<Gateway> {
  const programs = await installPython('tensorzero', tensorZeroRelease);
  const config = path.join(folder, 'tensorzero.toml');
  const lines = [
    '[gateway]',
    'observability.enabled = false',
    `[models."${model}"]`,
    'routing = ["mock"]',
    `[models."${model}".providers.mock]`,
    'type = "openai"',
    `model_name = "${model}"`,
    `api_base = "${provider}"`,
    'api_key_location = "env::OPENAI_API_KEY"',
  ];
  await writeFile(config, lines.join('\n'));
  const child = spawn(path.join(programs, 'python'), ['-c', tensorZeroProgram, config], {
    env: { ...process.env, OPENAI_API_KEY: 'sk-bench' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('http')) continue;
    child.stdout.resume();
    const url = line.replace('/openai/v1', '');
    return { name: `TensorZero ${tensorZeroRelease}`, url, headers: json, process: child };
  }
  throw new Error('TensorZero did not start');
}
