/**
 * Ends the server of a data folder with the last service process that uses it, however that ends.
 *
 * All of these processes have a named pipe open for writing, and write nothing. A shell reads it. It comes to the end of
 * the pipe when the last of them has ended, because the operating system closes the files of a process that is killed,
 * and then it asks the server to stop.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { hasCode } from '../../../base/runtime/system-error.ts';
import { serverEnvironment, type Environment } from './processes.ts';

/** Keeps a server running. */
export interface Lifeline {
  /** If no other process keeps the server running, it is asked to stop. Calling it again does nothing. */
  release(): void;
}

/**
 * The number of the process is compared with its command line, because it may belong to another process by then. No pipe
 * is left in the folder, because some programs cannot copy one.
 */
const script = `
read -r _
exec < /dev/null
if [ -r "/proc/$1/cmdline" ]; then line=$(tr '\\0' ' ' < "/proc/$1/cmdline"); else line=$(ps -o args= -p "$1"); fi
case "$line" in *"$2"*) rm -f "$3"; kill -TERM "$1" ;; esac
`;

export interface Guarded {
  pid: number;
  /** An argument of its command line. */
  storagePath: string;
  env: Environment;
}

/** Begins to guard a new server. @param path of the pipe, which is created @throws Error if there is no POSIX shell */
export async function createLifeline(path: string, { pid, storagePath, env }: Guarded): Promise<Lifeline> {
  const options = { env: serverEnvironment(env) };
  await rm(path, { force: true });
  await promisify(execFile)('mkfifo', ['-m', '600', path], options);
  // While a pipe is open for both, opening it for one of them does not wait for somebody who opens it for the other.
  const both = openSync(path, constants.O_RDWR);
  const end = openSync(path, constants.O_RDONLY);
  const lifeline = toLifeline(openSync(path, constants.O_WRONLY));
  closeSync(both);
  try {
    const shell = spawn('/bin/sh', ['-c', script, 'lifeline', String(pid), storagePath, path], {
      ...options,
      detached: true,
      stdio: [end, 'ignore', 'ignore'],
    });
    await once(shell, 'spawn');
    shell.unref();
  } catch (error) {
    lifeline.release();
    throw error;
  } finally {
    closeSync(end);
  }
  return lifeline;
}

/** Keeps a running server running. @returns undefined if nothing guards it, or it has been asked to stop */
export function joinLifeline(path: string): Lifeline | undefined {
  try {
    return toLifeline(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
  } catch (error) {
    if (hasCode(error, 'ENXIO') || hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function toLifeline(file: number): Lifeline {
  let isOpen = true;
  return {
    release() {
      if (isOpen) closeSync(file);
      isOpen = false;
    },
  };
}
