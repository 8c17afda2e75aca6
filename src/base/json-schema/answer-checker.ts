import { Worker } from 'node:worker_threads';
import { createFairQueue, CrowdedError, type Entrant } from '../limits/fair-queue.ts';
import { JsonText } from '../runtime/json-text.ts';
import { within } from '../runtime/within.ts';

/** A schema that `findSchemaMistakes` accepts. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The value of an answer in JSON. */
export interface AnswerObject {
  /** It has each name of an object once, and every number as the answer has it. */
  readonly json: JsonText;
  /** Whether it has a number that JavaScript would change. */
  readonly hasInexactNumber: boolean;
}

/** The text of an answer that has to be JSON. */
export interface CheckJob {
  readonly text: string;
  /** What the answer has to match; any JSON if left out. */
  readonly schema?: JsonSchema | undefined;
  /** Whether JSON objects and arrays anywhere in the text are its JSON. One of them has to match. The value has them all. */
  readonly anywhere?: boolean;
}

/** Why an answer is not what it has to be. */
export type AnswerMistake =
  /** It stops being JSON after this many characters; it ends too early if it has no more. */
  | { readonly type: 'not-json'; readonly after: number; readonly length: number }
  /** Its arrays and objects are nested deeper than this. */
  | { readonly type: 'too-deep'; readonly limit: number }
  /**
   * Where it breaks: a place in the answer as a JSON pointer, with `*` for names that the schema does not have, and a
   * keyword of the schema as a JSON pointer in a URI fragment. `reason` is what the keyword wants.
   */
  | { readonly type: 'mismatch'; readonly place: string; readonly keyword: string; readonly reason?: string };

export type CheckResult =
  | { readonly status: 'valid'; readonly object: AnswerObject }
  | { readonly status: 'invalid'; readonly mistake: AnswerMistake }
  /**
   * The text has too many values, the check took too long or needed too much memory, could not begin because too many
   * wait, or nobody waits for it any more. There is an object if the text was read, and only the check against the schema did not end.
   */
  | { readonly status: 'unverified'; readonly object?: AnswerObject };

/**
 * What a thread reports: first that it has started, then about each text whether it is JSON, and whether it matches the
 * schema, if there is one.
 */
export type CheckReport =
  | { readonly type: 'ready' }
  /** @property json absent if it is the text itself */
  | { readonly type: 'object'; readonly json?: string; readonly hasInexactNumber: boolean }
  | AnswerMistake
  | { readonly type: 'match' }
  /** The text has too many values to be read, or the check against the schema failed. */
  | { readonly type: 'unverified' };

/** Reads the answers of models that have to be JSON, and checks them against the schemas of callers. */
export interface AnswerChecker {
  /**
   * @param whose the key is that of a family. However many checks a key has, and however long they take, another key has
   *   a thread. The signal ends the check as `unverified`, also one that runs.
   */
  check(job: CheckJob, whose: Entrant): Promise<CheckResult>;
  /** Ends all checks as `unverified`, and the threads. */
  close(): Promise<void>;
}

export interface AnswerCheckerOptions {
  /** Checks at the same time; each has a thread of its own. 2 if left out. */
  readonly threads?: number;
  /**
   * The longest time of reading a text once it has begun. Only texts that are made to be slow need it. If left out,
   * 1,000, or `timeoutMs` if that is longer.
   */
  readonly readMs?: number;
  /** The longest time of the check against the schema after that. 250 if left out. */
  readonly timeoutMs?: number;
  /** Checks that can wait; more are `unverified` immediately. 400 if left out; a quarter of them for one key. */
  readonly maxWaiting?: number;
  /** Called when a thread failed: it could not start, or had no memory left. */
  readonly onError?: (error: Error) => void;
}

/** A thread that checks one answer at a time. */
interface Thread {
  /** @returns `isStuck` if the check did not end; then the thread must end */
  check(
    job: CheckJob,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly result: CheckResult; readonly isStuck?: true }>;
  /** Resolves when it can check: to false if it failed. */
  readonly started: Promise<boolean>;
  end(): Promise<void>;
}

/**
 * Checks run in threads, since a text of some megabytes takes long to read, and a check can need any time and memory
 * with the schema of a caller. A thread starts when a check first needs it. When a check takes too long, or nobody waits
 * for it any more, its thread ends, and another one starts at the expense of the same key.
 */
export function createAnswerChecker(options: AnswerCheckerOptions = {}): AnswerChecker {
  const { threads = 2, timeoutMs = 250, readMs = Math.max(1_000, timeoutMs), maxWaiting = 400, onError } = options;
  const waiting = { maxWaiting, maxWaitingPerKey: Math.ceil(maxWaiting / 4) };
  const queue = createFairQueue({ places: threads, reserved: 1, ...waiting });
  const running = new Set<Thread>();
  const idle: Thread[] = [];
  let isClosed = false;

  const start = (): Thread => {
    const thread = startThread({ readMs, timeoutMs }, onError);
    running.add(thread);
    return thread;
  };

  const replace = async (thread: Thread): Promise<void> => {
    await thread.end();
    running.delete(thread);
    if (isClosed) return;
    const next = start();
    if (await next.started) idle.push(next);
    else running.delete(next);
  };

  return {
    async check(job, whose) {
      const leave = await queue.enter(whose).catch((error: unknown) => {
        if (error instanceof CrowdedError || whose.signal?.aborted === true) return undefined;
        throw error;
      });
      if (leave === undefined) return { status: 'unverified' };
      let thread: Thread | undefined;
      let isFit = false;
      try {
        if (isClosed) return { status: 'unverified' };
        thread = idle.pop() ?? start();
        const { result, isStuck = false } = await thread.check(job, whose.signal);
        isFit = !isStuck;
        return result;
      } finally {
        if (thread !== undefined && !isFit) {
          void replace(thread)
            .catch((error: unknown) => onError?.(error as Error))
            .finally(leave);
        } else {
          if (thread !== undefined) idle.push(thread);
          leave();
        }
      }
    },
    async close() {
      isClosed = true;
      await Promise.all([...running].map((thread) => thread.end()));
    },
  };
}

function startThread(
  { readMs, timeoutMs }: Required<Pick<AnswerCheckerOptions, 'readMs' | 'timeoutMs'>>,
  onError?: (error: Error) => void,
): Thread {
  const worker = new Worker(new URL('check-worker.ts', import.meta.url), {
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
  });
  /** Reports that nobody has waited for yet; undefined after the end of the thread. */
  const reports: (CheckReport | undefined)[] = [];
  let wanted: ((report: CheckReport | undefined) => void) | undefined;
  const take = (report?: CheckReport): void => {
    if (wanted === undefined) reports.push(report);
    else wanted(report);
    wanted = undefined;
  };
  const next = (): Promise<CheckReport | undefined> =>
    new Promise((resolve) => {
      if (reports.length > 0) resolve(reports.shift());
      else wanted = resolve;
    });
  worker.on('message', take);
  worker.on('error', (error: Error) => {
    onError?.(error);
    take();
  });
  worker.on('exit', () => take());
  const started = next().then((report) => report !== undefined);
  // Without a check, the thread does not keep the process running.
  worker.unref();
  const stuck = { result: { status: 'unverified' }, isStuck: true } as const;

  const end = (): void => {
    void worker.terminate();
  };
  const check = async (job: CheckJob): ReturnType<Thread['check']> => {
    const read = await within(readMs, next(), () => undefined);
    if (read?.type === 'not-json' || read?.type === 'too-deep') return { result: { status: 'invalid', mistake: read } };
    if (read?.type === 'unverified') return { result: { status: 'unverified' } };
    if (read?.type !== 'object') return stuck;
    const { json = job.text, hasInexactNumber } = read;
    const object = { json: new JsonText(json), hasInexactNumber };
    if (job.schema === undefined) return { result: { status: 'valid', object } };
    const compared = await within(timeoutMs, next(), () => undefined);
    switch (compared?.type) {
      case 'match':
        return { result: { status: 'valid', object } };
      case 'mismatch':
        return { result: { status: 'invalid', mistake: compared } };
      case 'unverified':
        return { result: { status: 'unverified', object } };
      default:
        return { result: { status: 'unverified', object }, isStuck: true };
    }
  };

  return {
    started,
    async check(job, signal) {
      worker.ref();
      try {
        // The start does not count: it takes the time that the machine needs for it.
        if (!(await started)) return stuck;
        if (signal?.aborted === true) return { result: { status: 'unverified' } };
        signal?.addEventListener('abort', end);
        worker.postMessage(job);
        return await check(job);
      } finally {
        signal?.removeEventListener('abort', end);
        worker.unref();
      }
    },
    async end() {
      await worker.terminate();
    },
  };
}
