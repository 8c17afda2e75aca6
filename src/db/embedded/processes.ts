import { readFile } from 'node:fs/promises';
import { hasCode } from '../../runtime/system-error.ts';

/**
 * Identifies a process, so that a later process with the same number is not mistaken for it (in containers every
 * process is number 1).
 */
export interface ProcessRecord {
  pid: number;
  /** Milliseconds since the epoch at which the process started, by its own clock. */
  startedAt: number;
}

/** The record of this process. */
export function thisProcess(): ProcessRecord {
  return { pid: process.pid, startedAt: Math.round(performance.timeOrigin) };
}

/** True while a process with this number exists, whoever owns it. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/**
 * True while the recorded process may still exist. A number that another process has taken over since counts as alive.
 */
export function isAlive(record: ProcessRecord): boolean {
  const own = thisProcess();
  return record.pid === own.pid ? record.startedAt === own.startedAt : isRunning(record.pid);
}

/** True when a process runs with this argument. False also on systems without /proc. */
export async function runsWith(pid: number, argument: string): Promise<boolean> {
  const args = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return args.split('\0').includes(argument);
}

const PASSED_ON = /^(PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|LD_LIBRARY_PATH|SYSTEMROOT)$/;
const PASSED_ON_TO_INSTALLERS =
  /^(PIP_\w+|MONGOMS_\w+|npm_config_\w+|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|NODE_EXTRA_CA_CERTS|\w+_proxy|XDG_\w+|PYENV_\w+)$/i;

/** Environment variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of a database server: without keys of providers and the administrator key. */
export function serverEnvironment(env: Environment): Record<string, string> {
  return pick(env, (name) => PASSED_ON.test(name));
}

/** {@link serverEnvironment} and what pip and downloads need: proxies, certificates, settings. */
export function installerEnvironment(env: Environment): Record<string, string> {
  return pick(env, (name) => PASSED_ON.test(name) || PASSED_ON_TO_INSTALLERS.test(name));
}

function pick(env: Environment, wanted: (name: string) => boolean): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined && wanted(name)) picked[name] = value;
  return picked;
}
