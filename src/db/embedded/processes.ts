import { readFile } from 'node:fs/promises';
import { hasCode } from '../../runtime/system-error.ts';

/** True while a process with this number exists, whoever owns it. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** True when a process runs with this argument. False also on systems without /proc. */
export async function runsWith(pid: number, argument: string): Promise<boolean> {
  const args = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return args.split('\0').includes(argument);
}

/**
 * Milliseconds for which a process has used a processor; undefined on systems without /proc. While they grow, a server
 * that answers nobody is working, for example on an index.
 */
export async function processorTimeOf(pid: number): Promise<number | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (line === undefined) return undefined;
  // Fields after the program's name (proc(5)), which is in parentheses and may contain blanks and parentheses.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [userTicks, systemTicks] = [fields[11], fields[12]].map(Number);
  return ((userTicks ?? 0) + (systemTicks ?? 0)) * tickMs;
}

/** On all common systems. */
const tickMs = 10;
/** A process that uses less than this part of one processor is not working; answers to heartbeats use less. */
const workingShare = 0.02;

/**
 * Creates a function that tells whether a process has worked since the call before.
 *
 * The function takes the processor time of the process, undefined if that is not known, and the time of a monotonic
 * clock, both in milliseconds.
 */
export function createWorkWatch(): (used: number | undefined, now: number) => boolean {
  let last: { used: number; at: number } | undefined;
  return (used, now) => {
    const before = last;
    last = used === undefined ? undefined : { used, at: now };
    return before !== undefined && last !== undefined && last.used - before.used > workingShare * (now - before.at);
  };
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
