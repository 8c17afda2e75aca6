import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rename } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning, sendSignal, serverEnvironment, type Environment } from './processes.ts';

/** A server that recovers its journal after a crash may take a while. */
const READY_LIMIT_MS = 90_000;
const POLL_MS = 50;
const TERMINATE_LIMIT_MS = 15_000;
/** Milliseconds in which a killed process has ended, even if it waits for a slow disk. */
const KILL_LIMIT_MS = 60_000;
const LOG_TAIL_CHARACTERS = 1_500;

export interface Launch<Identity> {
  command: string;
  args: readonly string[];
  port: number;
  /** An existing folder. */
  storagePath: string;
  logPath: string;
  env: Environment;
  /** Called with the process number as soon as the process exists, before the server is ready. */
  onSpawn?: (pid: number) => Promise<void>;
  /** Identifies the server; undefined while it is not ready. An error that it throws ends the server. */
  identify: () => Promise<Identity | undefined>;
  /** Ends the server while it is not ready. */
  signal?: AbortSignal | undefined;
}

/** A database server did not start. The message ends with the last lines of its log. */
export class ServerLaunchError extends Error {
  override readonly name = 'ServerLaunchError';
}

/**
 * Starts a database server and waits until it answers. It gets its own process group, so that Ctrl-C in a terminal
 * reaches only the service, which stops the server after its last request.
 *
 * @throws ServerLaunchError, or the reason of the signal
 */
export async function launchServer<Identity>(launch: Launch<Identity>): Promise<{ pid: number; identity: Identity }> {
  const { command, args, port, storagePath, logPath, env, onSpawn, identify, signal } = launch;
  await rename(logPath, `${logPath}.previous`).catch(() => undefined);
  const log = await open(logPath, 'w', 0o600);
  const child = spawn(command, args, {
    cwd: storagePath,
    env: serverEnvironment(env),
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  let ended: string | undefined;
  child.on('error', (error) => (ended = error.message));
  child.on('exit', (code, signal) => (ended = `it ended with ${signal ?? `exit code ${String(code)}`}`));
  child.unref();
  await log.close();

  const { pid } = child;
  if (pid !== undefined) {
    try {
      await onSpawn?.(pid);
      for (const end = performance.now() + READY_LIMIT_MS; ended === undefined && performance.now() < end;) {
        signal?.throwIfAborted();
        const identity = (await accepts(port)) ? await identify() : undefined;
        if (identity !== undefined && isRunning(pid)) return { pid, identity };
        await sleep(POLL_MS);
      }
    } catch (error) {
      await stopServer(pid);
      throw error;
    }
    ended ??= `it was not ready after ${READY_LIMIT_MS / 1_000} s`;
    await stopServer(pid);
  }
  const tail = (await readFile(logPath, 'utf8').catch(() => '')).trim().slice(-LOG_TAIL_CHARACTERS);
  throw new ServerLaunchError(`${command} did not start: ${ended ?? 'no process'}${tail === '' ? '' : `\n${tail}`}`);
}

/** Asks a server to stop, and kills it if it has not stopped in time, by default 15 s. @throws {Error} if that has no effect */
export async function stopServer(pid: number, limitMs = TERMINATE_LIMIT_MS): Promise<void> {
  sendSignal(pid, 'SIGTERM');
  const end = performance.now() + limitMs;
  while (isRunning(pid)) {
    const over = performance.now() - end;
    if (over > KILL_LIMIT_MS)
      throw new Error(`The database server (process ${pid}) has not ended although it was killed.`);
    if (over > 0) sendSignal(pid, 'SIGKILL');
    await sleep(POLL_MS);
  }
}

/** A port on the loopback interface that is currently free. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** True when something listens on a port. This check is cheaper than a client that waits for its server. */
async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}
