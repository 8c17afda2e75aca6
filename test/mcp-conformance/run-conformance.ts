import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { loadConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { startService } from '../../src/start.ts';
import { defaultCacheDir, makeCacheFolder } from '../../src/storage/db/embedded/cache-dir.ts';
import { installerEnvironment } from '../../src/storage/db/embedded/processes.ts';

/** `latest` is older than the revision without sessions. https://www.npmjs.com/package/@modelcontextprotocol/conformance */
const suite = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const revisions = ['2025-11-25', '2026-07-28'];
const adminKey = 'administrator-key-of-the-conformance-0123456789';
const cacheDir = defaultCacheDir(process.env, homedir());

/**
 * Runs the conformance suite of MCP against the service, for both revisions. The suite knows no keys, so a proxy adds
 * one. The name of a scenario as the argument runs that one and shows all of it. `expected-<revision>.yaml` lists what does not apply, and why: the suite wants tools and prompts of its own.
 */
async function main(): Promise<boolean> {
  const folder = await mkdtemp(path.join(tmpdir(), 'mcp-'));
  const environment = {
    ...{
      DATA_DIR: path.join(folder, 'data'),
      CACHE_DIR: cacheDir,
      PORT: '0',
      ADMIN_API_KEY: adminKey,
      RATE_LIMIT: 'off',
    },
  };
  const service = await startService({
    config: loadConfig(environment),
    environment: { ...process.env, ...environment },
    log: createLogger('silent'),
    print: () => undefined,
  });
  await createPrompts(service.url);
  const proxy = await startProxy(service.url);
  try {
    const installed = path.join(cacheDir, 'mcp-conformance');
    await makeCacheFolder(installed);
    await writeFile(path.join(installed, 'package.json'), '{ "private": true, "type": "module" }');
    const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline', '--ignore-scripts'];
    await promisify(execFile)('npm', [...args, suite], { cwd: installed, env: installerEnvironment(process.env) });
    const program = path.join(installed, 'node_modules/.bin/conformance');
    let passed = true;
    for (const revision of revisions) {
      const expected = path.join(import.meta.dirname, `expected-${revision}.yaml`);
      const url = `http://localhost:${(proxy.address() as AddressInfo).port}/mcp`;
      const [scenario] = process.argv.slice(2);
      const which =
        scenario === undefined
          ? ['--requirements', revision, '--expected-failures', expected]
          : [...['--spec-version', revision, '--scenario', scenario, '--verbose']];
      const options = ['--url', url, ...which];
      const child = spawn(program, ['server', ...options], { cwd: folder, stdio: 'inherit' });
      const [code] = (await once(child, 'close')) as [number | null];
      passed &&= code === 0;
    }
    return passed;
  } finally {
    proxy.closeAllConnections();
    proxy.close();
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Those that the suite asks for, as far as a stored prompt can be one. Their names are aliases. */
async function createPrompts(url: string): Promise<void> {
  const image = { type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' };
  const prompts = {
    test_simple_prompt: 'This is a simple prompt for testing.',
    test_prompt_with_arguments: "Prompt with arguments: arg1='{{arg1}}', arg2='{{arg2}}'",
    test_prompt_with_image: [image, { type: 'text', text: 'Please analyze the image above.' }],
  };
  for (const [alias, content] of Object.entries(prompts)) {
    const body = { name: alias, aliases: [alias], description: 'Of the suite.', messages: [{ role: 'user', content }] };
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}/api/v1/prompts`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
  }
}

/** Passes on requests with a key. */
async function startProxy(target: string): Promise<Server> {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${adminKey}` };
    const { method, url } = incoming;
    const sent = httpRequest({ hostname, port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    sent.once('error', () => outgoing.destroy());
    incoming.pipe(sent);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

process.exitCode = (await main()) ? 0 : 1;
