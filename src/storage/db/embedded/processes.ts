import { readFile } from 'node:fs/promises';
import { hasCode } from '../../../base/runtime/system-error.ts';

/** True while a process with this number exists, whoever owns it. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** Sends a signal to a process, or to a group of processes by its negative number, unless it has ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

/** True when a process runs with this argument. False also on systems without /proc. */
export async function runsWith(pid: number, argument: string): Promise<boolean> {
  const args = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return args.split('\0').includes(argument);
}

/** The length of a clock tick on all common systems. */
const tickMs = 10;

/**
 * Milliseconds for which a process has used a processor; undefined on systems without /proc. While they grow, a server
 * that answers nobody is working, for example on an index.
 */
export async function processorTimeOf(pid: number): Promise<number | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // Fields after the program's name (proc(5)), which is in parentheses and may contain blanks and parentheses.
  const fields = line?.slice(line.lastIndexOf(')') + 2).split(' ');
  return fields && (Number(fields[11]) + Number(fields[12])) * tickMs;
}

const PASSED_ON = /^(PATH|HOME|USER|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|LD_LIBRARY_PATH|SYSTEMROOT)$/;
const PASSED_ON_TO_INSTALLERS =
  /^(PIP_\w+|MONGOMS_\w+|npm_config_\w+|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|NODE_EXTRA_CA_CERTS|\w+_proxy|XDG_\w+|PYENV_\w+)$/i;

/** Environment variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of a database server: without keys of providers and the administrator key. */
export function serverEnvironment(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => PASSED_ON.test(name)));
}

/** {@link serverEnvironment} and what pip and downloads need: proxies, certificates, settings. */
export function installerEnvironment(env: Environment): Environment {
  const added = Object.entries(env).filter(([name]) => PASSED_ON_TO_INSTALLERS.test(name));
  return { ...serverEnvironment(env), ...Object.fromEntries(added) };
}
