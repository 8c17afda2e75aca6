import { setTimeout as sleep } from 'node:timers/promises';
import { problems } from '../../generated/problems.ts';
import { maxBlobBytes, type BlobStore } from '../blobs/blob-store.ts';
import { ProblemError } from '../errors/problem-error.ts';
import type { TestResult } from './call-targets.ts';
import type { TestRun } from './test-run-store.ts';

export interface StoredResults {
  readonly results: readonly TestResult[];
  readonly bytes: number;
}

/** Keeps the results of each test run as one JSON object under `test-runs/<id>.json`. */
export interface ResultArchive {
  /** @throws {ProblemError} storage-unavailable unless objects can be stored now */
  check(): Promise<void>;
  /**
   * Stores results, trying several times: they are paid for.
   * @param run when it has ended
   * @returns the results as they were stored, and the size of the object
   * @throws {ProblemError} storage-unavailable
   */
  put(run: TestRun, results: readonly TestResult[], finishedAt: Date): Promise<StoredResults>;
  /** Undefined when there is no such object. @throws {ProblemError} storage-unavailable */
  get(id: string): Promise<readonly TestResult[] | undefined>;
  /** @throws {ProblemError} storage-unavailable */
  delete(id: string): Promise<void>;
}

/** Milliseconds between the attempts of a put. */
const pauses = [500, 2_000];

export function createResultArchive(blobs: BlobStore): ResultArchive {
  return {
    check: () => blobs.check(),
    async put(run, results, finishedAt) {
      const stored = withinSize(results, maxBlobBytes - 4_096);
      const body = Buffer.from(
        JSON.stringify({
          id: run.id,
          prompt_id: run.promptId,
          prompt_version: run.promptVersion,
          created_at: run.createdAt.toISOString(),
          finished_at: finishedAt.toISOString(),
          results: stored,
        }),
      );
      for (let attempt = 0; ; attempt += 1) {
        try {
          await blobs.put(keyOf(run.id), body, 'application/json');
          return { results: stored, bytes: body.byteLength };
        } catch (error) {
          const pause = pauses[attempt];
          if (pause === undefined || !(error instanceof ProblemError)) throw error;
          await sleep(pause);
        }
      }
    },
    async get(id) {
      const body = await blobs.get(keyOf(id));
      if (body === undefined) return undefined;
      return (JSON.parse(Buffer.from(body).toString()) as { results: readonly TestResult[] }).results;
    },
    delete: (id) => blobs.delete(keyOf(id)),
  };
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
export function withinSize(results: readonly TestResult[], limit: number): readonly TestResult[] {
  const sizes = results.map((result) => Buffer.byteLength(JSON.stringify(result)) + 1);
  if (sizes.reduce((sum, size) => sum + size, 0) <= limit) return results;
  const share = limit / results.length;
  return results.map((result, index) => ((sizes[index] ?? 0) <= share ? result : tooLarge(result)));
}

function tooLarge({ provider, model, latency_ms }: TestResult): TestResult {
  const error = {
    type: 'urn:prompt-gateway:problem:provider-bad-answer',
    title: problems['provider-bad-answer'].title,
    detail: 'The answer is too large to be stored with the others.',
    retryable: false,
  };
  return { provider, model, latency_ms, error };
}
