/** Stores the results of an evaluation, object by object, as long as this process has its lease. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ProblemError } from '../../../base/errors/problem-error.ts';
import type { KeptBytes } from '../../../base/limits/kept-bytes.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { NanoDollars } from '../../../base/runtime/money.ts';
import { plus } from './attempt.ts';
import type { Evaluation } from './evaluation.ts';
import type { EvaluationStore } from './evaluation-store.ts';
import { sumsOf, type OutcomeCode, type OutcomeSums } from './outcomes.ts';
import type { EvaluationResults } from './result-archive.ts';

/** A case with its answers. */
export interface AskedCase {
  readonly code: OutcomeCode;
  readonly group: string | undefined;
  /** Of the results. */
  readonly line: string;
  readonly cost: NanoDollars | 'unknown';
  /** Why sides have no answer. */
  readonly problems: readonly string[];
}

/** Every method can throw `LeaseLostError`, and waits while the database or the storage is unavailable. */
export interface ResultWriter {
  /** How many cases have a result that counts. */
  readonly casesDone: number;
  /** Stores the results of the next cases as one object. They count when it has resolved. */
  write(asked: readonly AskedCase[]): Promise<void>;
  /** All results that count. */
  sums(): OutcomeSums;
  /** Ends the evaluation. */
  end(verdict: NonNullable<Evaluation['verdict']>): Promise<void>;
  /** Repeats work while the database or the storage is unavailable. @throws The reason of the signal */
  persistently<Result>(work: () => Promise<Result>): Promise<Result>;
}

export interface WriterDependencies {
  readonly store: Pick<EvaluationStore, 'entries' | 'announce' | 'enter' | 'end'>;
  readonly results: Pick<EvaluationResults, 'nameOf' | 'put'>;
  readonly keptBytes: Pick<KeptBytes, 'add'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/** The lease of an evaluation is lost. */
export class LeaseLostError extends Error {}

/** Milliseconds between the attempts to use the database or the storage. */
const waitMs = 1_000;

/**
 * Goes on behind the results that count.
 * @param lease of this process
 * @param signal aborted when the lease is lost
 */
export async function createResultWriter(
  { id, family, ...begun }: Evaluation,
  lease: string,
  signal: AbortSignal,
  { store, results, keptBytes, clock, log }: WriterDependencies,
): Promise<ResultWriter> {
  let { casesDone, cost } = begun;
  const problems = new Map(begun.problems?.map(({ problem, answers }) => [problem, answers]));
  const persistently: ResultWriter['persistently'] = async (work) => {
    for (let isFirst = true; ; isFirst = false) {
      try {
        const result = await work();
        if (!isFirst) log.info({ evaluation: id }, 'an evaluation goes on');
        return result;
      } catch (error) {
        if (!(error instanceof ProblemError) || error.status !== 503) throw error;
        signal.throwIfAborted();
        if (isFirst) log.warn({ error, evaluation: id }, 'an evaluation waits for the database or the storage');
        await sleep(waitMs);
      }
    }
  };
  const held = async (work: () => Promise<boolean>): Promise<void> => {
    if (!(await persistently(work))) throw new LeaseLostError();
  };
  const entries = [...(await persistently(() => store.entries(id)))];

  return {
    persistently,
    get casesDone() {
      return casesDone;
    },
    async write(asked) {
      if (asked.length === 0) return;
      const index = entries.length;
      const lines = asked.map(({ line }) => line);
      const name = results.nameOf(id, index);
      const groups = asked.map(({ group }) => group ?? null);
      const hasGroups = groups.some((group) => group !== null);
      const entry = { name, outcomes: asked.map(({ code }) => code).join(''), ...(hasGroups && { groups }) };
      casesDone += asked.length;
      cost = asked.reduce((sum, one) => plus(sum, one.cost), cost);
      for (const problem of asked.flatMap((one) => one.problems))
        problems.set(problem, (problems.get(problem) ?? 0) + 1);
      const counted = [...problems].map(([problem, answers]) => ({ problem, answers }));
      const mostFirst = counted.sort((one, other) => other.answers - one.answers);
      // A name that is not announced could not be found if this process died.
      await held(() => store.announce(id, lease, index, { name, at: clock.now() }));
      await persistently(() => results.put(name, lines));
      await held(() =>
        store.enter(id, lease, index, entry, { casesDone, cost, ...(mostFirst.length > 0 && { problems: mostFirst }) }),
      );
      const bytes = lines.reduce((sum, line) => sum + line.length, 0);
      keptBytes.add(family, bytes);
      entries.push(entry);
    },
    sums: () => sumsOf(entries),
    end: (verdict) => held(() => store.end(id, lease, { status: 'ended', verdict, finishedAt: clock.now() })),
  };
}
