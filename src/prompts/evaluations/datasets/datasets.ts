import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { doForEach, doSteps } from '../../../base/errors/outage.ts';
import { auditEntry, type AuditedKind, type Author } from '../../../access/audit/author.ts';
import { createEditQueue } from '../../../base/editing/edit-queue.ts';
import { ProblemError, type ProblemDetail } from '../../../base/errors/problem-error.ts';
import { authorOf } from '../../../base/limits/principal.ts';
import { listingOf, type Listing } from '../../../base/lists/listing.ts';
import { canonicalJson } from '../../../base/runtime/canonical-json.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { Random } from '../../../base/runtime/random.ts';
import { createTurns } from '../../../base/runtime/turns.ts';
import { mostParts, type CaseArchive, type CaseWriter } from './case-archive.ts';
import { CaseLines, type CheckedLine } from './cases.ts';
import { mostBytes, mostCases, type Case, type CaseInput, type Dataset, type DatasetVersion } from './dataset.ts';
import type { DatasetStore } from './dataset-store.ts';
import type { ReadCases } from './invocation-cases.ts';
import {
  datasetInUse,
  datasetNotFound,
  datasetVersionNotFound,
  mostErrors,
  refused,
  tooManyDatasets,
} from './problems.ts';
import type { SealedLines } from './sealed-lines.ts';
import type { VersionStore } from './version-store.ts';

/** A line with a case, or with what is wrong with it. */
export type SentLine = { readonly number: number } & (
  | { readonly value: CaseInput; readonly errors?: never }
  | { readonly errors: readonly ProblemDetail[] }
);

/** Checks whether a data set is as the caller expects. @throws {ProblemError} precondition-failed */
export type Precondition = (present: Dataset | undefined) => void;

/** What is added to a data set: cases, and those that are made of invocations. */
export interface Added {
  readonly cases: readonly CaseInput[];
  readonly invocations: readonly string[];
}

/** A data set, and whether it is new. */
export interface Committed {
  readonly dataset: Dataset;
  readonly isNew: boolean;
}

/**
 * Data sets and their versions. Every method can throw `database-unavailable` and, where it reads or writes cases,
 * `storage-unavailable`.
 */
export interface Datasets {
  /** Ordered by name. */
  list(): Promise<Listing<Dataset>>;
  /** @throws {ProblemError} dataset-not-found */
  get(name: string): Promise<Dataset>;
  /**
   * Creates a data set, or makes a version of the present one unless its cases are the same.
   * @throws {ProblemError} dataset-refused, too-many-datasets, edit-conflict, and what lines and precondition throw
   */
  set(name: string, lines: AsyncIterable<SentLine>, precondition: Precondition, author: Author): Promise<Committed>;
  /**
   * Adds cases at the end, in one version. Those that are there already are not added again, and no invocation of which
   * there is a case.
   * @returns the data set, and whether it has a new version
   * @throws {ProblemError} dataset-not-found, dataset-refused, edit-conflict, secret-unreadable, and what the
   *   precondition throws
   */
  add(name: string, added: Added, precondition: Precondition, author: Author): Promise<Committed>;
  /** @throws {ProblemError} dataset-not-found, dataset-in-use, edit-conflict, and what the precondition throws */
  remove(name: string, precondition: Precondition, author: Author): Promise<void>;
  /** The newest first. @throws {ProblemError} dataset-not-found */
  versions(name: string): Promise<Listing<DatasetVersion>>;
  /** @param number the current version if left out @throws {ProblemError} dataset-not-found, version-not-found */
  version(name: string, number?: number): Promise<DatasetVersion>;
  /**
   * This version, and the current one if it only adds cases to it; else this one again.
   * @throws {ProblemError} dataset-not-found, version-not-found
   */
  extended(
    name: string,
    number: number,
    id: string,
  ): Promise<{ readonly named: DatasetVersion; readonly current: DatasetVersion }>;
  /** The cases of a version, in their order. @param signal ends the wait for the storage */
  cases(version: DatasetVersion, signal?: AbortSignal): Listing<Case>;
  /** The cases of one of the objects of a version, of which `parts` has their numbers. */
  part(version: Pick<DatasetVersion, 'id'>, part: number, signal?: AbortSignal): Promise<Case[]>;
  /** The cases of a version as JSON Lines, part by part. */
  lines(version: DatasetVersion, signal?: AbortSignal): AsyncIterable<Buffer>;
  /** Deletes what was left of versions that no data set names. Call it every few minutes. */
  sweep(): Promise<void>;
}

export interface DatasetsOptions {
  readonly store: DatasetStore;
  readonly versions: VersionStore;
  readonly archive: CaseArchive;
  readonly sealed: SealedLines;
  readonly readCases: ReadCases;
  readonly clock: Clock;
  readonly random: Pick<Random, 'uuid'>;
  /** Which of these versions are kept although they are old, or their data set is deleted. */
  readonly named: (versionIds: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Whether a gate names the data set. */
  readonly isGated: (datasetId: string) => Promise<boolean>;
}

/** The contract has the same numbers. */
const mostDatasets = 1_000;
const keptVersions = 20;
/** Lines that are sealed together, and the most characters of them. */
const sealedAtOnce = { lines: 100, characters: 256 * 1024 };
/** No request takes as long, in milliseconds. */
const abandonedAfter = 24 * 3_600_000;

const audited: AuditedKind<Omit<Dataset, 'revision'>> = {
  type: 'dataset',
  show: ({ version, cases, digest }) => ({ version, cases, digest }),
};

/** @returns what is stored, whether it is new; undefined if another writer was first */
type Commit = (versionId: string, writer: CaseWriter) => Promise<Committed | undefined>;

export function createDatasets({
  store,
  versions,
  archive,
  sealed,
  readCases,
  clock,
  random,
  named: namedOf,
  isGated,
}: DatasetsOptions): Datasets {
  const editQueue = createEditQueue();
  const turns = createTurns();

  const discard = async (found: readonly { readonly id: string; readonly parts: number }[]): Promise<void> => {
    for (const { id, parts } of found) await archive.delete(id, parts);
    await versions.remove(found.map(({ id }) => id));
  };
  const discardVersions = async (found: readonly DatasetVersion[]): Promise<void> => {
    const kept = await namedOf(found.map(({ id }) => id));
    await discard(found.filter(({ id }) => !kept.has(id)).map(({ id, parts }) => ({ id, parts: parts.length })));
  };
  /** Deletes what a stored change has left. It is no failure of the change if that cannot be done now. */
  const tidyUp = async (work: () => Promise<void>): Promise<void> => {
    await work().catch((error: unknown) => {
      // The sweep or the next version does it.
      if (!isAway(error)) throw error;
    });
  };
  const get = async (name: string): Promise<Dataset> => {
    const found = await store.find(name);
    if (found === undefined) throw datasetNotFound(name);
    return found;
  };

  /** Makes a version of what is written; nothing of it stays if that fails or if no data set comes to name it. */
  const withVersion = async (work: Commit): Promise<Committed | undefined> => {
    const id = random.uuid();
    await versions.begin(id, clock.now());
    const writer = archive.write(id);
    let committed: Committed | undefined;
    try {
      committed = await work(id, writer);
    } catch (error) {
      // What may have a name, or cannot be deleted now, is left to the sweep.
      const isLeft = error instanceof UncertainError || isAway(error);
      if (!isLeft) await discard([{ id, parts: writer.stored }]).catch(() => undefined);
      throw error instanceof UncertainError ? error.cause : error;
    }
    if (committed?.dataset.versionId !== id) {
      await tidyUp(() => discard([{ id, parts: writer.stored }]));
      return committed;
    }
    const { dataset } = committed;
    await tidyUp(async () => {
      await versions.confirm(id);
      await prune(dataset);
    });
    return committed;
  };

  const prune = async ({ id, version }: Dataset): Promise<void> => {
    await discardVersions((await versions.of(id)).filter(({ number }) => number <= version - keptVersions));
  };

  /** Lets the data set name a version. @returns undefined if another writer was first */
  const name = async (
    datasetName: string,
    present: Dataset | undefined,
    version: Pick<DatasetVersion, 'id' | 'cases' | 'bytes' | 'digest' | 'parts'>,
    by: Author,
  ): Promise<Committed | undefined> => {
    const now = clock.now();
    const createdBy = authorOf(by.principal);
    const { id: versionId, ...written } = version;
    const { cases, bytes, digest } = written;
    const number = (present?.version ?? 0) + 1;
    const id = present?.id ?? random.uuid();
    if (present !== undefined) await versions.confirm(present.versionId);
    await versions.complete({
      ...{ ...written, id: versionId, datasetId: id, number },
      ...{ createdAt: now, author: createdBy },
    });
    const next = {
      ...{ id, name: datasetName, version: number, versionId, cases, bytes, digest },
      ...{ createdAt: present?.createdAt ?? now, updatedAt: now, author: createdBy },
    };
    const entry = auditEntry(by, audited, { at: now, ...(present && { before: named(present) }), after: named(next) });
    const stored = await store.put(next, present, entry).catch((cause: unknown) => {
      throw new UncertainError(cause);
    });
    return stored && { dataset: stored, isNew: present === undefined };
  };

  const find = async (datasetName: string): Promise<{ dataset: Dataset; kept: DatasetVersion[] }> => {
    const dataset = await get(datasetName);
    const found = await versions.of(dataset.id);
    const kept = found.filter(({ id, isPending }) => !isPending || id === dataset.versionId);
    return { dataset, kept: kept.sort((one, other) => other.number - one.number) };
  };
  const version: Datasets['version'] = async (datasetName, number) => {
    const { dataset, kept } = await find(datasetName);
    const found = kept.find((one) => one.number === (number ?? dataset.version));
    if (found === undefined) throw datasetVersionNotFound(datasetName, number ?? dataset.version);
    return found;
  };

  /** The digests of the cases of a version, by id. */
  const digests = async (of: DatasetVersion): Promise<ReadonlyMap<string, string>> => {
    const found = new Map<string, string>();
    for (const part of of.parts.keys()) {
      for (const one of await sealed.open(await archive.part(of, part))) {
        await turns();
        found.set(one.id, hash('sha256', canonicalJson(one), 'base64'));
      }
    }
    return found;
  };

  return {
    get,
    version,
    async extended(datasetName, number, versionId) {
      const { dataset, kept } = await find(datasetName);
      const named = kept.find(({ id }) => id === versionId);
      if (named === undefined) throw datasetVersionNotFound(datasetName, number);
      const current = kept.find((one) => one.number === dataset.version) ?? named;
      if (current === named) return { named, current };
      const [before, now] = [await digests(named), await digests(current)];
      return { named, current: [...before].every(([id, digest]) => now.get(id) === digest) ? current : named };
    },
    async list() {
      const found = (await store.all(mostDatasets)).sort((one, other) => (one.name < other.name ? -1 : 1));
      return listingOf(found, (dataset) => ({ at: 0, id: dataset.name }));
    },
    async set(datasetName, lines, precondition, author) {
      precondition(await store.find(datasetName));
      const committed = await withVersion(async (id, writer) => {
        await writeLines(lines, writer, sealed);
        const written = await writer.end();
        if (written.cases === 0) throw refused('The body has no case.', []);
        return await editQueue.contend(datasetName, async () => {
          const present = await store.find(datasetName);
          precondition(present);
          if (present?.digest === written.digest) return { dataset: present, isNew: false };
          if (present === undefined && (await store.all(mostDatasets)).length >= mostDatasets) {
            throw tooManyDatasets(mostDatasets);
          }
          return await name(datasetName, present, { id, ...written }, author);
        });
      });
      if (committed === undefined) throw new Error('contend ends with a result');
      return committed;
    },
    async add(datasetName, { cases, invocations }, precondition, author) {
      return await editQueue.contend(datasetName, async () => {
        const { dataset: present } = await find(datasetName);
        precondition(present);
        const base = await version(datasetName, present.version);
        return await withVersion(async (id, writer) => {
          const added = new AddedLines(sealed);
          await added.check(cases.map((value, index) => ({ value, pointer: `/cases/${index}` })));
          const missing = new Map(invocations.map((one, index) => [one, `/from_invocations/${index}`]));
          for (const one of cases) missing.delete(one.invocation_id ?? '');
          let count = 0;
          for await (const [, line] of archive.lines(base, 0)) {
            await writer.add(line);
            count += 1;
            const { id: caseId, invocation_id: of = '' } = JSON.parse(line) as Case;
            added.meet(caseId, line);
            missing.delete(of);
          }
          if (missing.size > 0) {
            const named = [...missing].map(([one, pointer]) => ({ id: one, pointer }));
            const made = await readCases(named, author);
            await added.check(made.map((value, index) => ({ value, pointer: named[index]?.pointer ?? '' })));
          }
          const { errors, lines } = added;
          for (const { pointer, line } of lines) {
            count += 1;
            if (count > mostCases) errors.push(tooMany(pointer));
            else await writer.add(line);
          }
          if (errors.length > 0) throw refused('The cases cannot be added.', errors.slice(0, mostErrors));
          if (lines.length === 0) return { dataset: present, isNew: false };
          const written = await writer.end();
          if (written.bytes > mostBytes) throw refused('The cases cannot be added.', [tooLarge]);
          const committed = await name(datasetName, present, { id, ...written }, author);
          return committed && { ...committed, isNew: true };
        });
      });
    },
    async remove(datasetName, precondition, author) {
      const removed = await editQueue.contend(datasetName, async () => {
        const present = await get(datasetName);
        precondition(present);
        if (await isGated(present.id)) throw datasetInUse(datasetName);
        const entry = auditEntry(author, audited, { at: clock.now(), before: named(present) });
        return (await store.remove(present, entry)) ? present : undefined;
      });
      await tidyUp(async () => discardVersions(await versions.of(removed.id)));
    },
    async versions(datasetName) {
      const { kept } = await find(datasetName);
      return listingOf(kept, ({ number }) => ({ at: -number, id: '' }));
    },
    cases: (of, signal) => ({
      async *entries(start, most) {
        const from = 'after' in start ? start.after.at + 1 : start.offset;
        for await (const [index, one] of sealed.cases(archive.lines(of, from, signal), most)) {
          yield [{ at: index, id: '' }, one];
        }
      },
      total: () => Promise.resolve(of.cases),
    }),
    part: async (of, part, signal) => await sealed.open(await archive.part(of, part, signal)),
    async *lines(of, signal) {
      for await (const part of archive.parts(of, signal)) yield await sealed.part(part);
    },
    async sweep() {
      const pending = await versions.pendingBefore(new Date(clock.now().getTime() - abandonedAfter));
      const having = await versions.datasetIds();
      // Read last: a version that is not pending was named before.
      const all = await store.all(mostDatasets);
      const current = new Set(all.map(({ versionId }) => versionId));
      const known = new Set(all.map(({ id }) => id));
      const steps = {
        pending: () =>
          doForEach(pending, (id) => (current.has(id) ? versions.confirm(id) : discard([{ id, parts: mostParts }]))),
        orphans: () =>
          doForEach(
            having.filter((id) => !known.has(id)),
            async (id) => discardVersions((await versions.of(id)).filter(({ isPending }) => !isPending)),
          ),
      };
      await doSteps(steps);
    },
  };
}

/** What is wrong with a case that names an invocation, by which it could not be erased. */
const erasedInvocation =
  'names an invocation whose content was erased. Leave the case out, or send it as the export of the data set has it';

/** The cases that a data set gets, while those that it has are read. */
class AddedLines {
  readonly errors: ProblemDetail[] = [];
  readonly #sealed: SealedLines;
  readonly #checked = new CaseLines((mistake) => this.errors.push(mistake));
  /** Those that are not there, by id. */
  readonly #lines = new Map<string, { readonly pointer: string; readonly line: string }>();
  readonly #met = new Set<string>();

  constructor(sealed: SealedLines) {
    this.#sealed = sealed;
  }

  get lines(): { readonly pointer: string; readonly line: string }[] {
    return [...this.#lines.values()];
  }

  async check(cases: readonly { readonly value: CaseInput; readonly pointer: string }[]): Promise<void> {
    const fitting = cases.flatMap(({ value, pointer }) => {
      const checked = this.#checked.line(value, { pointer });
      return checked === undefined ? [] : [{ ...checked, pointer }];
    });
    for (const [index, line] of (await this.#sealed.seal(fitting)).entries()) {
      const { id = '', pointer = '' } = fitting[index] ?? {};
      if (line === undefined) this.errors.push({ detail: erasedInvocation, pointer: `#${pointer}/invocation_id` });
      else if (this.#met.has(id)) this.errors.push(taken(pointer));
      else this.#lines.set(id, { pointer, line });
    }
  }

  /** A case that the data set has. */
  meet(id: string, line: string): void {
    this.#met.add(id);
    const sent = this.#lines.get(id);
    if (sent === undefined) return;
    this.#lines.delete(id);
    if (!isDeepStrictEqual(JSON.parse(sent.line), JSON.parse(line))) this.errors.push(taken(`${sent.pointer}/id`));
  }
}

function taken(pointer: string): ProblemDetail {
  return { detail: 'has the same id as another case of the data set', pointer: `#${pointer}` };
}

function tooMany(pointer: string): ProblemDetail {
  return { detail: `is one more than the ${mostCases} cases of a data set`, pointer: `#${pointer}` };
}

const tooLarge: ProblemDetail = { detail: 'make the data set larger than 16 MiB', pointer: '#' };

/** Writes the cases of lines. @throws {ProblemError} dataset-refused */
async function writeLines(lines: AsyncIterable<SentLine>, writer: CaseWriter, sealed: SealedLines): Promise<void> {
  const errors: ProblemDetail[] = [];
  const checked = new CaseLines((mistake) => errors.push(mistake));
  let waiting: (CheckedLine & { readonly number: number })[] = [];
  let characters = 0;
  const flush = async (): Promise<void> => {
    const stored = await sealed.seal(waiting);
    for (const [index, { number }] of waiting.entries()) {
      const line = stored[index];
      if (line === undefined) errors.push({ detail: erasedInvocation, line: number, pointer: '#/invocation_id' });
      // After a mistake the rest is only checked.
      else if (errors.length === 0) await writer.add(line);
    }
    waiting = [];
    characters = 0;
  };
  for await (const { number, ...sent } of lines) {
    if (sent.errors !== undefined) errors.push(...sent.errors.map((error) => ({ ...error, line: number })));
    else {
      const fitting = checked.line(sent.value, { line: number, pointer: '' });
      if (fitting !== undefined) {
        waiting.push({ ...fitting, number });
        characters += fitting.line.length;
      }
      if (waiting.length >= sealedAtOnce.lines || characters >= sealedAtOnce.characters) await flush();
    }
    if (errors.length >= mostErrors) break;
  }
  await flush();
  if (errors.length === 0) return;
  throw refused('The lines are not the cases of a data set. Nothing was changed.', errors.slice(0, mostErrors));
}

function isAway(error: unknown): boolean {
  return error instanceof ProblemError && error.status === 503;
}

/** The database may have stored the change or not. */
class UncertainError extends Error {
  constructor(cause: unknown) {
    super('it is unknown whether the change was stored', { cause });
  }
}

/** For the audit log, where the name of a data set is its id. */
function named(dataset: Omit<Dataset, 'revision'>): Omit<Dataset, 'revision'> {
  return { ...dataset, id: dataset.name };
}
