import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { installerEnvironment } from '../../src/storage/db/embedded/processes.ts';

const root = path.resolve(import.meta.dirname, '../..');
const client = path.join(root, 'clients/typescript');
const environment = installerEnvironment(process.env);

/** The result of a program. */
export interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** An empty project outside the repository, with the package installed from its tarball. */
export interface Stranger {
  readonly folder: string;
  readonly tarball: string;
  /** Runs a program in the project. */
  run(program: string, args: readonly string[], settings?: Readonly<Record<string, string>>): Promise<Ended>;
  /** Type-checks files of the project under `strict`. */
  typeCheck(files: readonly string[], options: object): Promise<Ended>;
  remove(): Promise<void>;
}

/** Builds and packs the client, as `npm ci` does. A service that is started after this serves it. */
export async function buildPackage(): Promise<void> {
  const program = path.join(root, 'src/codegen/build-client.ts');
  const { code, errors } = await runProgram(process.execPath, [program, '--pack'], root);
  if (code !== 0) throw new Error(errors);
}

/**
 * Installs the client from its tarball.
 *
 * @param url of the service, which serves the tarball
 * @param from the source of its dependencies: this repository, without network, or the registry
 */
export async function installPackage(url: string, from: 'repository' | 'registry'): Promise<Stranger> {
  const parent = await mkdtemp(path.join(tmpdir(), 'stranger-'));
  const address = `${url}/client.tgz`;
  const dependencies = from === 'registry' ? [] : await packDependencies(client, parent);
  const folder = path.join(parent, 'project');
  await cp(path.join(import.meta.dirname, 'project'), folder, { recursive: true });
  await writeFile(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  // `--offline` also refuses the address, so a registry that nobody can reach is used.
  const alone = from === 'registry' ? [] : ['--registry', 'http://127.0.0.1:1/', '--fetch-retries', '0'];
  await npm(folder, ['install', '--no-audit', '--no-fund', '--no-save', ...alone, address, ...dependencies]);
  const tarball = path.join(parent, 'client.tgz');
  await writeFile(tarball, Buffer.from(await (await fetch(address)).arrayBuffer()));

  const run: Stranger['run'] = (program, args, settings) => runProgram(program, args, folder, settings);
  return {
    folder,
    tarball,
    run,
    async typeCheck(files, options) {
      const compilerOptions = { noEmit: true, strict: true, target: 'es2022', ...options };
      await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
      return await run(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc')]);
    },
    remove: () => rm(parent, { recursive: true }),
  };
}

/** Packs a package. @returns its tarball */
async function pack(folder: string, destination: string, ...options: readonly string[]): Promise<string> {
  const { output } = await npm(folder, ['pack', '--json', '--pack-destination', destination, ...options]);
  const [packed] = JSON.parse(output.slice(output.indexOf('[\n'))) as { filename: string }[];
  return path.join(destination, packed?.filename ?? '');
}

/** Packs the dependencies of a package from `node_modules` of this repository. */
async function packDependencies(folder: string, destination: string): Promise<string[]> {
  const { dependencies = {} } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  const tarballs = Object.keys(dependencies).map(async (name) => {
    const dependency = path.join(root, 'node_modules', name);
    return [
      await pack(dependency, destination, '--ignore-scripts'),
      ...(await packDependencies(dependency, destination)),
    ];
  });
  return (await Promise.all(tarballs)).flat();
}

/** Runs npm. @throws Error with the messages of npm */
async function npm(folder: string, args: readonly string[]): Promise<Ended> {
  const ended = await runProgram('npm', args, folder);
  if (ended.code !== 0) throw new Error(`npm ${args.join(' ')}:\n${ended.output}${ended.errors}`);
  return ended;
}

async function runProgram(
  program: string,
  args: readonly string[],
  cwd: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const child = spawn(program, args, { cwd, env: { ...environment, ...settings }, stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, output, errors };
}

/** The output of `project/program.ts` on every runtime. */
export function expectedOutput(runtime: string): object {
  return {
    runtime,
    text: 'Write a short greeting for Ada.',
    status: 200,
    streamed: { words: 6, text: 'Write a short greeting for Ada.', finishReason: 'stop', provider: 'echo' },
    leaving: 'AbortError',
    preview: 'Write a short greeting for Ada.',
    found: [true],
    notFound: 'urn:prompt-gateway:problem:prompt-not-found',
    missing: ['name'],
    unreachable: true,
    aborted: 'stopped',
    schema: '/schemas/events/ORDER_PLACED/v1.json',
    event: 'ORDER_PLACED',
    forged: true,
  };
}
