import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from '../../base/errors/outage.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { Plan } from '../generation/plan.ts';
import type { InvocationLog, Invoked } from '../../accounting/invocations/invocation-log.ts';
import type { InvocationFact, InvocationRecord } from '../../accounting/invocations/invocation-record.ts';
import type { KeptBytes } from '../../base/limits/kept-bytes.ts';
import { RunCutOffError } from './active-runs.ts';
import { callTargets, type CallTargetsDependencies, type TestResult } from './call-targets.ts';
import { cutOff, notStored, promptDeleted } from './problems.ts';
import type { ResultArchive } from './result-archive.ts';
import type { TestRun } from './test-run.ts';
import type { EndResult, RunEnd, TestRunStore } from './test-run-store.ts';
import type { CallOptions } from '../../models/language-model.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { JsonText } from '../../base/runtime/json-text.ts';
import type { Random } from '../../base/runtime/random.ts';

/** A test run that is `done`, and its results. */
export interface FinishedTestRun {
  readonly run: TestRun;
  readonly results: JsonText<TestResult[]>;
}

export interface RunTask {
  /** As it was inserted. */
  readonly run: TestRun;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  /** A plan for each call, with one target. */
  readonly plans: readonly Plan[];
  readonly invoked: Invoked & Pick<CallOptions, 'tracestate'>;
  readonly ran: Extract<InvocationFact, { prompt: string }>;
  /** Deadline of each call, in milliseconds. */
  readonly timeoutMs: number;
}

export interface PerformRunDependencies extends CallTargetsDependencies {
  readonly invocations: InvocationLog;
  readonly store: Pick<TestRunStore, 'end' | 'find'>;
  readonly archive: Pick<ResultArchive, 'put' | 'delete'>;
  readonly keptBytes: Pick<KeptBytes, 'add'>;
  readonly clock: Clock;
  readonly random: Random;
}

/** The caller that waits for the run. Only the first call counts. */
export interface RunAnswer {
  resolve(finished: FinishedTestRun): void;
  /** Rejects with a ProblemError, or with another error after a fault of the service. */
  reject(error: unknown): void;
}

/** Milliseconds between the attempts to record that a run is done. */
const endPause = 1_000;

/**
 * Makes the calls of a run, stores the results and then records that the run is done. If another process ended the run
 * in the meantime, the stored results are removed again.
 *
 * Never rejects. The answer can come before the end: stored results are recorded even after a longer outage of the
 * database, but the caller does not wait for this.
 */
export async function performRun(
  task: RunTask,
  signal: AbortSignal,
  dependencies: PerformRunDependencies,
  answer: RunAnswer,
): Promise<void> {
  try {
    answer.resolve(await perform(task, signal, dependencies, answer));
  } catch (error) {
    answer.reject(error);
    const { log } = dependencies;
    const expected = error instanceof ProblemError && error.cause === undefined;
    if (!expected) log.error({ error, test_run: task.run.id }, 'a test run ended without results');
  }
}

async function perform(
  { run, variables, plans, invoked, ran, timeoutMs }: RunTask,
  signal: AbortSignal,
  dependencies: PerformRunDependencies,
  answer: RunAnswer,
): Promise<FinishedTestRun> {
  const { store, archive, keptBytes, generator, invocations, clock, random, log } = dependencies;
  const { principal, requestId, traceparent, tracestate } = invoked;
  const writeId = random.uuid();
  const withoutResults = (status: RunEnd['status']): Promise<unknown> =>
    // If this fails too, there are no more heartbeats and the run becomes interrupted.
    store.end(run.id, { status, at: clock.now(), writeId }).catch((error: unknown) => {
      log.warn({ error, test_run: run.id }, 'the end of a test run could not be recorded');
    });

  let called;
  try {
    const call = { principal, requestId, traceparent, tracestate, signal, deadline: performance.now() + timeoutMs };
    const where = { test_run: run.id, prompt: run.promptId, version: run.promptVersion, traceparent };
    const begin = ({ prompt }: Plan): InvocationRecord => {
      const record = invocations.begin(invoked);
      const isOther = prompt !== undefined && prompt.version !== ran.version;
      record.note(isOther ? { ...ran, version: prompt.version, label: undefined } : ran);
      return record;
    };
    called = await callTargets(plans, call, begin, { generator, log: log.child(where) });
  } catch (error) {
    if (error instanceof RunCutOffError && error.reason === 'lost') throw whyLost(await store.find(run.id));
    await withoutResults('interrupted');
    throw error instanceof RunCutOffError ? cutOff() : error;
  }

  const at = clock.now();
  const results = called.results.map((result, index) => {
    const { version } = run.providers[index] ?? {};
    return version === undefined ? result : { ...result, version };
  });
  let stored;
  try {
    stored = await archive.put(run, variables, results, at);
    keptBytes.add(principal.family, stored.bytes);
  } catch (error) {
    await withoutResults('failed');
    throw error;
  }

  const answeredCount = called.results.filter(({ status }) => status === 'succeeded').length;
  const cost = called.cost ?? 'unknown';
  const ended = await endPersistently(
    store,
    run.id,
    { status: 'done', at, writeId, answeredCount, cost, answerBytes: stored.bytes },
    signal,
    answer,
  );
  if (ended.outcome === 'ended') {
    const { results, bytes: answerBytes } = stored;
    const ended = { status: 'done', revision: 2, answeredCount, cost, finishedAt: at } as const;
    return { run: { ...run, ...ended, answerBytes, hasPresentNames: true }, results };
  }
  await archive.delete(run.id).catch((error: unknown) => {
    log.warn({ error, test_run: run.id }, 'the results of a lost test run could not be deleted');
  });
  throw whyLost(ended.outcome === 'lost' ? ended.run : undefined);
}

async function endPersistently(
  store: Pick<TestRunStore, 'end'>,
  id: string,
  end: RunEnd,
  signal: AbortSignal,
  answer: RunAnswer,
): Promise<EndResult> {
  for (;;) {
    try {
      return await store.end(id, end);
    } catch (error) {
      const stopping = signal.reason instanceof RunCutOffError && signal.reason.reason === 'stopping';
      if (stopping || !isOutage(error)) throw error;
      answer.reject(error);
      await sleep(endPause);
    }
  }
}

/** The problem for a run that another process or request ended or deleted. */
function whyLost(run: TestRun | undefined): ProblemError {
  return run === undefined ? promptDeleted() : notStored(run);
}
