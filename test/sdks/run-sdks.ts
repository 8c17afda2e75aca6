import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { loadConfig } from '../../src/config/config.ts';
import { defaultCacheDir, makeCacheFolder } from '../../src/storage/db/embedded/cache-dir.ts';
import { installerEnvironment } from '../../src/storage/db/embedded/processes.ts';
import { installPythonPackage } from '../../src/storage/db/embedded/python-package.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { startService } from '../../src/start.ts';
import { consoleLog } from '../support/log.ts';
import { startMockProvider, type Behaviour, type MockProvider } from '../support/mock-provider.ts';

/**
 * The installed releases. https://pypi.org/project/openai/, https://pypi.org/project/langchain-openai/,
 * https://pypi.org/project/anthropic/
 */
const pythonPackages = { 'langchain-openai': '1.7.3', openai: '3.54.0', anthropic: '2.14.0' };
/** About 110 MB. */
const npmPackages = [
  ...['ai@7.0.173', '@ai-sdk/openai-compatible@3.0.92', 'zod@4.6.7'],
  ...['@langchain/openai@1.6.0', '@langchain/core@1.4.0', '@anthropic-ai/sdk@1.14.0'],
];
const adminKey = 'administrator-key-of-the-sdks-0123456789';
const cacheDir = defaultCacheDir(process.env, homedir());

/** A program with tests, and what it needs. */
interface Suite {
  readonly command: readonly [string, ...string[]];
  readonly folder: string;
}

/**
 * Runs SDKs of others against the service, unchanged except for base URL and key. Their tests call a service whose
 * providers are one mock provider, which they read and script over HTTP.
 *
 * @param language `python` or `npm`; both if left out
 * @returns whether all tests passed
 */
async function main(language?: string): Promise<boolean> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sdks-'));
  const mock = await startMockProvider();
  const control = await serveControl(mock);
  const start = (name: string, settings: Record<string, string>): ReturnType<typeof startService> => {
    const environment = {
      DATA_DIR: path.join(folder, name),
      CACHE_DIR: cacheDir,
      PORT: '0',
      ADMIN_API_KEY: adminKey,
      GOOGLE_GENERATIVE_AI_API_KEY: 'mock',
      GOOGLE_BASE_URL: mock.url,
      ANTHROPIC_API_KEY: 'mock',
      ANTHROPIC_BASE_URL: mock.url,
      RATE_LIMIT: 'off',
      OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([
        { id: 'mock', base_url: mock.url, models: ['model-a', 'model-b'], structured_outputs: true, image_urls: true },
      ]),
      ...settings,
    };
    return startService({
      config: loadConfig(environment),
      environment: { ...process.env, ...environment },
      log: createLogger('silent'),
      print: () => undefined,
    });
  };
  const service = await start('service', { INVOKE_TIMEOUT_MS: '5000' });
  const limited = await start('limited', { RATE_LIMIT: '1/3600s' });
  try {
    const settings = {
      GATEWAY_URL: service.url,
      GATEWAY_KEY: adminKey,
      CONTROL_URL: urlOf(control),
      LIMITED_URL: limited.url,
      // LangChain reports to a service of its makers otherwise.
      LANGSMITH_TRACING: 'false',
    };
    let passed = true;
    for (const { command, folder: cwd } of await prepare(language)) {
      const [program, ...args] = command;
      const child = spawn(program, args, { cwd, env: { ...process.env, ...settings }, stdio: 'inherit' });
      const [code] = (await once(child, 'close')) as [number | null];
      passed &&= code === 0;
    }
    return passed;
  } finally {
    await Promise.all([service.stop(), limited.stop()]);
    control.close();
    await mock.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function prepare(language: string | undefined): Promise<Suite[]> {
  return [
    ...(language === 'npm' ? [] : [await preparePython()]),
    ...(language === 'python' ? [] : [await prepareNpm()]),
  ];
}

async function preparePython(): Promise<Suite> {
  const programs = await installPythonPackage({
    name: 'langchain-openai',
    version: pythonPackages['langchain-openai'],
    cacheDir,
    env: process.env,
    log: consoleLog,
  });
  const python = path.join(programs, 'python');
  const others = (['openai', 'anthropic'] as const).map((name) => `${name}==${pythonPackages[name]}`);
  await promisify(execFile)(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...others]);
  const folder = path.join(import.meta.dirname, 'python');
  return { command: [python, '-B', '-m', 'unittest', '--verbose'], folder };
}

/** Installs the packages into the cache folder, which the next run uses. */
async function prepareNpm(): Promise<Suite> {
  const installed = path.join(cacheDir, 'npm-sdks');
  await makeCacheFolder(installed);
  await writeFile(path.join(installed, 'package.json'), '{ "private": true, "type": "module" }');
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline', '--ignore-scripts'];
  await promisify(execFile)('npm', [...args, ...npmPackages], {
    cwd: installed,
    env: installerEnvironment(process.env),
  });
  const project = path.join(installed, 'project');
  await rm(project, { recursive: true, force: true });
  await cp(path.join(import.meta.dirname, 'npm'), project, { recursive: true });
  const limits = ['--test-concurrency=1', '--test-timeout=60000'];
  const command = [process.execPath, '--test', ...limits, 'ai-sdk.ts', 'langchain.ts', 'anthropic.ts'] as const;
  return { command, folder: project };
}

/** Lets programs script the mock provider and read its requests. */
async function serveControl(mock: MockProvider): Promise<Server> {
  const server = createServer((request, response) => {
    const act = async (): Promise<unknown> => {
      switch (request.url) {
        case '/reset':
          mock.reset();
          return {};
        case '/behave': {
          const { model, behaviours } = (await json(request)) as { model: string; behaviours: Behaviour[] };
          mock.behave(model, ...behaviours);
          return {};
        }
        default:
          // Requests of the service to the provider, after all of them have ended.
          await Promise.all(mock.requests.map(({ ended }) => ended));
          return mock.requests.map(({ body, model, aborted }) => ({ body, model, aborted }));
      }
    };
    void act().then((body) => response.end(JSON.stringify(body)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

process.exitCode = (await main(process.argv[2])) ? 0 : 1;
