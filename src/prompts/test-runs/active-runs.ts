import type { Logger } from 'pino';
import type { TestRunStore } from './test-run-store.ts';

/** The test runs that this process works on. */
export interface ActiveRuns {
  /**
   * Sends heartbeats of a run until its work has ended. The signal is aborted when another process or request ended or
   * removed the run, and at the end of `drain`; its reason is a `RunCutOffError`.
   * @param work must not reject
   */
  add(id: string, work: (signal: AbortSignal) => Promise<void>): void;
  /**
   * Resolves when all runs have ended. Runs that have not ended after the time-out are stopped, and so are later runs.
   */
  drain(timeoutMs: number): Promise<void>;
}

/** Why a run is stopped early. */
export class RunCutOffError extends Error {
  /** `lost`: the run no longer belongs to this process. `stopping`: the process stops. */
  readonly reason: 'lost' | 'stopping';

  constructor(reason: RunCutOffError['reason']) {
    super(`The test run was stopped: ${reason}`);
    this.name = 'RunCutOffError';
    this.reason = reason;
  }
}

export interface ActiveRunsDependencies {
  readonly store: Pick<TestRunStore, 'beat'>;
  readonly metrics: { setTestRunsActive(count: number): void };
  readonly log: Logger;
  readonly heartbeatMs: number;
}

export function createActiveRuns({ store, metrics, log, heartbeatMs }: ActiveRunsDependencies): ActiveRuns {
  const runs = new Map<string, { controller: AbortController; work: Promise<void> }>();
  let beats = 0;
  let beating = false;
  let isCutOff = false;
  let timer: NodeJS.Timeout | undefined;

  const beat = async (): Promise<void> => {
    if (beating) return;
    beating = true;
    beats += 1;
    try {
      const lost = await store.beat([...runs.keys()], beats);
      for (const id of lost) runs.get(id)?.controller.abort(new RunCutOffError('lost'));
    } catch (error) {
      log.warn({ error }, 'the heartbeat of test runs could not be written');
    } finally {
      beating = false;
    }
  };
  const countChanged = (): void => {
    metrics.setTestRunsActive(runs.size);
    if (runs.size > 0) timer ??= setInterval(() => void beat(), heartbeatMs);
    else {
      clearInterval(timer);
      timer = undefined;
    }
  };

  return {
    add(id, work) {
      const controller = new AbortController();
      if (isCutOff) controller.abort(new RunCutOffError('stopping'));
      const ended = work(controller.signal).finally(() => {
        runs.delete(id);
        countChanged();
      });
      runs.set(id, { controller, work: ended });
      countChanged();
    },
    async drain(timeoutMs) {
      const cutOff = (): void => {
        isCutOff = true;
        for (const { controller } of runs.values()) controller.abort(new RunCutOffError('stopping'));
      };
      const end = setTimeout(cutOff, timeoutMs);
      await Promise.all([...runs.values()].map(({ work }) => work));
      clearTimeout(end);
      cutOff();
    },
  };
}
