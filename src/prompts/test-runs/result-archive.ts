import { addAbortSignal, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { isOutage } from '../../base/errors/outage.ts';
import type { components } from '../../../generated/types.ts';
import { problems } from '../../../generated/problems.ts';
import { maxBlobBytes, storageUnavailable, type BlobStore, type OpenBlob } from '../../storage/blobs/blob-store.ts';
import { JsonText, toJsonText } from '../../base/runtime/json-text.ts';
import type { TestResult } from './call-targets.ts';
import type { TestRun } from './test-run.ts';

type TestRunResults = components['schemas']['TestRunResults'];
type VariableValues = NonNullable<TestRunResults['variables']>;

export interface StoredResults {
  readonly results: JsonText<TestResult[]>;
  readonly bytes: number;
}

/**
 * Keeps the results of each test run as one JSON object under `test-runs/<id>.json`: the contract's `TestRunResults`,
 * so that the object itself is the answer and is not read into memory.
 */
export interface ResultArchive {
  /** @throws {ProblemError} storage-unavailable if objects cannot be stored now */
  check(): Promise<void>;
  /**
   * Stores results, with several attempts, because they are paid for.
   * @param run the ended run
   * @param variables the values that it was started with; large ones are not kept
   * @returns the results as they were stored, and the size of the object
   * @throws {ProblemError} storage-unavailable
   */
  put(
    run: TestRun,
    variables: VariableValues | undefined,
    results: readonly TestResult[],
    finishedAt: Date,
  ): Promise<StoredResults>;
  /**
   * Undefined if there is no such object.
   * @param signal ends the wait for the storage
   * @throws {ProblemError} storage-unavailable
   */
  open(id: string, signal?: AbortSignal): Promise<OpenBlob | undefined>;
  /** @throws {ProblemError} storage-unavailable; {Error} if only these results cannot be removed */
  delete(id: string): Promise<void>;
}

/** The largest variables that are kept, in bytes of JSON. */
const maxVariablesBytes = 256 * 1024;
/** Milliseconds between the attempts of a put. */
const pauses = [500, 2_000];

export function createResultArchive(blobs: BlobStore): ResultArchive {
  return {
    check: () => blobs.check(),
    async put(run, variables, results, finishedAt) {
      const stored = withinSize(results, maxBlobBytes - maxVariablesBytes - 4_096);
      const body = Buffer.from(toTestRunResults({ ...run, finishedAt }, stored, kept(variables)).text);
      for (let attempt = 0; ; attempt += 1) {
        try {
          await blobs.put(keyOf(run.id), body, 'application/json');
          return { results: stored, bytes: body.byteLength };
        } catch (error) {
          const pause = pauses[attempt];
          if (pause === undefined || !isOutage(error)) throw error;
          await sleep(pause);
        }
      }
    },
    open: (id, signal) => blobs.open(keyOf(id), signal),
    delete: (id) => blobs.delete(keyOf(id)),
  };
}

/**
 * The answer of `getTestRunResults`. A run that is done has ended. The variables, which can have any members, stand before
 * the id of the run, and `results` is the last member: see `readResults`.
 */
function toTestRunResults(
  run: TestRun,
  results: JsonText<TestResult[]>,
  variables?: JsonText<VariableValues>,
): JsonText<TestRunResults> {
  return toJsonText<TestRunResults>({
    ...(variables !== undefined && { variables }),
    id: run.id,
    prompt_id: run.promptId,
    prompt_version: run.promptVersion,
    created_at: run.createdAt.toISOString(),
    finished_at: (run.finishedAt ?? run.createdAt).toISOString(),
    results,
  });
}

/** Time limit for reading results into memory, in milliseconds. */
const readLimitMs = 60_000;

/**
 * Reads all results into memory, as they were stored.
 *
 * @param run the run that they belong to
 * @throws {ProblemError} storage-unavailable
 */
export async function readResults(content: Readable, run: TestRun): Promise<JsonText<TestResult[]>> {
  const stored = await text(addAbortSignal(AbortSignal.timeout(readLimitMs), content)).catch((error: unknown) => {
    throw storageUnavailable(error);
  });
  const start = stored.indexOf(resultsMember, stored.indexOf(`"id":"${run.id}"`));
  if (start === -1) throw new Error(`the object of the test run ${run.id} has no results`);
  return new JsonText(stored.slice(start + resultsMember.length, -1));
}

/** What is before the results. Between the id of the run and them are ids, numbers and times. */
const resultsMember = '"results":';

function kept(variables: VariableValues | undefined): JsonText<VariableValues> | undefined {
  if (variables === undefined) return undefined;
  const json = toJsonText<VariableValues>(variables);
  return Buffer.byteLength(json.text) > maxVariablesBytes ? undefined : json;
}

function keyOf(id: string): string {
  return `test-runs/${id}.json`;
}

/**
 * Limits the results to the size of one object. If they are too large together, an error replaces each result that is
 * larger than its share, so that one very large answer does not affect the others.
 *
 * @param limit in bytes of JSON
 */
export function withinSize(results: readonly TestResult[], limit: number): JsonText<TestResult[]> {
  const texts = results.map((result) => toJsonText<TestResult>(result));
  const sizes = texts.map(({ text: json }) => Buffer.byteLength(json) + 1);
  if (sizes.reduce((sum, size) => sum + size, 0) <= limit) return toJsonText<TestResult[]>(texts);
  const share = limit / results.length;
  return toJsonText<TestResult[]>(
    results.map((result, index) => ((sizes[index] ?? 0) <= share ? (texts[index] ?? result) : tooLarge(result))),
  );
}

function tooLarge({ provider, model, version, latency_ms, invocation_id }: TestResult): TestResult {
  return {
    status: 'failed',
    provider,
    model,
    ...(version !== undefined && { version }),
    latency_ms,
    ...(invocation_id !== undefined && { invocation_id }),
    error: {
      type: 'urn:prompt-gateway:problem:provider-bad-answer',
      title: problems['provider-bad-answer'].title,
      detail: 'The answer is too large to be stored with the others.',
      retryable: false,
    },
  };
}
