import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../runtime/system-error.ts';
import { makeCacheFolder, type InstallContext } from './cache-dir.ts';
import { withFileLock } from './file-lock.ts';
import { findOnPath } from './find-on-path.ts';
import { installerEnvironment } from './processes.ts';
import { runCommand } from './run-command.ts';

const VENV_LIMIT_MS = 2 * 60_000;
const PIP_LIMIT_MS = 10 * 60_000;
const PIP_SILENCE_MS = 2 * 60_000;

export interface PythonPackageOptions extends InstallContext {
  /** As PyPI spells it. */
  name: string;
  version: string;
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
  if (existsSync(complete)) return programs;
  await makeCacheFolder(cacheDir);
  await withFileLock(
    `${venv}.install-lock`,
    async () => {
      if (existsSync(complete)) return;
      await install(venv, options);
      await writeFile(complete, '');
    },
    { signal, onWait: () => log.info({}, `waiting for another process to finish installing ${name}`) },
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
    signal?.throwIfAborted();
    throw new Error(
      `"${python} -m venv" failed (on Debian and Ubuntu it needs the package python3-venv): ${messageOf(error)}`,
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
    signal?.throwIfAborted();
    throw new Error(`pip could not install ${name} ${version}: ${messageOf(error)}`, { cause: error });
  }
}
