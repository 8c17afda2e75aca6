import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { defaultCacheDir, makeCacheFolder } from '../../src/storage/db/embedded/cache-dir.ts';
import { installerEnvironment } from '../../src/storage/db/embedded/processes.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { buildPackage, expectedOutput, installPackage } from './stranger.ts';

/** The npm packages of the runtimes, about 400 MB. */
const packages = ['node@22.23.3', 'bun@1.4.5', 'deno@2.9.6'];
const adminKey = 'administrator-key-of-the-package-test';

interface Runtime {
  /** The name that the program in `project/` gives its runtime. */
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

/**
 * Installs the client's tarball with the registry's dependencies into an empty project. Then runs a program and the
 * command line tool on each runtime against a running service.
 */
async function main(): Promise<void> {
  const bin = await installRuntimes();
  const runtimes: Runtime[] = [
    { name: 'Node 22.23.3', command: [path.join(bin, 'node')] },
    { name: `Node ${process.versions.node}`, command: [process.execPath] },
    { name: 'Bun 1.4.5', command: [path.join(bin, 'bun')] },
    { name: 'Deno 2.9.6', command: [path.join(bin, 'deno'), 'run', '--no-prompt', '--allow-net', '--allow-env'] },
  ];
  await buildPackage();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'package-'));
  const service = await startServiceProcess({ PORT: '0', DATA_DIR: dataDir, ADMIN_API_KEY: adminKey });
  const stranger = await installPackage(service.url, 'registry');
  try {
    const settings = { PROMPT_GATEWAY_URL: service.url, PROMPT_GATEWAY_API_KEY: adminKey };
    const attw = ['exec', '--yes', '--', '@arethetypeswrong/cli@0.18.5', stranger.tarball, '--profile', 'esm-only'];
    const { code, output } = await stranger.run('npm', attw);
    console.log(output);
    if (code !== 0) process.exitCode = 1;
    for (const { name, command } of runtimes) {
      const [program, ...args] = command;
      const ran = await stranger.run(program, [...args, 'program.ts'], settings);
      const works = ran.code === 0 && isDeepStrictEqual(JSON.parse(ran.output), expectedOutput(name));
      const tool = path.join('node_modules', 'prompt-gateway-client', 'bin', 'prompt-gateway-client.js');
      const typed = await stranger.run(program, [...args, tool, 'types'], settings);
      const types = typed.code === 0 && typed.output.includes('interface StoredPrompts {\n    /** "Welcome" */');
      console.log(`${name}: program ${works ? 'works' : 'FAILS'}, types command ${types ? 'works' : 'FAILS'}`);
      if (!works) console.log(ran.output, ran.errors);
      if (!types) console.log(typed.output, typed.errors);
      if (!works || !types) process.exitCode = 1;
    }
  } finally {
    await stranger.remove();
    await service.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Installs the runtimes into the cache folder, which the next run uses. @returns the folder of their programs */
async function installRuntimes(): Promise<string> {
  const folder = path.join(defaultCacheDir(process.env, homedir()), 'runtimes');
  await makeCacheFolder(folder);
  await writeFile(path.join(folder, 'package.json'), '{ "private": true }');
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline', ...packages];
  const npm = spawn('npm', args, { cwd: folder, env: installerEnvironment(process.env), stdio: 'inherit' });
  const [code] = (await once(npm, 'close')) as [number | null];
  if (code !== 0) throw new Error('npm could not install the runtimes.');
  return path.join(folder, 'node_modules/.bin');
}

await main();
