import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** The service in a process of its own. */
export interface ChildService {
  readonly url: string;
  /** Ends it as a power failure would. */
  kill(): Promise<void>;
}

/** Starts `src/server.ts` with this environment; resolves when it listens. */
export async function startChildService(environment: Record<string, string>): Promise<ChildService> {
  const server = path.resolve(import.meta.dirname, '../../../src/server.ts');
  const child = spawn(process.execPath, [server], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment, LOG_LEVEL: 'silent' },
    cwd: tmpdir(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    said.push(line);
    const url = /^Listening on (\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    return {
      url,
      async kill() {
        child.kill('SIGKILL');
        await exited;
      },
    };
  }
  throw new Error(`The service did not start:\n${said.join('\n')}`);
}
