import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

const root = path.resolve(import.meta.dirname, '../..');
const dashboard = path.join(root, 'clients/dashboard');
const target = path.join(root, 'dist/dashboard');
const vite = path.join(root, 'node_modules/vite/bin/vite.js');

/**
 * The last step of `npm ci`, because the dashboard contains the client. Without the development packages it prints what
 * is missing, and the installation continues.
 */
if (existsSync(dashboard) && isInstalled('vite') && isInstalled('@vitejs/plugin-react')) {
  const options = { cwd: dashboard, stdio: 'inherit' } as const;
  const { status } = spawnSync(process.execPath, [vite, 'build', '--logLevel', 'warn'], options);
  process.exitCode = status ?? 1;
  if (status === 0) await compressAll();
} else {
  console.log('The dashboard is not built: this needs the development packages (npm ci without --omit=dev).');
}

/** @param name of a package that builds the dashboard. npm installs some of them in the dashboard's own folder. */
function isInstalled(name: string): boolean {
  try {
    return findPackageJSON(name, pathToFileURL(`${dashboard}/`)) !== undefined;
  } catch {
    return false;
  }
}

/** Adds the compressed files that the service sends. The best compression takes too long for a request. */
async function compressAll(): Promise<void> {
  const files = globSync('**/*.{js,css,svg,json}', { cwd: target });
  await Promise.all(
    files.map(async (file) => {
      const name = path.join(target, file);
      const content = await readFile(name);
      await writeFile(`${name}.br`, await promisify(brotliCompress)(content));
      await writeFile(`${name}.gz`, await promisify(gzip)(content, { level: 9 }));
    }),
  );
}
