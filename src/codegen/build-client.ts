import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { renderCopies } from './copies.ts';
import { root, writeChanged } from './generated-files.ts';

const client = path.join(root, 'clients/typescript');
const compiler = path.join(root, 'node_modules/typescript/bin/tsc');

/**
 * The last step of `npm ci`. Without the development packages it prints what is missing, and the installation
 * continues.
 */
if (existsSync(compiler)) {
  await writeChanged(await renderCopies());
  await rm(path.join(client, 'dist'), { recursive: true, force: true });
  // The project of the command line program contains the whole package. This does not check types, because a type error
  // must not stop the installation; `npm run check` checks them.
  const options = ['--project', path.join(client, 'src/cli'), '--noCheck'];
  const { status } = spawnSync(process.execPath, [compiler, ...options], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
  if (status === 0 && process.argv.includes('--pack')) await pack();
} else {
  console.log('The client is not built: this needs the development packages (npm ci without --omit=dev).');
}

/** Packs the client as `npm publish` does, into the file that the service serves as `/client.tgz`. */
async function pack(): Promise<void> {
  const dist = path.join(root, 'dist');
  await mkdir(dist, { recursive: true });
  const destination = await mkdtemp(path.join(dist, 'pack-'));
  // npm names its own program in the environment of scripts.
  const { npm_execpath: npm } = process.env;
  const [program, ...before] = npm === undefined ? ['npm'] : [process.execPath, npm];
  const args = [...before, 'pack', '--json', '--ignore-scripts', '--pack-destination', destination];
  const { status, stdout } = spawnSync(program ?? 'npm', args, { cwd: client, encoding: 'utf8' });
  const [packed] = status === 0 ? (JSON.parse(stdout) as { filename: string }[]) : [];
  if (packed === undefined) throw new Error('npm pack failed.');
  await rename(path.join(destination, packed.filename), path.join(dist, 'client.tgz'));
  await rm(destination, { recursive: true });
}
