import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { hasCode } from '../../runtime/system-error.ts';

/**
 * Identifies a process that uses a folder, so that a later process with the same number is not mistaken for it (in
 * containers every process is number 1), and neither is a user of the folder that this one was copied from.
 */
export interface ProcessRecord {
  pid: number;
  /** Milliseconds since the epoch at which the process started, by its own clock. */
  startedAt: number;
  /** When it started, as the system counts; absent on systems without /proc and in records of earlier releases. */
  birth?: string | undefined;
  /** The folder, absent in records of earlier releases. */
  folder?: string | undefined;
}

/** The form of a {@link ProcessRecord} in a file. */
export const processRecordSchema = z.object({
  pid: z.number(),
  startedAt: z.number(),
  birth: z.string().optional(),
  folder: z.string().optional(),
});

/** The record of this process. @param folder the real path of what it uses */
export async function thisProcess(folder: string): Promise<ProcessRecord> {
  const { pid } = process;
  return { pid, startedAt: Math.round(performance.timeOrigin), birth: await birthOf(pid), folder };
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
 * True while the recorded process may still exist and use the folder. On systems without /proc, a number that another
 * process has taken over since counts as alive.
 */
export async function isAlive(record: ProcessRecord, folder: string): Promise<boolean> {
  if (record.folder !== undefined && record.folder !== folder) return false;
  if (record.pid === process.pid) return record.startedAt === Math.round(performance.timeOrigin);
  if (!isRunning(record.pid)) return false;
  const birth = record.birth === undefined ? undefined : await birthOf(record.pid);
  return birth === undefined || birth === record.birth;
}

/** The boot of the system and the clock ticks from it to the start of a process; undefined on systems without /proc. */
async function birthOf(pid: number): Promise<string | undefined> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => undefined);
  const ticks = (await readStatistics(pid))?.[startTimeField];
  return boot === undefined || ticks === undefined ? undefined : `${boot.trim()} ${ticks}`;
}

/**
 * Milliseconds for which a process has used a processor; undefined on systems without /proc. While they grow, a server
 * that answers nobody is working, for example on an index.
 */
export async function processorTimeOf(pid: number): Promise<number | undefined> {
  const fields = await readStatistics(pid);
  return fields === undefined ? undefined : (Number(fields[userTimeField]) + Number(fields[systemTimeField])) * tickMs;
}

/** A process that uses less than this part of one processor is not working; answers to heartbeats use less. */
const workingShare = 0.02;

/** Compares processor times of one process. */
export interface WorkWatch {
  /**
   * Whether the process has worked since the last call.
   * @param used its processor time, undefined if that is not known
   * @param now on a monotonic clock, in milliseconds
   */
  hasWorked(used: number | undefined, now: number): boolean;
}

export function createWorkWatch(): WorkWatch {
  let last: { used: number; at: number } | undefined;
  return {
    hasWorked(used, now) {
      const before = last;
      last = used === undefined ? undefined : { used, at: now };
      return before !== undefined && last !== undefined && last.used - before.used > workingShare * (now - before.at);
    },
  };
}

/** Fields of /proc/<pid>/stat after the program's name (proc(5)). A tick has 10 ms on all common systems. */
const userTimeField = 11;
const systemTimeField = 12;
const startTimeField = 19;
const tickMs = 10;

async function readStatistics(pid: number): Promise<string[] | undefined> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The name, in parentheses, may contain blanks and parentheses.
  return line
    ?.slice(line.lastIndexOf(')') + 2)
    .trim()
    .split(' ');
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
