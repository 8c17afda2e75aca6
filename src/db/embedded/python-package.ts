import { access, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseLog } from '../log.ts';
import { makeCacheFolder } from './cache-dir.ts';
import { withFileLock } from './file-lock.ts';
import { findOnPath } from './find-on-path.ts';
import { installerEnvironment, type Environment } from './processes.ts';
import { CommandError, runCommand } from './run-command.ts';

const VENV_LIMIT_MS = 2 * 60_000;
const PIP_LIMIT_MS = 10 * 60_000;
const PIP_SILENCE_MS = 2 * 60_000;

export interface PythonPackageOptions {
  /** As PyPI spells it. */
  name: string;
  cacheDir: string;
  env: Environment;
  log: DatabaseLog;
  version: string;
  /** Ends the installation; the next one starts again. */
  signal?: AbortSignal | undefined;
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
  const programs = join(venv, 'bin');
  if (await exists(complete)) return programs;
  await makeCacheFolder(cacheDir);
  await withFileLock(
    `${venv}.lock`,
    async () => {
      if (await exists(complete)) return;
      await install(venv, options);
      await writeFile(complete, '');
    },
    { signal, onWait: (pid) => log.info({ pid }, `waiting for another process to finish installing ${name}`) },
  );
  return programs;
}

async function install(venv: string, { name, version, env, log, signal }: PythonPackageOptions): Promise<void> {
  const python = (await findOnPath('python3', env['PATH'])) ?? (await findOnPath('python', env['PATH']));
  if (python === undefined) throw new Error('there is no python3 on the PATH');
  const settings = { env: installerEnvironment(env), signal };
  await rm(venv, { recursive: true, force: true });
  log.info({ folder: venv }, `installing ${name} ${version} from PyPI (once, about half a minute)`);
  try {
    await runCommand(python, ['-m', 'venv', venv], { ...settings, limitMs: VENV_LIMIT_MS });
  } catch (error) {
    throw new Error(
      `"${python} -m venv" failed (on Debian and Ubuntu it needs the package python3-venv): ${reasonOf(error)}`,
      { cause: error },
    );
  }
  const pip = ['-m', 'pip', 'install', '--no-input', '--disable-pip-version-check', '--progress-bar', 'off'];
  try {
    await runCommand(join(venv, 'bin', 'python'), [...pip, `${name}==${version}`], {
      ...settings,
      limitMs: PIP_LIMIT_MS,
      silenceMs: PIP_SILENCE_MS,
      onLine: (line) => {
        if (/^\s*Downloading |^Installing /.test(line)) log.info({ package: name }, line.trim());
      },
    });
  } catch (error) {
    throw new Error(`pip could not install ${name} ${version}: ${reasonOf(error)}`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof CommandError)) throw error;
  return error.message;
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
