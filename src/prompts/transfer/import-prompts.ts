import { isDeepStrictEqual } from 'node:util';
import type { components } from '../../../generated/types.ts';
import type { Author } from '../../access/audit/author.ts';
import { authorOf } from '../../base/limits/principal.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { Random } from '../../base/runtime/random.ts';
import { createTurns } from '../../base/runtime/turns.ts';
import { sameContent } from '../prompt-changes.ts';
import type { PromptStore } from '../prompt-store.ts';
import { contentFields, promptFields } from '../prompt.ts';
import { isReserved } from '../slug.ts';
import type { NewPrompt, Prompt, PromptChange, PromptContent } from '../prompt.ts';
import type { Prompts } from '../prompts.ts';
import { maxLabels, type Labels } from '../labels/labels.ts';

type Schemas = components['schemas'];
type Sent = Schemas['PromptExport'];

/** What an import does with a stored prompt of the same slug that is different. */
export type OnConflict = NonNullable<Schemas['PromptImport']['conflicts']>;

/** Something about a prompt, and its place in the request. */
export interface ImportFinding {
  readonly detail: string;
  readonly pointer: string;
}

/** What an import did with a prompt, or would do. */
export interface ImportedPrompt {
  readonly slug: string;
  readonly status: 'created' | 'updated' | 'unchanged' | 'skipped' | 'refused';
  /** The stored prompt; undefined if there is none. */
  readonly stored: Pick<Prompt, 'id' | 'version'> | undefined;
  /** What is not as it was sent. */
  readonly notes: readonly ImportFinding[];
  /** Why it is refused. */
  readonly errors: readonly ImportFinding[];
}

export interface Import {
  readonly prompts: readonly Sent[];
  readonly conflicts: OnConflict;
}

/** Stores prompts of an export. */
export interface Imports {
  /** Finds out what an import would do. Nothing is stored. */
  preview(wanted: Import, author: Author): Promise<readonly ImportedPrompt[]>;
  /**
   * Stores the prompts, or none of them if one is refused. A repetition changes nothing, and continues what was
   * interrupted.
   * @throws {ProblemError} import-refused, edit-conflict
   */
  store(wanted: Import, author: Author): Promise<readonly ImportedPrompt[]>;
}

export interface ImportsDependencies {
  readonly store: Pick<PromptStore, 'find' | 'archivedVersions' | 'fetchArchived'>;
  readonly prompts: Pick<Prompts, 'check' | 'create' | 'update'>;
  readonly labels: Pick<Labels, 'set' | 'requireRelease'>;
  readonly random: Pick<Random, 'uuid'>;
}

/** The most versions of all prompts of a request. */
const mostVersions = 2_000;
/** The most places that a problem lists. */
const mostPlaces = 100;
/** Prompts that are checked, or stored, at the same time. */
const atOnce = 8;

/** Other requests changed what an import was checked against. */
const raced: ReadonlySet<string> = new Set([
  ...['slug-taken', 'alias-taken', 'precondition-failed', 'edit-conflict'],
  ...['prompt-not-found', 'version-not-found', 'too-many-labels', 'release-not-shown'],
]);

/** A prompt of a request. */
interface Incoming {
  /** Each version as a prompt of its own. */
  readonly versions: readonly (NewPrompt & { readonly note: string | undefined })[];
  /** The numbers that the versions get, by those that were sent. */
  readonly numbers: ReadonlyMap<number, number>;
  readonly notes: ImportFinding[];
}

/** What is written for a prompt. */
interface Steps {
  /** Of the first version, if the prompt is new. */
  readonly create?: (NewPrompt & { readonly note: string | undefined }) | undefined;
  readonly changes: readonly { readonly change: PromptChange; readonly note: string | undefined }[];
  readonly labels: readonly { readonly name: string; readonly version: number }[];
}

interface Plan extends ImportedPrompt {
  readonly existing: Prompt | undefined;
  readonly steps: Steps;
}

const noSteps: Steps = { changes: [], labels: [] };

export function createImports({ store, prompts, labels, random }: ImportsDependencies): Imports {
  const turns = createTurns();

  /** Reads the versions, and checks each as when a prompt is saved. */
  const read = async (sent: Sent, place: string): Promise<Incoming | { readonly errors: ImportFinding[] }> => {
    const errors: ImportFinding[] = [];
    const notes: ImportFinding[] = [];
    const versions: (NewPrompt & { note: string | undefined })[] = [];
    const numbers = new Map<number, number>();
    const { versions: all, labels: named = {}, ...head } = sent;
    let last = 0;
    for (const [index, { version, note, ...content }] of all.entries()) {
      await turns();
      const here = `${place}/versions/${index}`;
      if (version <= last)
        errors.push({ detail: 'must be greater than that of the version before', pointer: `${here}/version` });
      last = version;
      try {
        const one = promptFields.readNew({ ...head, ...content });
        prompts.check(one);
        const before = versions.at(-1);
        if (before !== undefined && sameContent(before, one)) {
          notes.push({ detail: 'has the content of the version before, so it becomes no version', pointer: here });
        } else {
          versions.push({ ...one, note });
        }
        numbers.set(version, versions.length);
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error;
        errors.push(...placed(error, here, place));
      }
    }
    for (const [label, version] of Object.entries(named)) {
      if (!all.some((one) => one.version === version)) {
        errors.push({ detail: 'names a version that is not sent', pointer: `${place}/labels/${label}` });
      }
    }
    return errors.length > 0 ? { errors } : { versions, numbers, notes };
  };

  /** Whether the versions of a stored prompt are the first of those that are sent. */
  const isBeginning = async (existing: Prompt, versions: readonly PromptContent[]): Promise<boolean> => {
    const current = versions[existing.version - 1];
    if (current === undefined || !sameContent(existing, current)) return false;
    for await (const { version, content } of store.archivedVersions([existing])) {
      const one = versions[version - 1];
      if (one === undefined || !sameContent(content, one)) return false;
    }
    return true;
  };

  /** Why a version that is sent is not the base of a next one, if it is not: others have gone on from it. */
  const overtaken = async (existing: Prompt, base: number, author: Author): Promise<string | undefined> => {
    if (base > existing.version) return `is not a stored version: the current one is version ${existing.version}`;
    const caller = authorOf(author.principal);
    const since = Array.from({ length: existing.version - base }, (_, index) => base + 1 + index).slice(0, -1);
    const authors = base === existing.version ? [] : [existing.versionAuthor];
    for await (const version of store.fetchArchived(since.map((version) => ({ promptId: existing.id, version })))) {
      if (version !== undefined) authors.push(version.author);
    }
    if (authors.every(({ type, id }) => type === caller.type && id === caller.id)) return undefined;
    return `is not the current version: since then, others have made versions up to ${existing.version}`;
  };

  const plan = async (sent: Sent, place: string, conflicts: OnConflict, author: Author): Promise<Plan> => {
    const { slug } = sent;
    const existing = await store.find(slug);
    const of = { slug, existing, stored: existing, steps: noSteps };
    const refuse = (errors: ImportFinding[]): Plan => ({ ...of, status: 'refused', notes: [], errors });
    const incoming = await read(sent, place);
    if ('errors' in incoming) return refuse(incoming.errors);
    const { versions, numbers, notes } = incoming;
    const [first, last] = [versions[0], versions.at(-1)];
    if (first === undefined || last === undefined) throw new Error('The contract requires a version.');
    const taken = await takenAliases(last, existing, place);
    if (taken.length > 0) return refuse(taken);
    if (existing === undefined && isReserved(slug)) {
      return refuse([{ detail: 'is that of an operation', pointer: `${place}/slug` }]);
    }
    if (existing?.deleting === true) {
      return refuse([{ detail: 'is the slug of a prompt that is being deleted', pointer: `${place}/slug` }]);
    }
    const aliases = [...new Set([...(existing?.aliases ?? []), ...(last.aliases ?? [])])];
    const wanted = Object.entries(sent.labels ?? {}).map(([name, from]) => ({ name, version: numbers.get(from) ?? 0 }));

    if (existing === undefined) {
      const rest = versions.slice(1).map(toChange);
      const end = rest.pop();
      // A prompt answers under its aliases when all of its versions are stored.
      const changes = end === undefined ? [] : [...rest, { ...end, change: { ...end.change, aliases: last.aliases } }];
      const create = end === undefined ? first : { ...first, aliases: undefined };
      notes.unshift(...renumbered(numbers, place));
      return { ...of, status: 'created', notes, errors: [], steps: { create, changes, labels: wanted } };
    }

    const metadata = metadataOf(last, existing);
    const isSame = isDeepStrictEqual(metadata, metadataOf(existing));
    const continues = (isSame || conflicts === 'if-current') && (await isBeginning(existing, versions));
    if (!continues && !(isSame && sameContent(existing, last))) {
      if (conflicts === 'refuse') {
        return refuse([{ detail: 'is the slug of a stored prompt that is different', pointer: `${place}/slug` }]);
      }
      if (conflicts === 'skip') return { ...of, status: 'skipped', notes, errors: [] };
      if (conflicts === 'if-current') {
        const [base] = sent.versions;
        if (base === undefined || sent.versions.length > 1) {
          return refuse([{ detail: 'do not begin with those that are stored', pointer: `${place}/versions` }]);
        }
        const detail = await overtaken(existing, base.version, author);
        if (detail !== undefined) return refuse([{ detail, pointer: `${place}/versions/0/version` }]);
      }
    }
    if (continues) notes.unshift(...renumbered(numbers, place));
    const others = sameContent(existing, last) ? [] : [last];
    const changes = (continues ? versions.slice(existing.version) : others).map(toChange);
    const end = changes.pop() ?? { change: {}, note: undefined };
    changes.push({ ...end, change: { ...end.change, ...metadata, ...(aliases.length > 0 && { aliases }) } });
    const present = new Map((existing.labels ?? []).map(({ name, version }) => [name, version]));
    for (const { name, version } of wanted) {
      if ((continues ? (present.get(name) ?? version) : present.get(name)) === version) continue;
      notes.push({ detail: 'is not moved: only new labels are set', pointer: `${place}/labels/${name}` });
    }
    const missing = continues ? wanted.filter(({ name }) => !present.has(name)) : [];
    if (missing.length > 0 && present.size + missing.length > maxLabels) {
      const detail = `would give the stored prompt more than ${maxLabels} labels`;
      return refuse([{ detail, pointer: `${place}/labels` }]);
    }
    const gated = await refusedLabels(existing, missing, versions, place);
    if (gated.length > 0) return refuse(gated);
    const needed = changes.filter(({ change }) => !isDeepStrictEqual({ ...existing, ...change }, existing));
    const status = needed.length + missing.length === 0 ? 'unchanged' : 'updated';
    return { ...of, status, notes, errors: [], steps: { changes: needed, labels: missing } };
  };

  /** The labels that their gates do not let name these versions. */
  const refusedLabels = async (
    existing: Prompt,
    wanted: Steps['labels'],
    versions: Incoming['versions'],
    place: string,
  ): Promise<ImportFinding[]> => {
    const refused: ImportFinding[] = [];
    for (const { name, version } of wanted) {
      const content = versions[version - 1];
      if (content === undefined) continue;
      await labels.requireRelease(existing, { name, version, content }).catch((error: unknown) => {
        if (!(error instanceof ProblemError) || error.type !== 'release-not-shown') throw error;
        refused.push({
          detail: `has a gate, which does not let version ${version} in`,
          pointer: `${place}/labels/${name}`,
        });
      });
    }
    return refused;
  };

  const takenAliases = async (
    { aliases = [] }: Pick<NewPrompt, 'aliases'>,
    existing: Prompt | undefined,
    place: string,
  ): Promise<ImportFinding[]> => {
    const holders = await Promise.all(aliases.map((alias) => store.find(alias)));
    return holders.flatMap((holder, index) =>
      holder === undefined || holder.id === existing?.id
        ? []
        : [{ detail: `is an alias of the prompt "${holder.slug}"`, pointer: `${place}/aliases/${index}` }],
    );
  };

  const planAll = async ({ prompts: all, conflicts }: Import, author: Author): Promise<Plan[]> => {
    if (all.reduce((sum, { versions }) => sum + versions.length, 0) > mostVersions) {
      throw new ProblemError('import-refused', {
        detail: 'The request has too many versions. Nothing was stored.',
        errors: [{ detail: `must have at most ${mostVersions} versions in all`, pointer: '#/prompts' }],
      });
    }
    const repeated = repeatedNames(all);
    const plans: Plan[] = [];
    const planOne = async (sent: Sent, index: number): Promise<Plan> => {
      const one = await plan(sent, `#/prompts/${index}`, conflicts, author);
      const errors = [...(repeated.get(index) ?? []), ...one.errors];
      return errors.length === 0 ? one : { ...one, status: 'refused', errors, steps: noSteps };
    };
    for (let start = 0; start < all.length; start += atOnce) {
      const some = all.slice(start, start + atOnce).map((sent, index) => planOne(sent, start + index));
      plans.push(...(await Promise.all(some)));
    }
    return plans;
  };

  /** @param signal checked before each write but the first */
  const write = async ({ steps, ...one }: Plan, author: Author, signal: AbortSignal): Promise<ImportedPrompt> => {
    let prompt = one.existing;
    const { create } = steps;
    if (create !== undefined) {
      const { note, ...fields } = create;
      prompt = await prompts.create(fields, random.uuid(), author, note);
    }
    if (prompt === undefined) return one;
    for (const { change, note } of steps.changes) {
      signal.throwIfAborted();
      const seen: Prompt = prompt;
      prompt = await prompts.update(seen.id, change, ({ revision }) => revision === seen.revision, author, note);
    }
    for (const label of steps.labels) {
      signal.throwIfAborted();
      // What is imported was released where it comes from.
      await labels.set(prompt.id, { ...label, acceptsWarnings: true }, () => undefined, author);
    }
    return { ...one, stored: prompt };
  };

  /**
   * Writes some prompts at the same time. After a failure nothing more begins, and it is thrown when everything that was
   * under way has ended: what the answer says about the prompts does not change afterwards.
   */
  const writeSome = async (plans: readonly Plan[], author: Author): Promise<ImportedPrompt[]> => {
    const failure = new AbortController();
    const written = plans.map(async (one) => {
      try {
        return await write(one, author, failure.signal);
      } catch (error) {
        failure.abort(error);
        throw error;
      }
    });
    await Promise.allSettled(written);
    failure.signal.throwIfAborted();
    return await Promise.all(written);
  };

  return {
    preview: planAll,
    async store(wanted, author) {
      const plans = await planAll(wanted, author);
      const errors = plans.flatMap((one) => one.errors);
      if (errors.length > 0) {
        throw new ProblemError('import-refused', {
          detail: `${plans.filter((one) => one.errors.length > 0).length} of ${plans.length} prompts cannot be imported. Nothing was stored.`,
          errors: errors.slice(0, mostPlaces),
        });
      }
      const stored: ImportedPrompt[] = [];
      try {
        for (let start = 0; start < plans.length; start += atOnce) {
          stored.push(...(await writeSome(plans.slice(start, start + atOnce), author)));
        }
      } catch (error) {
        if (!(error instanceof ProblemError) || !raced.has(error.type)) throw error;
        throw new ProblemError('edit-conflict', {
          detail: 'Other requests changed the same prompts. Send the request again: it continues where it stopped.',
          cause: error,
        });
      }
      return stored;
    },
  };
}

/** Says that versions get other numbers. */
function renumbered(numbers: ReadonlyMap<number, number>, place: string): ImportFinding[] {
  const [first] = [...numbers].filter(([from, to]) => from !== to);
  if (first === undefined) return [];
  const detail = `get other numbers: the versions here are numbered from 1, so version ${first[0]} becomes version ${first[1]}`;
  return [{ detail, pointer: `${place}/versions` }];
}

function toChange({ note, ...version }: Incoming['versions'][number]): Steps['changes'][number] {
  return { change: contentFields.pick(version), note };
}

type Metadata = Pick<NewPrompt, 'name' | 'description' | 'testSettings' | 'invocationContent'>;

/**
 * What an import takes over besides the content and the aliases. A file that does not say which content may be kept does
 * not lift the limit of the stored prompt.
 */
function metadataOf(
  { name, description, testSettings, invocationContent }: Metadata,
  existing?: Pick<Metadata, 'invocationContent'>,
): Metadata {
  return { name, description, testSettings, invocationContent: invocationContent ?? existing?.invocationContent };
}

/** Slugs and aliases that two prompts of a request have, by the index of the later one. */
function repeatedNames(prompts: readonly Sent[]): ReadonlyMap<number, readonly ImportFinding[]> {
  const seen = new Set<string>();
  const repeated = new Map<number, ImportFinding[]>();
  for (const [index, { slug, aliases = [] }] of prompts.entries()) {
    const names = [[slug, 'slug'], ...aliases.map((alias, at) => [alias, `aliases/${at}`])] as [string, string][];
    for (const [name, member] of names) {
      if (seen.has(name)) {
        const error = { detail: 'is that of a prompt before', pointer: `#/prompts/${index}/${member}` };
        repeated.set(index, [...(repeated.get(index) ?? []), error]);
      }
      seen.add(name);
    }
  }
  return repeated;
}

/** The mistakes of a version at their places in the request. Those of members of the prompt are at the prompt. */
function placed({ message, errors }: ProblemError, version: string, prompt: string): ImportFinding[] {
  return (errors ?? [{ detail: message, pointer: '#' }]).map((error) => {
    const member = 'pointer' in error ? error.pointer.slice(1) : '';
    return { detail: error.detail, pointer: (member.startsWith('/test_settings') ? prompt : version) + member };
  });
}
