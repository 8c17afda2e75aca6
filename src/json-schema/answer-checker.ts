import { Worker } from 'node:worker_threads';
import { createFairQueue, QueueFullError } from '../limits/fair-queue.ts';
import { within } from '../runtime/within.ts';

/** A schema that `findSchemaMistakes` accepts. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface CheckJob {
  readonly schema: JsonSchema;
  readonly json: string;
}

export type CheckResult =
  | { readonly status: 'valid' }
  /** Where it breaks: a place in the answer and a keyword of the schema, both as JSON pointers in a URI fragment. */
  | { readonly status: 'invalid'; readonly place: string; readonly keyword: string }
  /** The check took too long, needed too much memory, or could not begin because too many wait. */
  | { readonly status: 'unverified' };

/** Checks the answers of models against the schemas of callers. */
export interface AnswerChecker {
  /**
   * @param job the schema, and the answer as JSON text; text that is not JSON is invalid
   * @param key whose check it is, such as the id of an API key. Many checks of one key do not delay those of others.
   */
  check(job: CheckJob, key: string): Promise<CheckResult>;
  /** Ends all checks as `unverified`, and the threads. */
  close(): Promise<void>;
}

export interface AnswerCheckerOptions {
  /** Checks at the same time; each has a thread of its own. 2 if left out. */
  readonly threads?: number;
  /** The longest time of a check once it has begun. 250 if left out. */
  readonly timeoutMs?: number;
  /** Checks that can wait; more are `unverified` immediately. 100 if left out. */
  readonly maxWaiting?: number;
  /** Called when a thread failed: it could not start, or had no memory left. */
  readonly onError?: (error: Error) => void;
}

/** A thread that checks one answer at a time. */
interface Thread {
  /** @returns undefined if the check did not end; then the thread must end */
  check(job: CheckJob): Promise<CheckResult | undefined>;
  end(): Promise<void>;
}

/**
 * Checks run in threads, since a check can need any time and memory with the schema of a caller. A thread starts when a
 * check first needs it. When a check takes too long, its thread ends, and the next check starts another one.
 */
export function createAnswerChecker(options: AnswerCheckerOptions = {}): AnswerChecker {
  const { threads = 2, timeoutMs = 250, maxWaiting = 100, onError } = options;
  const queue = createFairQueue({ places: threads, maxWaiting, maxWaitingPerKey: Math.ceil(maxWaiting / 4) });
  const running = new Set<Thread>();
  const idle: Thread[] = [];
  let isClosed = false;

  const checkNow = async (job: CheckJob): Promise<CheckResult | undefined> => {
    if (isClosed) return undefined;
    const thread = idle.pop() ?? startThread(timeoutMs, onError);
    running.add(thread);
    const result = await thread.check(job);
    if (result === undefined) {
      await thread.end();
      running.delete(thread);
    } else {
      idle.push(thread);
    }
    return result;
  };

  return {
    async check(job, key) {
      const leave = await queue.enter({ key }).catch((error: unknown) => {
        if (error instanceof QueueFullError) return undefined;
        throw error;
      });
      try {
        return (leave && (await checkNow(job))) ?? { status: 'unverified' };
      } finally {
        leave?.();
      }
    },
    async close() {
      isClosed = true;
      await Promise.all([...running].map((thread) => thread.end()));
    },
  };
}

function startThread(timeoutMs: number, onError?: (error: Error) => void): Thread {
  const worker = new Worker(new URL('check-worker.ts', import.meta.url), {
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
  });
  let settle: (message?: CheckResult) => void = () => undefined;
  const nextMessage = (): Promise<CheckResult | undefined> =>
    new Promise((resolve) => {
      settle = resolve;
    });
  const ready = nextMessage();
  worker.on('message', (message: CheckResult) => settle(message));
  worker.on('error', (error: Error) => {
    onError?.(error);
    settle();
  });
  worker.on('exit', () => settle());

  return {
    async check(job) {
      // The start does not count: it takes the time that the machine needs for it.
      if ((await ready) === undefined) return undefined;
      const result = nextMessage();
      worker.ref();
      worker.postMessage(job);
      try {
        return await within(timeoutMs, result, () => undefined);
      } finally {
        // Without a check, the thread does not keep the process running.
        worker.unref();
      }
    },
    async end() {
      await worker.terminate();
    },
  };
}
