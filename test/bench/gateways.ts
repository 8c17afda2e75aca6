import { execFile, type ChildProcess } from 'node:child_process';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { defaultCacheDir } from '../../src/db/embedded/cache-dir.ts';
import { freePort } from '../../src/db/embedded/server-process.ts';
import { checkSetting, fastEngine } from '../support/database-server.ts';
import { startFlags } from '../support/start-flags.ts';
import { startProgram } from './processes.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const portkeyRelease = '1.15.2';
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

/** Starts the service with this many stored prompts: `bench-0`, `bench-1` … */
export async function startService(
  children: ChildProcess[],
  folder: string,
  provider: string,
  databaseUri: string,
  prompts: number,
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
      ...checkSetting(fastEngine),
      ADMIN_API_KEY: adminKey,
      RATE_LIMIT: 'off',
      OPENAI_API_KEY: 'sk-bench',
      OPENAI_BASE_URL: provider,
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
