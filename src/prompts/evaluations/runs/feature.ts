import type { Authentication } from '../../../access/api-keys/authentication.ts';
import type { People } from '../../../access/people/people.ts';
import { unauthenticated } from '../../../access/api-keys/unauthenticated.ts';
import type { KeptBytes } from '../../../base/limits/kept-bytes.ts';
import type { Principal } from '../../../base/limits/principal.ts';
import { createTurns } from '../../../base/runtime/turns.ts';
import type { BlobStore } from '../../../storage/blobs/blob-store.ts';
import type { Basis } from '../../../storage/db/basis.ts';
import { evaluationOperations } from './evaluation-operations.ts';
import { createEvaluationStore } from './evaluation-store.ts';
import { createEvaluations, type EvaluationsDependencies } from './evaluations.ts';
import { createEvaluationResults } from './result-archive.ts';
import { createDeletion, createRemoval, createSweep } from './sweep.ts';
import { createEvaluationWorker, type WorkerDependencies } from './worker.ts';

/** What belongs to evaluations when a prompt or a version of a data set is deleted. */
export function createEvaluationKeeping({ database, clock, random }: Basis, blobs: BlobStore) {
  const store = createEvaluationStore(database);
  return {
    /** Deletes all evaluations of a prompt. @throws {ProblemError} storage-unavailable */
    deleteAllOf: createDeletion({ store, results: createEvaluationResults(blobs, random), clock }),
    /** Which of these versions of data sets evaluations name. */
    named: store.named,
  };
}

type Given = Basis &
  Omit<WorkerDependencies, 'store' | 'results' | 'turns' | 'findPrincipal' | 'remove' | 'onChange' | Times> &
  Omit<EvaluationsDependencies, 'store' | 'results' | 'turns' | 'worker'> & {
    readonly blobs: BlobStore;
    readonly authentication: Pick<Authentication, 'findKey'>;
    readonly people: Pick<People, 'principal'>;
    readonly keptBytes: KeptBytes;
    readonly metrics: { setEvaluationsActive(count: number): void };
  };
type Times = 'heartbeatMs' | 'staleMs' | 'pausesMs' | 'storeEveryMs';
/** What tests set otherwise, in milliseconds. */
export type EvaluationTimes = Partial<Pick<WorkerDependencies, Times>> & { readonly lookEveryMs?: number };

export function createEvaluationFeature(
  { authentication, people, blobs, metrics, ...given }: Given,
  times: EvaluationTimes = {},
) {
  const { database, clock, random } = given;
  const { heartbeatMs = 5_000, staleMs = 30_000, lookEveryMs = 5_000 } = times;
  const { pausesMs = [1_000, 5_000], storeEveryMs = 20_000 } = times;
  const store = createEvaluationStore(database);
  const results = createEvaluationResults(blobs, random);
  const shared = { ...given, store, results, turns: createTurns() };
  const worker = createEvaluationWorker({
    ...shared,
    ...{ heartbeatMs, staleMs, pausesMs, storeEveryMs },
    remove: createRemoval(shared),
    onChange: metrics.setEvaluationsActive,
    async findPrincipal({ type, id }): Promise<Principal> {
      if (type === 'person') return await people.principal(id, 'prompts:invoke');
      const { principal, expiresAt } = await authentication.findKey(id);
      if (expiresAt <= clock.now().getTime()) throw unauthenticated('The API key has expired.');
      return principal;
    },
  });
  const evaluations = createEvaluations({ ...shared, worker });
  return {
    evaluations,
    drain: worker.drain,
    operations: evaluationOperations(evaluations),
    chores: [
      { name: 'evaluations', everyMs: lookEveryMs, run: () => worker.look() },
      { name: 'results of evaluations', everyMs: 60_000, run: createSweep(shared) },
    ],
  };
}
