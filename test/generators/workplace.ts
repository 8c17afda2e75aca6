import { execFile } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** The time limit of a program, in milliseconds. Go compiles a large client for minutes on a small machine. */
const timeout = 20 * 60_000;
const callers = path.join(import.meta.dirname, 'callers');

/** The folder of a generator. */
export interface Workplace {
  readonly folder: string;
  /**
   * Runs a program to its end.
   *
   * @param directory in the folder
   * @returns what it printed
   * @throws Error with its last lines
   */
  run(command: string, args: readonly string[], directory?: string): Promise<string>;
  /** Writes a file. */
  write(name: string, content: string): Promise<void>;
  /** Copies a program that calls the service, or what it needs. */
  copy(caller: string, to: string): Promise<void>;
}

/** @param settings variables for the programs that call the service */
export function createWorkplace(folder: string, settings: Record<string, string>): Workplace {
  return {
    folder,
    async run(command, args, directory = '.') {
      try {
        const { stdout } = await promisify(execFile)(command, args, {
          cwd: path.join(folder, directory),
          env: { ...process.env, ...settings },
          timeout,
          maxBuffer: 64 * 1024 * 1024,
        });
        return stdout;
      } catch (error) {
        const { stdout = '', stderr = '', message } = error as { stdout?: string; stderr?: string; message: string };
        const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
        throw new Error([message.split('\n', 1)[0], ...lines.slice(-20)].join('\n'), { cause: error });
      }
    },
    async write(name, content) {
      const file = path.join(folder, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, content);
    },
    async copy(caller, to) {
      const target = path.join(folder, to);
      await mkdir(path.dirname(target), { recursive: true });
      await cp(path.join(callers, caller), target);
    },
  };
}
