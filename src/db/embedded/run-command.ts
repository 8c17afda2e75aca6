import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Lines of output kept for an error message. */
const KEPT_LINES = 20;

export interface CommandOptions {
  env: Record<string, string>;
  /** Milliseconds after which the command is ended. */
  limitMs: number;
  /** Milliseconds to the first line of output, after which the command is ended. */
  firstLineMs?: number;
  /** Milliseconds without another line of output after which the command is ended. */
  silenceMs?: number;
  onLine?: (line: string) => void;
  /** Ends the command. */
  signal?: AbortSignal | undefined;
}

/** A command failed, could not be started, or took too long. The message ends with its last lines of output. */
export class CommandError extends Error {
  readonly lastLine: string | undefined;

  constructor(reason: string, lines: readonly string[] = []) {
    const output = lines.filter((line) => line.trim() !== '').join('\n');
    super(output === '' ? reason : `${reason}:\n${output}`);
    this.name = 'CommandError';
    this.lastLine = lines.at(-1);
  }
}

/**
 * Runs a program to its end and passes on its output, including standard error, line by line. A program that takes too
 * long is killed together with all processes that it started.
 *
 * @returns the lines of output, the last 20 at most
 * @throws CommandError, or the reason of the signal
 */
export function runCommand(command: string, args: readonly string[], options: CommandOptions): Promise<string[]> {
  const { env, limitMs, silenceMs = limitMs, firstLineMs = silenceMs, onLine, signal } = options;
  signal?.throwIfAborted();
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const lines: string[] = [];
  return new Promise((resolve, reject) => {
    const end = (reason: string): void => {
      if (child.pid !== undefined) killGroup(child.pid);
      finish(() => {
        reject(new CommandError(reason, lines));
      });
    };
    const abort = (): void => {
      if (child.pid !== undefined) killGroup(child.pid);
    };
    signal?.addEventListener('abort', abort, { once: true });
    const limit = setTimeout(end, limitMs, `it took longer than ${Math.round(limitMs / 1_000)} s`);
    const startSilence = (milliseconds: number): NodeJS.Timeout =>
      setTimeout(end, milliseconds, `nothing happened for ${Math.round(milliseconds / 1_000)} s`);
    let silence = startSilence(firstLineMs);
    let finished = false;
    const finish = (settle: () => void): void => {
      finished = true;
      clearTimeout(limit);
      clearTimeout(silence);
      signal?.removeEventListener('abort', abort);
      settle();
    };
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        if (finished) return;
        clearTimeout(silence);
        silence = startSilence(silenceMs);
        lines.push(line);
        if (lines.length > KEPT_LINES) lines.shift();
        onLine?.(line);
      });
    }
    child.on('error', (error) => {
      finish(() => {
        reject(new CommandError(error.message));
      });
    });
    child.on('close', (code) => {
      finish(() => {
        if (signal?.aborted === true) reject(signal.reason as Error);
        else if (code === 0) resolve(lines);
        else reject(new CommandError(`it ended with exit code ${String(code)}`, lines));
      });
    });
  });
}

/** The child leads its own process group, so the negative number also reaches its children. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended in the meantime.
  }
}
