import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { spawnSync } from 'node:child_process';

const root = path.resolve(import.meta.dirname, '../..');
const client = path.join(root, 'clients/typescript');
const compiler = path.join(root, 'node_modules/typescript/bin/tsc');

/**
 * The last step of `npm ci`. Without the development packages it prints what is missing, and the installation
 * continues.
 */
if (existsSync(compiler)) {
  await rm(path.join(client, 'dist'), { recursive: true, force: true });
  // The project of the command line program contains the whole package. This does not check types, because a type error
  // must not stop the installation; `npm run check` checks them.
  const options = ['--project', path.join(client, 'src/cli'), '--noCheck'];
  const { status } = spawnSync(process.execPath, [compiler, ...options], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
} else {
  console.log('The client is not built: this needs the development packages (npm ci without --omit=dev).');
}
