import path from 'node:path';
import { startServiceProcess, type ServiceProcess } from '../../support/service-process.ts';

/** A service process that can be killed, stopped and started again. */
export interface ServiceNode {
  /** Undefined while the process is stopped. */
  readonly url: string | undefined;
  readonly pid: number;
  /** Resolves when the process listens. */
  start(): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** Sends SIGKILL, and waits for the end. */
  kill(): Promise<void>;
  /** Sends SIGTERM, and waits for the end. */
  stop(): Promise<void>;
}

const program = path.join(import.meta.dirname, 'program.ts');

/** @param clockShift the error of its wall clock, in milliseconds */
export function createServiceNode(environment: Readonly<Record<string, string>>, clockShift: number): ServiceNode {
  let running: ServiceProcess | undefined;
  const end = async (how: 'kill' | 'stop'): Promise<void> => {
    const ended = running;
    running = undefined;
    await ended?.[how]();
  };
  return {
    get url() {
      return running?.url;
    },
    get pid() {
      return running?.pid ?? 0;
    },
    async start() {
      running = await startServiceProcess(environment, { program, clockShift });
    },
    signal: (name) => running?.signal(name),
    kill: () => end('kill'),
    stop: () => end('stop'),
  };
}
