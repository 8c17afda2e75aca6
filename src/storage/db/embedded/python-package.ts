import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../base/runtime/system-error.ts';
import { makeCacheFolder, type InstallContext } from './cache-dir.ts';
import { withFileLock } from './file-lock.ts';
import { findOnPath } from './find-on-path.ts';
import { installerEnvironment } from './processes.ts';
import { runCommand } from './run-command.ts';

const SILENCE_MS = 2 * 60_000;

export interface PythonPackageOptions extends InstallContext {
  /** As PyPI spells it. */
  name: string;
  version: string;
  /**
   * Path of a file that names the package, and all that it needs, with their hashes. Without one, pip gets what the
   * package asks for.
   */
  requirements?: string | undefined;
}

/**
 * Installs a package from PyPI into a separate Python environment in the cache folder, or finds it there. Processes
 * that start at the same time share one installation: the others wait.
 *
 * @returns the folder of its programs
 * @throws Error with the reason, in words for the operator
 */
export async function installPythonPackage(options: PythonPackageOptions): Promise<string> {
  const { name, version, cacheDir, log, signal } = options;
  const venv = join(cacheDir, `${name.toLowerCase()}-${version}`);
  // Written last: an interrupted installation does not have it and is started again.
  const complete = join(venv, 'complete');
  if (!existsSync(complete)) {
    await makeCacheFolder(cacheDir);
    const installOnce = async (): Promise<void> => {
      if (existsSync(complete)) return;
      await install(venv, options);
      await writeFile(complete, '');
    };
    const onWait = (): void => {
      log.info({}, `waiting for another process to finish installing ${name}`);
    };
    await withFileLock(`${venv}.install-lock`, installOnce, { signal, onWait });
  }
  return join(venv, 'bin');
}

async function install(venv: string, options: PythonPackageOptions): Promise<void> {
  const { name, version, requirements, env, log, signal } = options;
  const python = (await findOnPath('python3', env['PATH'])) ?? (await findOnPath('python', env['PATH']));
  if (python === undefined) throw new Error('there is no python3 on the PATH');
  await rm(venv, { recursive: true, force: true });
  log.info({ folder: venv }, `installing ${name} ${version} from PyPI (once, about half a minute)`);
  const run = (failed: string, command: string, ...args: string[]): Promise<unknown> =>
    runCommand(command, args, {
      env: installerEnvironment(env),
      signal,
      silenceMs: SILENCE_MS,
      onLine: (line) => {
        if (/^\s*Downloading |^Installing /.test(line)) log.info({ package: name }, line.trim());
      },
    }).catch((cause: unknown) => {
      signal?.throwIfAborted();
      throw new Error(`${failed}: ${messageOf(cause)}`, { cause });
    });
  const needed = `"${python} -m venv" failed (on Debian and Ubuntu it needs the package python3-venv)`;
  await run(needed, python, '-m', 'venv', venv);
  const pip = ['-m', 'pip', 'install', '--no-input', '--disable-pip-version-check', '--progress-bar', 'off'];
  const failed = `pip could not install ${name} ${version}`;
  // A package without a wheel would be built by tools that are not in the list.
  const pinned = ['--require-hashes', '--only-binary', ':all:', '--requirement'];
  const what = requirements === undefined ? [`${name}==${version}`] : [...pinned, requirements];
  await run(failed, join(venv, 'bin', 'python'), ...pip, ...what);
}
