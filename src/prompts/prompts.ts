import { authorOf } from '../base/limits/principal.ts';
import { isDeepStrictEqual } from 'node:util';
import { auditEntry, type AuditedKind, type Author } from '../access/audit/author.ts';
import { requireMatch, type Precondition } from '../base/editing/edits.ts';
import { ProblemError } from '../base/errors/problem-error.ts';
import { createEditQueue, type EditQueue } from '../base/editing/edit-queue.ts';
import { promptDeleted, promptVersionCreated } from '../webhooks/events/announcements.ts';
import type { OutboxEntry } from '../webhooks/events/event.ts';
import { makeRoom, outboxCapacity, type Relay } from '../webhooks/events/outbox.ts';
import { mayReachPrompt, type Reach } from '../base/limits/reach.ts';
import type { Listing } from '../base/lists/listing.ts';
import { requireUsable } from './content-rules.ts';
import { applyChange } from './prompt-changes.ts';
import { draw, type Draw } from './evaluations/canaries/canary.ts';
import { findLabel } from './labels/label.ts';
import { finishDeletion, finishDeletions, removeOrphans, type Cascade } from './prompt-deletion.ts';
import {
  contentFields,
  currentVersion,
  generationFields,
  promptFields,
  type NewPrompt,
  type Prompt,
} from './prompt.ts';
import type {
  ListedVersion,
  PromptChange,
  PromptContent,
  PromptGeneration,
  PromptName,
  PromptVersion,
} from './prompt.ts';
import { freeSlug, isPromptAlias, isPromptId, isReserved, slugFromName, withSuffix } from './slug.ts';
import type { PromptStore } from './prompt-store.ts';
import { createVersionCache } from './version-cache.ts';
import type { Clock } from '../base/runtime/clock.ts';
import type { Random } from '../base/runtime/random.ts';

/** What an invocation runs: one version of a prompt. */
export interface ResolvedPrompt {
  readonly id: string;
  readonly slug: string;
  readonly version: number;
  readonly content: PromptContent;
  /** Of which invocations the content may be kept; undefined if the prompt does not say. */
  readonly invocationContent: Prompt['invocationContent'];
  /** How the label decided on the version; undefined without a canary. */
  readonly canary: Draw | undefined;
}

/** The version that a request asks for: by number, by label, or without both the latest. */
export interface VersionSelection {
  readonly version?: number | undefined;
  readonly label?: string | undefined;
  /** Whether a canary of the label may decide on another version than the one that it names. @default false */
  readonly draws?: boolean | undefined;
  /** What the caller may reach. */
  readonly reach?: Reach | undefined;
}

/**
 * Prompts and their versions. A slug or id can also be an alias. Every method that takes one throws `prompt-not-found`,
 * every one that takes a version `version-not-found`, every one that takes a precondition `precondition-failed`.
 */
export interface Prompts {
  /**
   * Checks whether content can be saved.
   * @throws {ProblemError} unknown-provider, inconsistent-content, invalid-provider-option, invalid-schema
   */
  check(content: PromptContent): void;
  /**
   * Stores a prompt as version 1, or finds the one that an earlier attempt stored with the same id.
   * @param note about the version
   * @throws {ProblemError} slug-taken, alias-taken, unknown-provider, inconsistent-content, invalid-provider-option,
   *   invalid-schema
   */
  create(prompt: NewPrompt, id: string, author: Author, note?: string): Promise<Prompt>;
  /** @param reach of the caller: a prompt beyond it is not found */
  get(slugOrId: string, reach?: Reach): Promise<Prompt>;
  /**
   * The id by which a caller reads the records of a prompt; one that no record has if the caller cannot reach such a
   * prompt. A prompt that was deleted still has its records, by its id.
   * @param reach of the caller
   */
  recordedId(slugOrId: string, reach: Reach | undefined): Promise<string>;
  /**
   * The most recently updated first, within the caller's reach.
   * @param text only those whose name, slug or description contains it
   */
  list(text: string | undefined, reach: Reach | undefined): Listing<Prompt>;
  /** The most recently updated first, within the caller's reach. @param most at most this number */
  listNames(most: number, reach: Reach | undefined): Promise<PromptName[]>;
  /**
   * @param note about the version, if the change makes one
   * @throws {ProblemError} slug-taken, alias-taken, edit-conflict, inconsistent-content; unknown-provider,
   *   invalid-provider-option and invalid-schema unless the prompt already has it
   */
  update(
    slugOrId: string,
    change: PromptChange,
    precondition: Precondition<Prompt>,
    author: Author,
    note?: string,
  ): Promise<Prompt>;
  /**
   * Removes a prompt and everything that belongs to it; continues an interrupted removal.
   * @throws {ProblemError} edit-conflict, and the errors of the cascades
   */
  remove(slugOrId: string, precondition: Precondition<Prompt>, author: Author): Promise<void>;

  /** The newest first. */
  listVersions(slugOrId: string): Promise<Listing<ListedVersion>>;
  getVersion(slugOrId: string, version: number): Promise<{ prompt: Prompt; version: PromptVersion }>;
  /**
   * Gives the prompt the content of one of its versions, as a new version unless it already has that content.
   * @param writeId id of this write; a repetition with the same id is not done twice
   * @throws {ProblemError} edit-conflict
   */
  restore(
    slugOrId: string,
    version: number,
    precondition: Precondition<Prompt>,
    author: Author,
    writeId: string,
  ): Promise<Prompt>;

  /**
   * What to invoke: the requested version, the one that the label names now, or the latest.
   * @throws {ProblemError} invalid-request for a version with a label; unknown-label
   */
  resolve(slugOrId: string, selection?: VersionSelection): Promise<ResolvedPrompt>;
  /** Finishes interrupted deletions. Any process may call it at any time. */
  sweep(): Promise<void>;
  /** Removes archived versions without a prompt. It walks the whole index of the archive, so once a day is enough. */
  sweepVersions(): Promise<void>;
}

export interface PromptsOptions {
  readonly store: PromptStore;
  readonly cascades: readonly Cascade[];
  readonly relay: Relay;
  /** Whether there is a provider with this id, configured or not. */
  readonly isKnownProvider: (id: string) => boolean;
  readonly clock: Clock;
  readonly random: Random;
  /** Shared with others that write to prompts. */
  readonly editQueue?: EditQueue;
}

/** Versions keep the content. */
const audited: AuditedKind<Prompt> = {
  type: 'prompt',
  show: promptFields.show,
  withheld: [...contentFields.storedNames, 'test_settings'],
};

/** Lost races for a numbered slug after which a random suffix is used. */
const numberedAttempts = 8;

/**
 * Creates the rules of prompts over a store.
 *
 * Each number from 1 to a prompt's version exists exactly once, also after crashes and races: a version is archived
 * before the prompt is overwritten, and the prompt is overwritten by compare-and-set.
 */
export function createPrompts({
  store,
  cascades,
  relay,
  isKnownProvider,
  clock,
  random,
  editQueue = createEditQueue(),
}: PromptsOptions): Prompts {
  const versionCache = createVersionCache();
  const get = async (slugOrId: string, reach?: Reach): Promise<Prompt> => {
    const prompt = await store.find(slugOrId);
    return prompt === undefined || prompt.deleting || !mayReachPrompt(reach, prompt.id) ? notFound(slugOrId) : prompt;
  };

  const getVersion = async (
    slugOrId: string,
    select: (prompt: Prompt) => number,
    reach?: Reach,
  ): Promise<{ prompt: Prompt; version: PromptVersion }> => {
    const prompt = await get(slugOrId, reach);
    const number = select(prompt);
    if (number === prompt.version) return { prompt, version: currentVersion(prompt) };
    if (number < prompt.version) {
      const version = await versionCache.get(prompt.id, number, () => store.findArchived(prompt.id, number));
      if (version !== undefined) return { prompt, version };
    }
    throw versionNotFound(slugOrId, number);
  };

  const requireKnownProvider = (provider: string | undefined): void => {
    if (provider === undefined || isKnownProvider(provider)) return;
    throw new ProblemError('unknown-provider', {
      detail: `The selected_provider ${JSON.stringify(provider)} is not known.`,
      errors: [{ detail: 'is not known', pointer: '#/selected_provider' }],
      extensions: { provider },
    });
  };

  /** Repeats an edit of a prompt until it succeeds. @param attempt returns `undefined` if another writer was first */
  const contend = <Result>(slugOrId: string, attempt: () => Promise<Result | undefined>): Promise<Result> =>
    editQueue.contend(slugOrId, attempt);

  /** Announces the version that a prompt now has. @param eventId chosen before the write */
  const announceVersion = (prompt: Prompt, eventId: string, { traceparent }: Author): OutboxEntry => {
    const { id: promptId, slug, version, versionAuthor: author, versionCreatedAt: at } = prompt;
    return promptVersionCreated({ promptId, slug, version, author }, { eventId, at, traceparent });
  };

  /**
   * Reads the prompt, changes it, and starts again if another writer changed it in the meantime. The current version is
   * archived before it is overwritten, and readers look at the prompt before the archive. So a crash between the two
   * writes leaves one copy too many and no gap.
   */
  const edit = (
    slugOrId: string,
    change: PromptChange,
    precondition: Precondition<Prompt>,
    author: Author,
    { writeId, note, check }: { writeId: string; note?: string | undefined; check?: (prompt: Prompt) => void },
  ): Promise<Prompt> => {
    let id = slugOrId;
    let archived = false;
    const eventId = random.uuid();
    const attempt = async (): Promise<Prompt | undefined> => {
      const prompt = await store.find(id);
      if (prompt === undefined || prompt.deleting) {
        // The deletion may have removed the versions before this edit archived one.
        if (archived) await store.archived.removeAll(id);
        return notFound(slugOrId);
      }
      id = prompt.id; // From now on the slug can move to another prompt.
      if (prompt.writes.includes(writeId)) return prompt;
      requireMatch(prompt, precondition);
      check?.(prompt);
      const next = applyChange(prompt, change, clock.now(), { author: authorOf(author.principal), note });
      if (next === prompt) return prompt;
      const events: OutboxEntry[] = [];
      if (next.version !== prompt.version) {
        await makeRoomFor(prompt, relay, store);
        await store.archive(prompt);
        archived = true;
        events.push(announceVersion(next, eventId, author));
      }
      const entry = auditEntry(author, audited, { at: next.updatedAt, before: prompt, after: next });
      const stored = await store.replace(next, events, entry, writeId);
      if (stored === 'taken') {
        await requireFreeAliases(next);
        throw slugTaken(next.slug);
      }
      if (stored === 'lost') return undefined;
      // What waits is read again: another attempt with this write id may have stored it, with an event of its own.
      if (events.length > 0) relay.nudge('prompts', id);
      return stored;
    };
    return contend(slugOrId, attempt);
  };

  /** The database does not say which unique value a refused write has in common with another prompt. */
  const requireFreeAliases = async ({ id, aliases = [] }: Pick<Prompt, 'id' | 'aliases'>): Promise<void> => {
    const holders = await Promise.all(aliases.map((alias) => store.find(alias)));
    const taken = aliases.flatMap((alias, index) => {
      const holder = holders[index];
      return holder === undefined || holder.id === id ? [] : [{ alias, index }];
    });
    const [first] = taken;
    if (first === undefined) return;
    throw new ProblemError('alias-taken', {
      detail: `Another prompt has the alias "${first.alias}".`,
      errors: taken.map(({ index }) => ({ detail: 'is taken', pointer: `#/aliases/${index}` })),
    });
  };

  /**
   * Stores a new prompt, or finds what an earlier attempt stored with its id; `undefined` if another prompt has its
   * slug.
   * @throws {ProblemError} alias-taken
   */
  const insertOrFind = async (prompt: Prompt, author: Author): Promise<Prompt | undefined> => {
    const entry = auditEntry(author, audited, { at: prompt.createdAt, after: prompt });
    const events = [announceVersion(prompt, random.uuid(), author)];
    if (await store.insert(prompt, events, entry)) {
      relay.nudge('prompts', prompt.id, events);
      return prompt;
    }
    const found = await store.find(prompt.id);
    if (found === undefined) await requireFreeAliases(prompt);
    return found;
  };

  /** Stores a prompt whose first choice of a slug was taken. */
  const insertNumbered = (prompt: Prompt, author: Author): Promise<Prompt> => {
    const insertSuffixed = async (): Promise<Prompt> => {
      const slug = withSuffix(prompt.slug, random.uuid().slice(0, 8));
      const stored = await insertOrFind({ ...prompt, slug }, author);
      if (stored !== undefined) return stored;
      // Nobody else has this slug, so another prompt had an alias, and gave it up since then.
      throw new ProblemError('alias-taken', {
        detail: 'Another prompt has one of the aliases.',
        errors: [{ detail: 'are taken', pointer: '#/aliases' }],
      });
    };
    const work = async (): Promise<Prompt> => {
      for (let attempt = 0; attempt < numberedAttempts; attempt += 1) {
        const slug = await freeSlug(prompt.slug, (slugs) => store.takenSlugs(slugs));
        const stored = await insertOrFind({ ...prompt, slug }, author);
        if (stored !== undefined) return stored;
      }
      return await insertSuffixed();
    };
    return editQueue.run(`name of ${prompt.slug}`, work, insertSuffixed);
  };

  const check = (content: PromptContent): void => {
    requireKnownProvider(content.selectedProvider);
    requireUsable(content, content, { isKnownProvider });
  };

  return {
    check,
    get,
    getVersion: (slugOrId, number) => getVersion(slugOrId, () => number),
    update(slugOrId, change, precondition, author, note) {
      const checkChange = (prompt: Prompt): void => {
        if (change.slug !== prompt.slug) requireUsableSlug(change.slug);
        // A prompt can be sent back as it was received, even if its providers are no longer known.
        if (change.selectedProvider !== prompt.selectedProvider) requireKnownProvider(change.selectedProvider);
        const changed = Object.entries(generationFields.pick({ ...prompt, ...change })).filter(
          ([name, value]) => !isDeepStrictEqual(value, prompt[name as keyof PromptGeneration]),
        );
        requireUsable({ ...prompt, ...change }, Object.fromEntries(changed), { isKnownProvider });
      };
      return edit(slugOrId, change, precondition, author, { writeId: random.uuid(), note, check: checkChange });
    },

    async create(sent, id, author, note) {
      requireUsableSlug(sent.slug);
      check(sent);
      const createdAt = clock.now();
      const prompt: Prompt = {
        id,
        ...sent,
        slug: sent.slug === '' ? slugFromName(sent.name) : sent.slug,
        version: 1,
        labels: undefined,
        deletedLabel: undefined,
        gates: undefined,
        hasCanary: undefined,
        labelWrites: 0,
        versionCreatedAt: createdAt,
        versionAuthor: authorOf(author.principal),
        versionNote: note,
        createdAt,
        updatedAt: createdAt,
        revision: 1,
        writes: [],
        waiting: 0,
        deleting: false,
      };
      const stored = await insertOrFind(prompt, author);
      if (stored !== undefined) return stored;
      if (sent.slug !== '') throw slugTaken(sent.slug);
      return await insertNumbered(prompt, author);
    },
    async recordedId(slugOrId, reach) {
      if (isPromptId(slugOrId)) return mayReachPrompt(reach, slugOrId) ? slugOrId : noPrompt;
      const prompt = await store.find(slugOrId);
      return prompt?.deleting === false && mayReachPrompt(reach, prompt.id) ? prompt.id : noPrompt;
    },
    list: (text, reach) => store.list(text, reach?.prompts),
    listNames: (most, reach) => store.listNames(most, reach?.prompts),
    async remove(slugOrId, precondition, author) {
      let id = slugOrId;
      await contend(slugOrId, async () => {
        const prompt = await store.find(id);
        if (prompt === undefined) return notFound(slugOrId);
        id = prompt.id; // From now on the slug can move to another prompt.
        if (prompt.deleting) return prompt.id; // Its mark was set when its If-Match was checked.
        requireMatch(prompt, precondition);
        const at = clock.now();
        const { traceparent, principal } = author;
        const deleted = { promptId: prompt.id, slug: prompt.slug, author: authorOf(principal) };
        const event = promptDeleted(deleted, { eventId: random.uuid(), at, traceparent });
        const entry = auditEntry(author, audited, { at, before: prompt });
        return (await store.markDeleting(prompt, event, entry)) ? prompt.id : undefined;
      });
      await finishDeletion({ store, cascades, relay }, id);
    },

    async listVersions(slugOrId) {
      const prompt = await get(slugOrId);
      return store.listVersions(prompt);
    },
    async restore(slugOrId, number, precondition, author, writeId) {
      const { prompt, version } = await getVersion(slugOrId, () => number);
      return await edit(prompt.id, contentFields.pick(version.content), precondition, author, { writeId });
    },

    async resolve(slugOrId, { version: number, label, draws = false, reach } = {}) {
      let canary: Draw | undefined;
      const select = (found: Prompt): number => {
        if (label === undefined) return number ?? found.version;
        const named = findLabel(found.labels, label);
        if (named === undefined) throw unknownLabel(slugOrId, label);
        if (!draws || named.canary === undefined) return named.version;
        canary = draw(named.canary, clock.now(), random);
        return canary?.arm === 'canary' ? named.canary.version : named.version;
      };
      const { prompt, version } = await getVersion(slugOrId, select, reach);
      const { id, slug, invocationContent } = prompt;
      return { id, slug, version: version.version, content: version.content, invocationContent, canary };
    },
    sweep: () => finishDeletions({ store, cascades, relay }),
    sweepVersions: () => removeOrphans(store.archived, store),
  };
}

/**
 * Makes room for the event of a change.
 * @throws {ProblemError} overloaded
 */
export async function makeRoomFor(
  { id, waiting }: Pick<Prompt, 'id' | 'waiting'>,
  relay: Relay,
  store: Pick<PromptStore, 'find'>,
): Promise<void> {
  if (waiting < outboxCapacity) return;
  await makeRoom(relay, 'prompts', id, async () => (await store.find(id))?.waiting ?? 0);
}

/** An id that no prompt has. */
const noPrompt = 'none';

export function promptNotFound(slugOrId: string): ProblemError {
  return new ProblemError('prompt-not-found', {
    detail: `No prompt has the ${isPromptAlias(slugOrId) ? 'alias' : 'id or slug'} "${slugOrId}".`,
  });
}

export function versionNotFound(slugOrId: string, version: number): ProblemError {
  return new ProblemError('version-not-found', { detail: `The prompt "${slugOrId}" has no version ${version}.` });
}

function unknownLabel(slugOrId: string, label: string): ProblemError {
  return new ProblemError('unknown-label', {
    detail: `The prompt "${slugOrId}" has no label "${label}".`,
    errors: [{ detail: 'is not a label of the prompt', pointer: '#/label' }],
  });
}

function notFound(slugOrId: string): never {
  throw promptNotFound(slugOrId);
}

/** A prompt with a slug that is an operation in paths could only be reached by its id. */
function requireUsableSlug(slug: string | undefined): void {
  if (slug === undefined || !isReserved(slug)) return;
  throw new ProblemError('slug-taken', {
    detail: `The slug "${slug}" is that of an operation.`,
    errors: [{ detail: 'is taken', pointer: '#/slug' }],
  });
}

function slugTaken(slug: string): ProblemError {
  return new ProblemError('slug-taken', {
    detail: `Another prompt has the slug "${slug}".`,
    errors: [{ detail: 'is taken', pointer: '#/slug' }],
  });
}
