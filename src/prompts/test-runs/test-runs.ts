import { pipeline, type Readable } from 'node:stream';
import type { Logger } from 'pino';
import type { BlobStore } from '../../storage/blobs/blob-store.ts';
import type { MemoryBudget } from '../../base/limits/memory-budget.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { presentNames } from '../generation/earlier-results.ts';
import type { Generator } from '../generation/generator.ts';
import type { Invoker } from '../generation/prepare-invocation.ts';
import type { Known } from '../generation/plan.ts';
import type { ComparisonRequest, Planner } from '../generation/planner.ts';
import type { UnsupportedPolicy } from '../generation/supported.ts';
import { bytesOf } from '../generation/request-size.ts';
import type { InvocationLog } from '../../accounting/invocations/invocation-log.ts';
import type { KeptBytes } from '../../base/limits/kept-bytes.ts';
import { mayReachPrompt, type Reach } from '../../base/limits/reach.ts';
import type { Prompts } from '../prompts.ts';
import type { Listing } from '../../base/lists/listing.ts';
import { createActiveRuns } from './active-runs.ts';
import { performRun, type FinishedTestRun, type RunTask } from './perform-run.ts';
import { damaged, notStored, promptDeleted, shuttingDown } from './problems.ts';
import { createResultArchive, readResults } from './result-archive.ts';
import { createSweep } from './sweep.ts';
import type { TestRun } from './test-run.ts';
import type { TestRunStore } from './test-run-store.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { defined } from '../../base/runtime/objects.ts';
import type { Random } from '../../base/runtime/random.ts';

export interface TestRequest {
  /** Who asks. The run keeps the memory until its end. */
  readonly invoker: Omit<Invoker, 'addHeader'> & {
    readonly principal: { readonly reach?: Reach | undefined };
    /** Ends the wait for memory. */
    readonly signal: AbortSignal;
    readonly resourceId: string;
  };
  /** Whether an earlier attempt of the same request may have created the run already. */
  readonly isRepeatable: boolean;
  readonly slugOrId: string;
  /** Without `version` and `label`, the latest version. */
  readonly version: number | undefined;
  readonly label?: string | undefined;
  readonly targets: ComparisonRequest['targets'];
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  /** What happens if a provider cannot do something; refused if left out. */
  readonly unsupported?: UnsupportedPolicy | undefined;
  /** Whether the caller wants an immediate answer instead of the results. */
  readonly respondAsync: boolean;
  /** For the invocation log, as `name=value`. */
  readonly tags: readonly string[];
}

export type TestOutcome =
  | ({ readonly kind: 'finished' } & FinishedTestRun)
  | { readonly kind: 'started'; readonly run: TestRun };

/** Who reads test runs. */
export interface TestRunReader {
  readonly reach?: Reach | undefined;
}

/** The stored results of a run. The caller must read `content` to the end or destroy it. */
export interface ResultStream {
  readonly run: TestRun;
  /** In bytes; undefined for results of an earlier release. */
  readonly length: number | undefined;
  readonly content: Readable;
}

/** Runs prompts on several providers at the same time, and reads the results. */
export interface TestRuns {
  /**
   * Checks everything, records the run, and then calls the providers. The run continues if the caller leaves.
   *
   * A repeatable request gets the run that an earlier attempt created: its results if it is done, a 409 while it runs
   * (with `respondAsync`: the run). Calls are never repeated, so an interrupted run is also a 409.
   *
   * @throws {ProblemError} prompt-not-found, version-not-found, unknown-label; missing-variables, unknown-variables,
   *   rendered-prompt-too-large, unknown-provider, provider-not-configured; storage-unavailable before the calls, or
   *   after them if the results could not be stored; idempotency-key-in-use, test-run-not-stored; too-much-in-progress,
   *   too-much-kept, overloaded, shutting-down
   */
  run(request: TestRequest): Promise<TestOutcome>;
  /** @param reach of the caller: a run of a prompt beyond it is not found @throws {ProblemError} test-run-not-found */
  get(id: string, reach?: Reach): Promise<TestRun>;
  /**
   * Opens the answer of `getTestRunResults`, as JSON of this length.
   * @param caller who asks; as in `get`
   * @param signal ends the wait for the storage
   * @throws {ProblemError} test-run-not-found, test-run-running, test-run-not-stored, storage-unavailable,
   *   too-much-in-progress, overloaded
   */
  results(id: string, caller: TestRunReader, signal: AbortSignal): Promise<ResultStream>;
  /** Newest first. @param status only those that have it @throws {ProblemError} prompt-not-found */
  list(slugOrId: string, status: TestRun['status'] | undefined): Promise<Listing<TestRun>>;
  /** Interrupts runs that no process works on any more, and deletes leftovers. Call it every few seconds. */
  sweep(): Promise<void>;
  /** Accepts no more runs. Waits for the runs in progress, and stops those that still run after the time-out. */
  drain(timeoutMs: number): Promise<void>;
}

export interface TestRunsDependencies {
  readonly store: TestRunStore;
  readonly blobs: BlobStore;
  /**
   * Deletes all runs of a prompt with their results. The next call finishes what a failed call left.
   * @throws {ProblemError} storage-unavailable
   */
  readonly deleteAllOf: (promptId: string) => Promise<void>;
  readonly prompts: Pick<Prompts, 'resolve'>;
  readonly planner: Pick<Planner, 'compare'>;
  readonly generator: Pick<Generator, 'answer'>;
  readonly invocations: InvocationLog;
  readonly metrics: { setTestRunsActive(count: number): void };
  readonly log: Logger;
  readonly memory: MemoryBudget;
  /** Counts the bytes of stored results. */
  readonly keptBytes: KeptBytes;
  /** How long runs and their results are kept, in milliseconds. */
  readonly retentionMs: number;
  /** Deadline of each provider call, including retries, in milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Milliseconds between two heartbeats of a run. */
  readonly heartbeatMs?: number;
  /** Milliseconds without a heartbeat after which a run is interrupted; at least four heartbeats. */
  readonly staleMs?: number;
}

/** The least bytes that a run counts, which limits the runs in progress. */
const leastBytes = 1024 * 1024;
/** How often stored results are in memory: as bytes, text, objects and text again. */
const resultCopies = 6;
/** Seconds after which a caller may ask again for a run that has not ended. */
const retryAfter = { 'Retry-After': '2' };

export function createTestRuns(dependencies: TestRunsDependencies): TestRuns {
  const { store, blobs, prompts, planner, generator, metrics, log, memory, keptBytes, timeoutMs, retentionMs } =
    dependencies;
  const { deleteAllOf, invocations, clock, random, heartbeatMs = 5_000, staleMs = 30_000 } = dependencies;
  const archive = createResultArchive(blobs);
  const active = createActiveRuns({
    store,
    onChange: metrics.setTestRunsActive,
    monotonic: clock.monotonic,
    log,
    heartbeatMs,
  });
  let stopping = false;

  const existing = async ({ invoker, respondAsync }: TestRequest): Promise<TestOutcome | undefined> => {
    const { resourceId: id, principal } = invoker;
    const run = await store.find(id);
    if (run === undefined) return undefined;
    if (run.status !== 'running') return { kind: 'finished', ...(await withResults(run, principal.family)) };
    if (respondAsync) return { kind: 'started', run };
    throw new ProblemError('idempotency-key-in-use', {
      detail: `The test run ${id}, which was started with this Idempotency-Key, has not ended.`,
      headers: retryAfter,
    });
  };

  const openResults = async (run: TestRun, signal?: AbortSignal): Promise<ResultStream> => {
    const { status, answerBytes: length = 0, hasPresentNames } = run;
    const stored = status === 'done' ? await archive.open(run.id, signal) : undefined;
    if (stored === undefined) throw notStored(run);
    const { size, content } = stored;
    if (size !== undefined && size !== length) {
      content.destroy();
      throw damaged(run, new Error(`${size} bytes are stored, of ${length}`));
    }
    if (hasPresentNames) return { run, length, content };
    const named = presentNames(length);
    pipeline(content, named, () => undefined); // An error reaches the reader.
    return { run, length: undefined, content: named };
  };

  /** All of the results in memory. */
  const withResults = async (run: TestRun, family: string): Promise<FinishedTestRun> => {
    const { content } = await openResults(run);
    try {
      const release = memory.reserveLarge(family, (run.answerBytes ?? 0) * resultCopies);
      return { run, results: await readResults(content, run).finally(release) };
    } finally {
      content.destroy();
    }
  };

  const start = (task: RunTask, release: () => void): Promise<FinishedTestRun> => {
    const { promise, ...answer } = Promise.withResolvers<FinishedTestRun>();
    active.add(task.run.id, (signal) =>
      performRun(
        task,
        signal,
        { store, archive, keptBytes, clock, random, generator, invocations, log },
        answer,
      ).finally(release),
    );
    promise.catch(() => undefined); // There may be no caller that waits for it.
    return promise;
  };

  const begin = async (
    request: TestRequest,
  ): Promise<{ run: TestRun; finished: Promise<FinishedTestRun> } | undefined> => {
    const { slugOrId, version, label, variables, targets, unsupported, invoker, tags } = request;
    const { memory: ownMemory, traceparent, tracestate, requestId } = invoker;
    const { principal } = invoker;
    let found: Pick<Extract<Known, { prompt: string }>, 'slug' | 'contentMode'> = { slug: '', contentMode: undefined };
    const { prompt, unknownVariables, plans } = await planner.compare({
      slugOrId,
      version,
      label,
      variables,
      targets,
      unsupported,
      reach: invoker.principal.reach,
      note: (known) => {
        if (!('prompt' in known)) return;
        invoker.note({ prompt: known.prompt, version: known.version });
        found = known;
      },
    });
    keptBytes.check(principal.family);
    const calls = plans.flatMap((plan) => plan.targets);
    const bytes = plans.reduce((sum, plan) => sum + bytesOf(plan), 0);
    const release = ownMemory.keep();
    let isStarted = false;
    try {
      await ownMemory.cover(Math.max(leastBytes, bytes), invoker.signal);
      // An early refusal is better than a run that cannot be stored after twenty paid calls.
      await archive.check();
      const created = {
        id: invoker.resourceId,
        promptId: prompt.id,
        promptVersion: prompt.version,
        unknownVariables,
        providers: calls.map(({ provider, request: { model } }, index) => {
          const { version: named } = targets[index] ?? {};
          return { provider: provider.id, model, ...defined({ version: named }) };
        }),
        createdAt: clock.now(),
      };
      if (!(await store.insert(created))) return undefined;
      isStarted = true;
      const run: TestRun = {
        ...created,
        revision: 1,
        status: 'running',
        answeredCount: undefined,
        cost: undefined,
        finishedAt: undefined,
        answerBytes: undefined,
        hasPresentNames: undefined,
      };
      const invoked = {
        operation: 'test-run',
        principal,
        requestId,
        traceparent,
        tracestate,
        isStreamed: false,
        tags,
      } as const;
      const { slug, contentMode } = found;
      const ran = { prompt: prompt.id, version: prompt.version, slug, label, contentMode };
      return { run, finished: start({ run, variables, plans, invoked, ran, timeoutMs }, release) };
    } finally {
      if (!isStarted) release();
    }
  };

  const sweep = createSweep({ store, archive, prompts, deleteAllOf, staleMs, retentionMs, clock, random, log });

  const get = async (id: string, reach?: Reach): Promise<TestRun> => {
    const run = await store.find(id);
    if (run === undefined || !mayReachPrompt(reach, run.promptId)) {
      throw new ProblemError('test-run-not-found', { detail: 'No test run has this id.' });
    }
    return run;
  };

  return {
    get,
    sweep,
    async run(request) {
      if (request.isRepeatable) {
        const earlier = await existing(request);
        if (earlier !== undefined) return earlier;
      }
      if (stopping) throw shuttingDown();
      const begun = await begin(request);
      if (begun === undefined) {
        const earlier = await existing(request);
        if (earlier !== undefined) return earlier;
        throw promptDeleted();
      }
      const { run, finished } = begun;
      return request.respondAsync ? { kind: 'started', run } : { kind: 'finished', ...(await finished) };
    },
    async results(id, { reach }, signal) {
      const run = await get(id, reach);
      if (run.status === 'running') {
        throw new ProblemError('test-run-running', { detail: 'The test run has not ended yet.', headers: retryAfter });
      }
      return openResults(run, signal);
    },
    async list(slugOrId, status) {
      const { id } = await prompts.resolve(slugOrId);
      return store.list(id, status);
    },
    async drain(timeoutMs) {
      stopping = true;
      await active.drain(timeoutMs);
    },
  };
}
