import { retryLostRaces } from '../../../base/editing/lost-races.ts';
import { auditEntry, type AuditedKind, type Author } from '../../../access/audit/author.ts';
import { createEditQueue } from '../../../base/editing/edit-queue.ts';
import type { KeptBytes } from '../../../base/limits/kept-bytes.ts';
import { authorOf, type Principal } from '../../../base/limits/principal.ts';
import { mayReachPrompt, type Reach } from '../../../base/limits/reach.ts';
import type { Listing } from '../../../base/lists/listing.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import { defined } from '../../../base/runtime/objects.ts';
import { ProblemError } from '../../../base/errors/problem-error.ts';
import { atOwnPlaces } from '../../generation/own-places.ts';
import type { Prompts } from '../../prompts.ts';
import { checkMistakes } from '../checks/check-mistakes.ts';
import type { Check } from '../checks/check-answer.ts';
import type { Datasets } from '../datasets/datasets.ts';
import { fewestCases } from '../verdict/verdict.ts';
import {
  evaluationFields,
  toRule,
  type Evaluation,
  type GateTrial,
  type SentRule,
  type SentSide,
  type Side,
} from './evaluation.ts';
import type { Entry, EvaluationStore } from './evaluation-store.ts';
import { outcomeOf, type Outcome, type OutcomeCode } from './outcomes.ts';
import { planEvaluation, type Asked, type PlanDependencies, type Planned } from './plan-evaluation.ts';
import {
  evaluationNotFound,
  evaluationRunning,
  inconsistent,
  notEvaluated,
  resultsDeleted,
  tooFewCases,
  tooManyWait,
} from './problems.ts';
import type { EvaluationResults } from './result-archive.ts';
import type { EvaluationWorker } from './worker.ts';

export interface EvaluationRequest {
  readonly slugOrId: string;
  readonly candidate: SentSide;
  readonly baseline: SentSide | undefined;
  readonly dataset: { readonly name: string; readonly version?: number };
  readonly checks: readonly Check[] | undefined;
  readonly rule: SentRule;
  /** Of the invocations, as `name=value`. */
  readonly tags: readonly string[];
  /** Of one that a gate asks for. No two have the same `gateTry`. */
  readonly next?: { readonly gate: GateTrial; readonly gateTry: string };
}

/** Who asks. The context of a request is one. */
export interface Asker extends Author {
  readonly principal: Principal & Author['principal'];
  readonly resourceId: string;
  readonly signal: AbortSignal;
}

/** Measures versions of prompts. Every method can throw `database-unavailable`. */
export interface Evaluations {
  /**
   * Starts an evaluation.
   * @param requested what it is, or how that is found out unless an earlier attempt has started it
   * @param isRepeatable whether an earlier attempt of the same request may have started it already
   * @throws {ProblemError} prompt-not-found, version-not-found, dataset-not-found; unknown-label, inconsistent-content,
   *   too-few-cases; too-many-evaluations, too-much-kept; gate-evaluation-refused; storage-unavailable
   */
  create(
    requested: EvaluationRequest | (() => Promise<EvaluationRequest>),
    asker: Asker,
    isRepeatable: boolean,
  ): Promise<Evaluation>;
  /** What it would do. @throws {ProblemError} as `create` */
  plan(request: EvaluationRequest, asker: Asker): Promise<Planned>;
  /** @param reach of the caller: that of a prompt beyond it is not found @throws {ProblemError} evaluation-not-found */
  get(id: string, reach?: Reach): Promise<Evaluation>;
  /** Newest first. @param status only those that have it @throws {ProblemError} prompt-not-found */
  list(slugOrId: string, status: Evaluation['status'] | undefined): Promise<Listing<Evaluation>>;
  /**
   * One that has ended, and where its results are.
   * @throws {ProblemError} evaluation-not-found, evaluation-running, evaluation-results-deleted
   */
  entries(id: string): Promise<{ readonly evaluation: Evaluation; readonly entries: readonly Entry[] }>;
  /** Nothing changes if it has ended. @throws {ProblemError} evaluation-not-found */
  cancel(id: string, author: Author): Promise<Evaluation>;
  /**
   * The results as JSON Lines, object by object.
   * @param outcome only cases that went so
   * @param signal ends the wait for the storage
   * @throws {ProblemError} evaluation-not-found, evaluation-running, evaluation-results-deleted; storage-unavailable while
   *   they are read
   */
  results(id: string, outcome: Outcome | undefined, signal: AbortSignal): Promise<AsyncIterable<Buffer>>;
}

export interface EvaluationsDependencies extends PlanDependencies {
  readonly store: EvaluationStore;
  readonly results: EvaluationResults;
  readonly worker: Pick<EvaluationWorker, 'look' | 'canceled'>;
  readonly prompts: Pick<Prompts, 'resolve'>;
  readonly datasets: Pick<Datasets, 'version' | 'part'>;
  readonly keptBytes: Pick<KeptBytes, 'check'>;
  readonly clock: Clock;
}

/** Of a key, and those that share with it. The contract has the same number. */
const mostWaiting = 20;

const audited: AuditedKind<Omit<Evaluation, 'revision'>> = {
  type: 'evaluation',
  show: (evaluation) => {
    const { prompt_id, status, candidate, baseline, dataset, rule } = evaluationFields.show(evaluation);
    return defined({ prompt_id, status, candidate, baseline, dataset, rule });
  },
};

export function createEvaluations(dependencies: EvaluationsDependencies): Evaluations {
  const { store, results, worker, prompts, datasets, keptBytes, clock } = dependencies;
  const editQueue = createEditQueue();

  const resolve = async (
    slugOrId: string,
    { version, label, ...overrides }: SentSide,
    reach: Reach | undefined,
    place: 'candidate' | 'baseline',
  ): Promise<{ promptId: string; side: Side }> => {
    try {
      const found = await prompts.resolve(slugOrId, { version, label, reach });
      const isChanged = Object.keys(overrides).length > 0;
      const side = defined({ version: found.version, label, overrides: isChanged ? overrides : undefined });
      return { promptId: found.id, side };
    } catch (error) {
      if (!(error instanceof ProblemError) || error.type !== 'version-not-found') {
        throw atOwnPlaces(error, [[/^#/, `#/${place}`]]);
      }
      const errors = [{ detail: 'does not exist', pointer: `#/${place}/version` }];
      throw new ProblemError(error.type, { detail: error.message, errors });
    }
  };

  /** What the request asks for, with versions in the place of labels. */
  const read = async (request: EvaluationRequest, { reach }: Principal): Promise<Asked> => {
    const { slugOrId, candidate, baseline, dataset, checks, rule } = request;
    const { promptId, side } = await resolve(slugOrId, candidate, reach, 'candidate');
    const before = baseline && (await resolve(promptId, baseline, reach, 'baseline')).side;
    requireConsistent(request);
    const { id: versionId, number, cases, parts } = await datasets.version(dataset.name, dataset.version);
    const fewest = fewestCases(toRule(rule));
    if (cases < fewest) throw tooFewCases(cases, fewest);
    const of = { name: dataset.name, version: number, cases, versionId, parts };
    return { promptId, candidate: side, baseline: before, dataset: of, checks, rule };
  };

  const get = async (id: string, reach?: Reach): Promise<Evaluation> => {
    const found = await store.find(id);
    if (found === undefined || !mayReachPrompt(reach, found.promptId)) throw evaluationNotFound();
    return found;
  };

  const entriesOf: Evaluations['entries'] = async (id) => {
    const evaluation = await get(id);
    if (isActive(evaluation)) throw evaluationRunning();
    const entries = await store.entries(id);
    if (entries.length === 0 && evaluation.casesDone > 0) throw resultsDeleted();
    return { evaluation, entries };
  };

  return {
    get,
    async plan(request, { principal, signal }) {
      return await planEvaluation(await read(request, principal), principal, dependencies, signal);
    },
    async create(requested, asker, isRepeatable) {
      const { principal, resourceId: id, requestId } = asker;
      const { family } = principal;
      const earlier = isRepeatable ? await store.find(id) : undefined;
      if (earlier !== undefined) return earlier;
      const request = typeof requested === 'function' ? await requested() : requested;
      const asked = await read(request, principal);
      keptBytes.check(family);
      // An early refusal is better than results that cannot be stored.
      await results.check();
      const created = await editQueue.contend(family, async () => {
        const waiting = (await store.active()).filter((one) => one.family === family && one.status !== 'running');
        if (waiting.length >= mostWaiting) throw tooManyWait(mostWaiting);
        const evaluation = {
          ...notBegun,
          ...{ ...asked, id, tags: request.tags, requestId, family, author: authorOf(principal) },
          ...{ datasetVersionId: asked.dataset.versionId, createdAt: clock.now() },
          ...{ gate: request.next?.gate, gateTry: request.next?.gateTry },
        };
        const entry = auditEntry(asker, audited, { at: evaluation.createdAt, after: evaluation });
        if (await store.insert(evaluation, entry)) return { ...evaluation, revision: 1 };
        if (request.next !== undefined && (await store.find(id)) === undefined) {
          throw notEvaluated('Another request has just started this evaluation for the gate.');
        }
        return await get(id);
      });
      void worker.look();
      return created;
    },
    async list(slugOrId, status) {
      const { id } = await prompts.resolve(slugOrId);
      return store.list(id, status);
    },
    // Only the process that works on it changes it otherwise, every few seconds.
    cancel: (id, author) =>
      retryLostRaces(async () => {
        const found = await get(id);
        if (!isActive(found)) return found;
        const at = clock.now();
        const values = { status: 'canceled', canceledReason: 'requested', finishedAt: at } as const;
        const entry = auditEntry(author, audited, { at, before: found, after: { ...found, ...values } });
        const canceled = await store.cancel(found, values, entry);
        if (canceled !== undefined) worker.canceled(id);
        return canceled;
      }),
    entries: entriesOf,
    async results(id, outcome, signal) {
      const {
        evaluation: { baseline },
        entries,
      } = await entriesOf(id);
      return (async function* () {
        for (const { name, outcomes } of entries) {
          const bytes = await results.read(name, signal);
          if (outcome === undefined) yield bytes;
          else yield linesWith(bytes, outcomes, (code) => outcomeOf(code, baseline !== undefined) === outcome);
        }
      })();
    },
  };
}

function isActive({ status }: Evaluation): boolean {
  return status === 'planning' || status === 'queued' || status === 'running';
}

const notBegun = {
  status: 'planning',
  calls: undefined,
  judges: undefined,
  ceiling: undefined,
  refusal: undefined,
  casesDone: 0,
  cost: 0n,
  canceledReason: undefined,
  refusedBy: undefined,
  problems: undefined,
  verdict: undefined,
  startedAt: undefined,
  finishedAt: undefined,
} as const;

/** @throws {ProblemError} inconsistent-content */
function requireConsistent({ rule, baseline, checks = [] }: EvaluationRequest): void {
  const errors = checkMistakes(checks).map(({ detail, pointer }) => ({ detail, pointer: `#/checks${pointer}` }));
  const isCompared = rule.not_worse_by !== undefined;
  if (isCompared && baseline === undefined) errors.push({ detail: 'is needed by not_worse_by', pointer: '#/baseline' });
  if (!isCompared && baseline !== undefined) {
    errors.push({ detail: 'is taken by no rule but not_worse_by', pointer: '#/baseline' });
  }
  if (errors.length > 0) throw inconsistent(errors);
}

/** The lines of an object whose cases went so. */
function linesWith(bytes: Buffer, outcomes: string, isWanted: (code: OutcomeCode) => boolean): Buffer {
  const lines = bytes.toString('utf8').split('\n').slice(0, -1);
  const wanted = lines.filter((_line, index) => isWanted((outcomes[index] ?? 'e') as OutcomeCode));
  return Buffer.from(wanted.map((line) => `${line}\n`).join(''));
}
