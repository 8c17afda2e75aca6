import type { AuthorRef } from '../base/limits/principal.ts';
import { LRUCache } from 'lru-cache';
import { BSON, type Collection, type Db, type Filter, type UpdateFilter } from 'mongodb';
import { auditIndex, firstAudit, handOver, pushAudit, type AuditEntry } from '../storage/db/audit.ts';
import type { CollectionIndexes } from '../storage/db/indexes.ts';
import type { PagedDatabase } from '../storage/db/pages.ts';
import { readByValue } from '../storage/db/raw-reads.ts';
import {
  compareAndSet,
  insertOnce,
  read,
  upsertOnce,
  writeIdempotently,
  type StampedDocument,
} from '../storage/db/writes.ts';
import type { Document } from '../base/fields/fields.ts';
import type { Listing, Position } from '../base/lists/listing.ts';
import { gatherReads } from '../base/runtime/gathered-reads.ts';
import { defined } from '../base/runtime/objects.ts';
import { oncePerObject } from '../base/runtime/once-per-object.ts';
import type { OutboxEntry } from '../webhooks/events/event.ts';
import { outboxIndex, pushEvents, toOutboxDocuments, type WithOutbox } from '../webhooks/events/outbox.ts';
import { createArchive, numberedEntries, type Archive } from './archive-store.ts';
import { isOfInterest } from './evaluations/canaries/canary.ts';
import { contentFields, currentVersion, promptFields } from './prompt.ts';
import type { ListedVersion, Prompt, PromptName, PromptVersion } from './prompt.ts';
import { isPromptAlias, isPromptId } from './slug.ts';

/** Prompts and their archived versions in the database. Every method can throw `database-unavailable`. */
export interface PromptStore {
  /** Stores a new prompt. False if its id, its slug or one of its aliases already exists. */
  insert(prompt: Prompt, events: readonly OutboxEntry[], entry: AuditEntry): Promise<boolean>;
  /** The prompt with this id, slug or alias, also while it is being deleted. */
  find(slugOrId: string): Promise<Prompt | undefined>;
  /**
   * The prompts that are not being deleted, the most recently updated first.
   * @param text only those that contain it
   * @param ids only these
   */
  list(text: string | undefined, ids: ReadonlySet<string> | undefined): Listing<Prompt>;
  /** The prompts that were updated most recently, without their content. @param most at most this number */
  listNames(most: number, ids: ReadonlySet<string> | undefined): Promise<PromptName[]>;
  /**
   * All prompts of a list in its order, without their content. What is updated or created while they are read has its
   * new place.
   */
  listAll(text: string | undefined, ids: ReadonlySet<string> | undefined): Promise<PlacedPrompt[]>;
  /** The slugs for which a prompt exists. */
  takenSlugs(slugs: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Prompts in the order of their ids, also those that are being deleted; undefined for one that no longer exists. Each
   * can have a megabyte, and up to a hundred are read together.
   */
  fetch(ids: readonly string[]): AsyncIterable<Prompt | undefined>;
  /** The ids for which a prompt exists, also while it is being deleted. */
  existing(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Writes a changed prompt if the stored one still has this revision.
   * @returns the prompt as stored; `lost` if another writer was first or the prompt no longer exists; `taken` if another
   *   prompt has the slug or an alias
   */
  replace(
    prompt: Prompt,
    events: readonly OutboxEntry[],
    entry: AuditEntry,
    writeId: string,
  ): Promise<Prompt | 'lost' | 'taken'>;
  /**
   * Writes the labels, or the gates, of a prompt if the stored one still has this revision. Nothing else changes. False if
   * another writer was first or the prompt no longer exists.
   */
  replaceLabels(
    prompt: Prompt,
    change: LabelChange,
    events: readonly OutboxEntry[],
    entry: AuditEntry,
    writeId: string,
  ): Promise<boolean>;
  /** Which of these versions of data sets gates name. */
  gatedVersions(datasetVersionIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Whether a gate names a data set. */
  isGated(datasetId: string): Promise<boolean>;
  /** Some prompts with labels that have a canary, or had one that failed. */
  findWithCanaries(most: number): Promise<Prompt[]>;
  /**
   * Marks a prompt that still has this revision as being deleted. False if it no longer exists or another writer was
   * first.
   */
  markDeleting(prompt: Prompt, event: OutboxEntry, entry: AuditEntry): Promise<boolean>;
  /** Ids of some prompts whose deletion has begun. */
  findDeleting(): Promise<string[]>;
  /** Removes a marked prompt, unless events of it wait. @returns whether it no longer exists */
  remove(id: string): Promise<boolean>;
  /** Lets other prompts have the slug and the aliases of a marked one. */
  giveUpNames(id: string): Promise<void>;

  /** Archives the prompt's current version. Call it before the prompt is overwritten. */
  archive(prompt: Prompt): Promise<void>;
  findArchived(promptId: string, version: number): Promise<PromptVersion | undefined>;
  /** The versions before the prompts' own: in the order of the prompts, the oldest of each first. */
  archivedVersions(prompts: readonly Pick<Prompt, 'id' | 'version'>[]): AsyncIterable<PromptVersion>;
  /** Archived versions in the order of their names, as `fetch` reads prompts; undefined for one that no longer exists. */
  fetchArchived(names: readonly VersionName[]): AsyncIterable<PromptVersion | undefined>;
  /** The versions up to the prompt's own, the newest first: the current one from the prompt, the others archived. */
  listVersions(prompt: Prompt): Listing<ListedVersion>;
  readonly archived: Archive;
}

/** A prompt without its content, and its place in the list. */
export interface PlacedPrompt extends Position {
  readonly slug: string;
}

/** What becomes of labels and gates. */
export type LabelChange = Partial<Pick<Prompt, 'labels' | 'deletedLabel' | 'gates'>>;

/** Names an archived version. */
export type VersionName = Pick<PromptVersion, 'promptId' | 'version'>;

/** There is no outbox before an event is announced. */
interface PromptDocument extends StampedDocument, Document<typeof promptFields.table>, Partial<WithOutbox> {}

/** A version, under the id `<prompt id>:<version>`. */
interface VersionDocument extends Document<typeof contentFields.table> {
  _id: string;
  prompt_id: string;
  version: number;
  created_at: Date;
  author: AuthorRef;
  note?: string;
}

const promptsName = 'prompts';
const versionsName = 'prompt_versions';

/** One index for each way in which prompts and versions are found and ordered. */
export const promptIndexes: readonly CollectionIndexes[] = [
  {
    collection: promptsName,
    indexes: [
      { key: { slug: 1 }, name: 'slug_1', unique: true },
      { key: { aliases: 1 }, name: 'aliases_1', unique: true, partialFilterExpression: { aliases: { $gt: '' } } },
      { key: { 'gates.dataset_id': 1 }, name: 'gates.dataset_id_1', sparse: true },
      { key: { 'gates.dataset_version_id': 1 }, name: 'gates.dataset_version_id_1', sparse: true },
      { key: { deleting: 1, updated_at: -1, _id: 1 }, name: 'deleting_1_updated_at_-1__id_1' },
      { key: { has_rollout: 1 }, name: 'has_rollout_1', partialFilterExpression: { has_rollout: true } },
      auditIndex,
      outboxIndex,
    ],
  },
  {
    collection: versionsName,
    indexes: [{ key: { prompt_id: 1, version: -1 }, name: 'prompt_id_1_version_-1' }],
  },
];

/** Bytes of the documents that are remembered with what was made of them. */
const rememberedBytes = 8 * 1024 * 1024;
/** Prompts that one command reads. With more, SecantusDB takes longer than with separate commands. */
const readTogether = 32;
/** Bytes after which no further documents are fetched together: each can have a megabyte. */
const largeFrom = 1024 * 1024;
/** Prompts whose deletion is continued in one call. */
const deletingAtOnce = 500;

/** Keeps prompts in the collection `prompts` and their earlier versions in `prompt_versions`. */
export function createPromptStore(database: PagedDatabase): PromptStore {
  const prompts: Collection<PromptDocument> = database.db.collection(promptsName);
  const versions: Collection<VersionDocument> = database.db.collection(versionsName);
  const parse = createParser();
  const find = gatherReads((keys) => findAll(database.db, keys, parse), oncePerObject(fromPromptDocument), {
    largest: readTogether,
  });
  const { pages } = database;
  const listByTime = pages.listsOf(fromPromptDocument, { largeFrom });
  const listNames = pages.listsOf<PromptDocument, PromptName>(toPromptName, { projection: { slug: 1, created_at: 1 } });
  const all = { collection: prompts, where: { deleting: false }, time: 'updated_at' } as const;

  return {
    async insert(prompt, events, entry) {
      const outbox = toOutboxDocuments(events);
      const document = { ...promptFields.toDocument(prompt), outbox, ...firstAudit(entry) };
      return (await insertOnce(prompts, document)).outcome === 'done';
    },
    find,
    list: (text, ids) => listByTime({ ...all, rest: matching(text, ids) }),
    async listNames(most, ids) {
      const source = { ...all, rest: matching(undefined, ids) };
      const found = await Array.fromAsync(listNames(source).entries({ offset: 0 }, most));
      return found.flatMap(([, name]) => name ?? []);
    },
    async listAll(text, ids) {
      const source = { ...all, ties: 'descending', rest: matching(text, ids) } as const;
      const found = new Map<string, PlacedPrompt>();
      // The earliest first: one that is updated meanwhile is found again, at its new place.
      for await (const some of pages.walk(source, { projection: { slug: 1, updated_at: 1 } })) {
        for (const { _id: id, slug, updated_at } of some) {
          found.delete(id);
          found.set(id, { id, slug, at: updated_at.getTime() });
        }
      }
      return [...found.values()].reverse();
    },
    async takenSlugs(slugs) {
      const filter = { slug: { $in: [...slugs] } };
      const found = await read(() => prompts.find(filter, { projection: { slug: 1 } }).toArray());
      return new Set(found.map(({ slug }) => slug));
    },
    async *fetch(ids) {
      for await (const [, document] of pages.fetch(prompts, ids)) {
        yield document === undefined ? undefined : fromPromptDocument(document);
      }
    },
    existing: (ids) => pages.existing(prompts, ids),
    async replace(prompt, events, entry, writeId) {
      const change = { ...promptFields.toUpdate(prompt), $push: { ...pushEvents(events), ...pushAudit(entry) } };
      const result = await compareAndSet(prompts, { id: prompt.id, revision: prompt.revision, change }, { writeId });
      if (result.outcome === 'duplicate') return 'taken';
      return result.outcome === 'done' ? { ...prompt, revision: result.revision } : 'lost';
    },
    async replaceLabels({ id, revision, labelWrites }, { labels, gates, ...rest }, events, entry, writeId) {
      const values = {
        ...rest,
        ...(labels && {
          labels: labels.length === 0 ? undefined : labels,
          hasCanary: labels.some(({ canary }) => isOfInterest(canary)) ? (true as const) : undefined,
        }),
        ...(gates && { gates: gates.length === 0 ? undefined : gates }),
        labelWrites: labelWrites + 1,
      };
      const change = { ...promptFields.toUpdate(values), $push: { ...pushEvents(events), ...pushAudit(entry) } };
      return (await compareAndSet(prompts, { id, revision, change }, { writeId })).outcome === 'done';
    },
    async gatedVersions(ids) {
      const filter: Filter<PromptDocument> = { 'gates.dataset_version_id': { $in: [...ids] } };
      const found = await read(() => prompts.find(filter, { projection: { gates: 1 } }).toArray());
      return new Set(found.flatMap(({ gates = [] }) => gates.map((gate) => gate.dataset_version_id)));
    },
    async isGated(datasetId) {
      const filter: Filter<PromptDocument> = { 'gates.dataset_id': datasetId };
      return (await read(() => prompts.findOne(filter, { projection: { _id: 1 } }))) !== null;
    },
    async markDeleting({ id, revision }, event, entry) {
      const change = { $set: { deleting: true }, $push: { ...pushEvents([event]), ...pushAudit(entry) } };
      const result = await compareAndSet(prompts, { id, revision, change });
      return result.outcome === 'done';
    },
    async findWithCanaries(most) {
      const found = await read(() => prompts.find({ has_rollout: true }, { limit: most }).toArray());
      return found.map(fromPromptDocument).filter(({ deleting }) => !deleting);
    },
    async findDeleting() {
      const options = { projection: { _id: 1 }, limit: deletingAtOnce };
      const found = await read(() => prompts.find({ deleting: true }, options).toArray());
      return found.map(({ _id }) => _id);
    },
    async remove(id) {
      await handOver(database.db, promptsName, id);
      await writeIdempotently(() => prompts.deleteOne({ _id: id, deleting: true, 'outbox.0': { $exists: false } }));
      return (await pages.existing(prompts, [id])).size === 0;
    },
    async giveUpNames(id) {
      // No slug has the form of an id.
      const change = { $set: { slug: id }, $unset: { aliases: '' } } as UpdateFilter<PromptDocument>;
      await writeIdempotently(() => prompts.updateOne({ _id: id, deleting: true }, change));
    },

    async archive(prompt) {
      await upsertOnce(versions, toVersionDocument(currentVersion(prompt)));
    },
    async findArchived(promptId, version) {
      const document = await read(() => versions.findOne({ _id: versionId(promptId, version) }));
      return document === null ? undefined : fromVersionDocument(document);
    },
    async *archivedVersions(of) {
      const ids = of.flatMap(({ id, version }) =>
        Array.from({ length: version - 1 }, (_, index) => versionId(id, index + 1)),
      );
      for await (const [, document] of pages.fetch(versions, ids, { largeFrom })) {
        if (document !== undefined) yield fromVersionDocument(document);
      }
    },
    async *fetchArchived(names) {
      const ids = names.map(({ promptId, version }) => versionId(promptId, version));
      for await (const [, document] of pages.fetch(versions, ids)) {
        yield document && fromVersionDocument(document);
      }
    },
    listVersions: (prompt) => ({
      entries: (start, most) =>
        numberedEntries<ListedVersion>(start, most, {
          last: prompt.version,
          current: { version: currentVersion(prompt), isCurrent: true },
          async *archived(numbers) {
            const ids = numbers.map((version) => versionId(prompt.id, version));
            for await (const [, document] of pages.fetch(versions, ids, { largeFrom })) {
              yield document && { version: fromVersionDocument(document), isCurrent: false };
            }
          },
        }),
      total: () => Promise.resolve(prompt.version),
    }),
    archived: createArchive(pages, versions, 'version'),
  };
}

/** The id under which a version is archived. */
function versionId(promptId: string, version: number): string {
  return `${promptId}:${version}`;
}

function toVersionDocument({ promptId, version, content, createdAt, author, note }: PromptVersion): VersionDocument {
  const archived = { _id: versionId(promptId, version), prompt_id: promptId, version, created_at: createdAt, author };
  return { ...archived, ...defined({ note }), ...contentFields.toDocument(content) };
}

function fromVersionDocument(document: VersionDocument): PromptVersion {
  return {
    promptId: document.prompt_id,
    version: document.version,
    content: contentFields.fromDocument(document),
    createdAt: document.created_at,
    author: document.author,
    note: document.note,
  };
}

function fromPromptDocument(document: PromptDocument): Prompt {
  const { revision, writes, outbox = [] } = document;
  return { ...promptFields.fromDocument(document), revision, writes, waiting: outbox.length };
}

function toPromptName({ _id, slug, created_at }: Pick<PromptDocument, '_id' | 'slug' | 'created_at'>): PromptName {
  return { id: _id, slug, createdAt: created_at };
}

/**
 * Parses documents. The same bytes give the same object, so that everything that follows from a prompt is made once,
 * although each request reads it.
 */
function createParser(): (bytes: Uint8Array) => PromptDocument {
  const known = new LRUCache<string, PromptDocument>({
    maxSize: rememberedBytes,
    sizeCalculation: (_document, text) => text.length,
  });
  return (bytes) => {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    let document = known.get(text);
    if (document === undefined) known.set(text, (document = BSON.deserialize(bytes) as PromptDocument));
    return document;
  };
}

/**
 * Finds prompts by their ids, slugs and aliases, each in a command of its own: a filter with several fields walks the
 * collection on some servers.
 */
async function findAll(
  db: Db,
  names: readonly string[],
  parse: (bytes: Uint8Array) => PromptDocument,
): Promise<ReadonlyMap<string, PromptDocument>> {
  const [ids, slugs, aliases]: [string[], string[], string[]] = [[], [], []];
  for (const name of names) (isPromptId(name) ? ids : isPromptAlias(name) ? aliases : slugs).push(name);
  const [byId, bySlug, byAlias] = await Promise.all([
    readByValue(db, { collection: promptsName, field: '_id' }, ids, parse),
    readByValue(db, { collection: promptsName, field: 'slug' }, slugs, parse),
    readByValue(db, { collection: promptsName, field: 'aliases' }, aliases, parse),
  ]);
  return new Map([...byId, ...bySlug, ...byAlias]);
}

/** @returns undefined if every prompt matches */
function matching(text: string | undefined, ids: ReadonlySet<string> | undefined): Filter<PromptDocument> | undefined {
  if (text === undefined && ids === undefined) return undefined;
  return { ...(ids && { _id: { $in: [...ids] } }), ...(text !== undefined && containing(text)) };
}

/** Matches prompts whose name, slug or description contains the text in any case. */
function containing(text: string): Filter<PromptDocument> {
  const contains = { $regex: literal(text), $options: 'i' };
  return { $or: [{ name: contains }, { slug: contains }, { description: contains }] };
}

/**
 * A regular expression that matches exactly this text. A pattern cannot contain NUL, so control characters are escaped.
 */
function literal(text: string): string {
  return text
    .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    .replace(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
