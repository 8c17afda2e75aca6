/**
 * Which evaluations this process works on. Any process takes what nobody works on: it has a lease then, and shows by
 * heartbeats that it lives. An evaluation whose process sends none any more goes on in another.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { doForEach } from '../../../base/errors/outage.ts';
import { ProblemError } from '../../../base/errors/problem-error.ts';
import type { AuthorRef, Principal } from '../../../base/limits/principal.ts';
import type { Random } from '../../../base/runtime/random.ts';
import type { ProviderRegistry } from '../../../models/provider.ts';
import { createActiveRuns, RunCutOffError } from '../../test-runs/active-runs.ts';
import { createStaleRuns } from '../../test-runs/stale-runs.ts';
import { BudgetStopError, type AskTerms } from './attempt.ts';
import { sidesOf, type Evaluation } from './evaluation.ts';
import type { ActiveEvaluation, EvaluationStore } from './evaluation-store.ts';
import { planEvaluation, type PlanDependencies } from './plan-evaluation.ts';
import { LeaseLostError } from './result-writer.ts';
import { runEvaluation, type RunDependencies } from './run-evaluation.ts';
import { createCallPlaces, freePlace } from './work-places.ts';

export interface EvaluationWorker {
  /** Takes what can be taken. Call it every few seconds, and when there is something new. */
  look(): Promise<void>;
  /** Stops the work on an evaluation that a caller has canceled. */
  canceled(id: string): void;
  /** Begins nothing more, and waits for the calls in progress. Other processes go on. */
  drain(timeoutMs: number): Promise<void>;
}

export interface WorkerDependencies extends RunDependencies, PlanDependencies {
  readonly store: EvaluationStore;
  readonly providers: Pick<ProviderRegistry, 'get' | 'load'>;
  readonly clock: RunDependencies['clock'];
  readonly random: Random;
  readonly log: Logger;
  /** The person or key as it is now. @throws {ProblemError} unauthenticated if it may call nothing any more */
  readonly findPrincipal: (author: AuthorRef) => Promise<Principal>;
  /** Deletes what is left of an evaluation whose prompt does not exist any more. */
  readonly remove: (id: string) => Promise<void>;
  readonly onChange: (active: number) => void;
  /** Milliseconds between two heartbeats. */
  readonly heartbeatMs: number;
  /** Milliseconds without a heartbeat after which another process goes on; at least four heartbeats. */
  readonly staleMs: number;
}

/** How often a call asks whether it may begin, in milliseconds. */
const askAgainMs = 250;

export function createEvaluationWorker(dependencies: WorkerDependencies): EvaluationWorker {
  const { store, providers, clock, random, log, findPrincipal, remove, onChange, heartbeatMs, staleMs } = dependencies;
  const active = createActiveRuns({ store, onChange, monotonic: clock.monotonic, log, heartbeatMs });
  const stale = createStaleRuns(staleMs, clock.monotonic);
  const placesOf = createCallPlaces(providers);
  /** The leases of this process, by evaluation. */
  const leases = new Map<string, string>();
  /** Whose evaluations are planned now. */
  const planning = new Set<string>();
  let isStopping = false;
  let looking: Promise<void> | undefined;
  let isWanted = false;

  const termsOf = (evaluation: Evaluation, signal: AbortSignal, acknowledged: () => number): AskTerms => ({
    signal,
    // Answers that wait for an earlier one are in memory.
    casesAtOnce: 2 * Math.max(...sidesOf(evaluation).map(([, { provider = '' }]) => placesOf(provider).count)),
    principal: () => findPrincipal(evaluation.author),
    async enter(provider) {
      const leave = await placesOf(provider).queue.enter({ key: evaluation.id, signal });
      try {
        // Another process takes over after a term, by its own clock; so no call begins near its end.
        while (!isStopping && clock.monotonic() - acknowledged() > staleMs / 3) {
          await sleep(askAgainMs, undefined, { signal }).catch(() => {
            signal.throwIfAborted();
          });
        }
        if (isStopping) throw new RunCutOffError('stopping');
        return leave;
      } catch (error) {
        leave();
        throw error;
      }
    },
  });

  const plan = async (evaluation: Evaluation, lease: string, signal: AbortSignal): Promise<void> => {
    const principal = await findPrincipal(evaluation.author);
    const { calls, ceiling, mistakes, sides, judges } = await planEvaluation(
      evaluation,
      principal,
      dependencies,
      signal,
    );
    if (mistakes.length > 0) {
      const refusal = { mistakes: [...mistakes] };
      await store.end(evaluation.id, lease, { status: 'refused', refusal, finishedAt: clock.now() });
      const [{ problem, detail } = {}] = mistakes;
      log.warn({ evaluation: evaluation.id, problem, detail }, 'an evaluation was refused');
      return;
    }
    await store.release(evaluation.id, lease, {
      ...{ status: 'queued', calls, ceiling, ...sides },
      ...(judges.length > 0 && { judges }),
    });
  };

  const work = async (id: string, lease: string, signal: AbortSignal, acknowledged: () => number): Promise<void> => {
    const evaluation = await store.find(id);
    if (evaluation === undefined) return;
    if (evaluation.status === 'planning') await plan(evaluation, lease, signal);
    else await runEvaluation(evaluation, lease, termsOf(evaluation, signal, acknowledged), dependencies);
  };

  /** What becomes of an evaluation whose work ended early. */
  const endEarly = async (id: string, lease: string, error: unknown): Promise<void> => {
    if (error instanceof LeaseLostError || (error instanceof RunCutOffError && error.reason === 'lost')) return;
    const cancel = async (
      canceledReason: NonNullable<Evaluation['canceledReason']>,
      refusedBy?: string,
    ): Promise<void> => {
      await store.end(id, lease, { status: 'canceled', canceledReason, refusedBy, finishedAt: clock.now() });
      log.warn({ evaluation: id, reason: canceledReason, budget: refusedBy }, 'an evaluation was canceled');
    };
    if (error instanceof BudgetStopError) await cancel('budget-exceeded', error.budget);
    else if (error instanceof ProblemError && error.type === 'unauthenticated') await cancel('key-revoked');
    else if (error instanceof ProblemError && error.type === 'prompt-not-found') await remove(id);
    else if (error instanceof RunCutOffError) await store.release(id, lease);
    else {
      log.error({ error, evaluation: id }, 'the work on an evaluation failed');
      // After an outage, or where something is full, it goes on later, because it has no heartbeats. Other failures
      // would come again, and cost again.
      if (!(error instanceof ProblemError) || error.status !== 503) await cancel('internal-error');
    }
  };

  const begin = (id: string, lease: string): Promise<void> =>
    new Promise((resolve) => {
      leases.set(id, lease);
      active.add(lease, async (signal, acknowledged) => {
        try {
          await work(id, lease, signal, acknowledged).catch((error: unknown) => endEarly(id, lease, error));
        } catch (error) {
          // Without heartbeats, another process goes on.
          log.warn({ error, evaluation: id }, 'an evaluation is left to another process');
        }
        if (leases.get(id) === lease) leases.delete(id);
        resolve();
        if (!isStopping) void look();
      });
    });

  const takeAll = async (): Promise<void> => {
    const all = await store.active();
    const held = all.flatMap(({ lease, beat }) => (lease === undefined ? [] : [{ id: lease, beat }]));
    const dead = new Set(stale.observe(held).map(({ id }) => id));
    const known: ActiveEvaluation[] = [...all];
    await doForEach(all, async (one) => {
      if (isStopping) return;
      const { id } = one;
      if (one.lease !== undefined && dead.has(one.lease)) await store.free(one);
      else if (one.lease !== undefined) return;
      const lease = random.uuid();
      if (one.status === 'planning') {
        // One of a key at a time: it can compute for half a minute.
        if (planning.has(one.family) || !(await store.take(id, lease))) return;
        planning.add(one.family);
        void begin(id, lease).then(() => planning.delete(one.family));
      } else if (one.status === 'running') {
        if (await store.take(id, lease)) void begin(id, lease);
      } else {
        const place = freePlace(known, one.family);
        if (place === undefined || !(await store.take(id, lease, { place, at: clock.now() }))) return;
        known.push({ ...one, ...place });
        void begin(id, lease);
      }
    });
  };

  const look = async (): Promise<void> => {
    if (isStopping) return;
    isWanted = true;
    looking ??= (async () => {
      try {
        while (isWanted) {
          isWanted = false;
          await takeAll();
        }
      } catch (error) {
        log.warn({ error }, 'evaluations could not be looked for');
      } finally {
        looking = undefined;
      }
    })();
    await looking;
  };

  return {
    look,
    canceled(id) {
      const lease = leases.get(id);
      if (lease !== undefined) active.cutOff(lease);
    },
    async drain(timeoutMs) {
      isStopping = true;
      await active.drain(timeoutMs);
    },
  };
}
