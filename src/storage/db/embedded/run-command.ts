import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { messageOf } from '../../../base/runtime/system-error.ts';
import { sendSignal, type Environment } from './processes.ts';

/** Lines of output kept for an error message. */
const KEPT_LINES = 20;

export interface CommandOptions {
  env: Environment;
  /** Milliseconds without a line of output after which the command is ended. */
  silenceMs: number;
  /** Milliseconds to the first line of output, if that is expected sooner. */
  firstLineMs?: number;
  onLine?: (line: string) => void;
  /** Ends the command. */
  signal?: AbortSignal | undefined;
}

/**
 * Runs a program to its end and passes on its output, including standard error, line by line. A program that is silent
 * for too long is killed together with all processes that it started.
 *
 * @returns the lines of output, the last 20 at most
 * @throws Error whose message ends with the last lines of output, or the reason of the signal
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  { env, silenceMs, firstLineMs = silenceMs, onLine, signal }: CommandOptions,
): Promise<string[]> {
  signal?.throwIfAborted();
  // It leads its own process group, so the negative number also reaches its children.
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const lines: string[] = [];
  let failure: string | undefined;
  const end = (reason: string): void => {
    failure ??= reason;
    if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
  };
  const abort = (): void => {
    end('it was canceled');
  };
  const endIfSilent = (milliseconds: number): NodeJS.Timeout =>
    setTimeout(end, milliseconds, `nothing happened for ${Math.round(milliseconds / 1_000)} s`);
  let silence = endIfSilent(firstLineMs);
  signal?.addEventListener('abort', abort);
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      clearTimeout(silence);
      silence = endIfSilent(silenceMs);
      lines.splice(0, lines.length + 1 - KEPT_LINES);
      lines.push(line);
      onLine?.(line);
    });
  }
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) failure ??= `it ended with exit code ${String(code)}`;
  } catch (error) {
    failure = messageOf(error);
  }
  clearTimeout(silence);
  signal?.removeEventListener('abort', abort);
  signal?.throwIfAborted();
  if (failure === undefined) return lines;
  const output = lines.filter((line) => line.trim() !== '');
  throw new Error(output.length === 0 ? failure : [`${failure}:`, ...output].join('\n'));
}
