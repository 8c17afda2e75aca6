import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { spawnSync } from 'node:child_process';

const root = path.resolve(import.meta.dirname, '../..');
const client = path.join(root, 'clients/typescript');
const compiler = path.join(root, 'node_modules/typescript/bin/tsc');

/** `npm ci` runs this at the end. Without the development packages it says what is missing, and the installation goes on. */
if (existsSync(compiler)) {
  await rm(path.join(client, 'dist'), { recursive: true, force: true });
  // The project of the command line program contains the whole package. `npm run check` checks the types: here a mistake
  // in them must not stop the installation.
  const options = ['--project', path.join(client, 'src/cli'), '--noCheck'];
  const { status } = spawnSync(process.execPath, [compiler, ...options], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
} else {
  console.log('The client is not built: this needs the development packages (npm ci without --omit=dev).');
}
