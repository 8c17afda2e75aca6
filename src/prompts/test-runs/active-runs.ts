import type { Logger } from 'pino';

/** What this process works on under leases: test runs, or evaluations. Other processes see by its heartbeats that it lives. */
export interface ActiveRuns {
  /**
   * Sends heartbeats of a run until its work has ended. The signal is aborted when another process or request ended or
   * removed the run, and at the end of `drain`; its reason is a `RunCutOffError`.
   * @param work must not reject. `acknowledged` is when the database last had this process as the one that works on the
   *   run, on the monotonic clock
   */
  add(id: string, work: (signal: AbortSignal, acknowledged: () => number) => Promise<void>): void;
  /** Stops a run that this process has ended itself. */
  cutOff(id: string): void;
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
  readonly store: { beat(ids: readonly string[], beat: number): Promise<readonly string[]> };
  /** Called with the number of runs when it has changed. */
  readonly onChange: (active: number) => void;
  readonly monotonic: () => number;
  readonly log: Logger;
  readonly heartbeatMs: number;
}

export function createActiveRuns({ store, onChange, monotonic, log, heartbeatMs }: ActiveRunsDependencies): ActiveRuns {
  const runs = new Map<string, { controller: AbortController; work: Promise<void>; acknowledged: number }>();
  let beats = 0;
  let beating = false;
  let isCutOff = false;
  let timer: NodeJS.Timeout | undefined;

  const beat = async (): Promise<void> => {
    if (beating) return;
    beating = true;
    beats += 1;
    const sentAt = monotonic();
    const ids = [...runs.keys()];
    try {
      const lost = new Set(await store.beat(ids, beats));
      for (const id of ids) {
        const run = runs.get(id);
        if (lost.has(id)) run?.controller.abort(new RunCutOffError('lost'));
        else if (run !== undefined) run.acknowledged = sentAt;
      }
    } catch (error) {
      log.warn({ error }, 'a heartbeat could not be written');
    } finally {
      beating = false;
    }
  };
  const countChanged = (): void => {
    onChange(runs.size);
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
      const run = { controller, work: Promise.resolve(), acknowledged: monotonic() };
      runs.set(id, run);
      run.work = work(controller.signal, () => run.acknowledged).finally(() => {
        runs.delete(id);
        countChanged();
      });
      countChanged();
    },
    cutOff(id) {
      runs.get(id)?.controller.abort(new RunCutOffError('lost'));
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
