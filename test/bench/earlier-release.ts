import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');

/** An earlier state of this project, with its packages, in a folder of its own. */
export interface EarlierRelease {
  readonly folder: string;
  remove(): Promise<void>;
}

/** Checks out a commit of this repository, with its packages: those of this working tree if they are the same. */
export async function checkOut(commit: string): Promise<EarlierRelease> {
  const folder = await mkdtemp(path.join(tmpdir(), 'prompt-gateway-earlier-'));
  const archive = path.join(folder, 'archive.tar');
  await run('git', ['archive', '--output', archive, commit], { cwd: root });
  await run('tar', ['xf', archive, '-C', folder]);
  const [its, ours] = await Promise.all(
    [folder, root].map((place) => readFile(path.join(place, 'package-lock.json'), 'utf8')),
  );
  if (its === ours) await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  else await run('npm', ['ci', '--no-audit', '--no-fund', '--omit=dev', '--ignore-scripts'], { cwd: folder });
  // Before it existed, the validators were committed.
  const build = path.join(folder, 'src/codegen/build-validators.ts');
  if (existsSync(build)) await run(process.execPath, [build], { cwd: folder });
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
