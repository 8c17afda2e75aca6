import type { Collection, Filter } from 'mongodb';
import type { Database } from '../db/client.ts';
import type { CollectionIndexes } from '../db/indexes.ts';
import { count, fetchInOrder, isSample, pageIds, walkIds, type Source } from '../db/narrow-reads.ts';
import { createTotals } from '../db/totals.ts';
import { compareAndSet, insertOnce, read, upsertOnce, writeIdempotently, type StampedDocument } from '../db/writes.ts';
import type { Document } from '../fields/fields.ts';
import { gatherReads } from '../runtime/gathered-reads.ts';
import { takePage, type PageBounds } from './page.ts';
import { contentFields, currentVersion, promptFields, type Prompt, type PromptVersion } from './prompt.ts';
import { isPromptId } from './slug.ts';

/** Prompts and their archived versions in the database. Every method throws `database-unavailable` when it must. */
export interface PromptStore {
  /** Stores a new prompt. False when its id or its slug exists already. */
  insert(prompt: Prompt): Promise<boolean>;
  /** The prompt of this id or slug, also while it is being deleted. */
  find(slugOrId: string): Promise<Prompt | undefined>;
  /** The prompts that are not being deleted, the most recently updated first, and how many there are in all. */
  list(text: string | undefined, bounds: PageBounds<Prompt>): Promise<{ prompts: Prompt[]; total: number }>;
  /** Those of the slugs that a prompt has. */
  takenSlugs(slugs: readonly string[]): Promise<ReadonlySet<string>>;
  /** Those of the ids that a prompt has, also while it is being deleted. */
  existing(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Writes a changed prompt if the stored one still has its revision.
   * @returns the prompt as stored; `lost` when someone else was first or the prompt is gone
   */
  replace(prompt: Prompt, writeId: string): Promise<Prompt | 'lost' | 'slug-taken'>;
  /** Marks a prompt that still has this revision as being deleted. False when it is gone or someone else was first. */
  markDeleting(prompt: Prompt): Promise<boolean>;
  /** Ids of some prompts whose deletion has begun. */
  findDeleting(): Promise<string[]>;
  /** Removes a prompt that is marked. */
  remove(id: string): Promise<void>;

  /** Keeps the prompt's current version for good; to be done before the prompt is overwritten. */
  archive(prompt: Prompt): Promise<void>;
  findArchived(promptId: string, version: number): Promise<PromptVersion | undefined>;
  /** The versions up to the prompt's own, the newest first: the current one from the prompt, the others archived. */
  listVersions(prompt: Prompt, bounds: PageBounds<PromptVersion>): Promise<PromptVersion[]>;
  removeArchived(promptId: string): Promise<void>;
  /** Ids of all prompts that have archived versions, some at a time. */
  archivedPromptIds(visit: (ids: readonly string[]) => Promise<void>): Promise<void>;
}

interface PromptDocument extends StampedDocument, Document<typeof promptFields.table> {
  /** Of one prompt in 64. */
  sample?: string;
}

/** A version, under the id `<prompt id>:<version>`. */
interface VersionDocument extends Document<typeof contentFields.table> {
  _id: string;
  prompt_id: string;
  version: number;
  created_at: Date;
}

const promptsName = 'prompts';
const versionsName = 'prompt_versions';

/** One for each way in which prompts and versions are looked up and ordered. */
export const promptIndexes: readonly CollectionIndexes[] = [
  {
    collection: promptsName,
    indexes: [
      { key: { slug: 1 }, name: 'slug_1', unique: true },
      { key: { deleting: 1, updated_at: -1, _id: 1 }, name: 'deleting_1_updated_at_-1__id_1' },
      // One prompt of 64. They tell how the others lie in time: see narrow-reads.ts.
      {
        key: { sample: 1, updated_at: 1 },
        name: 'sample_1_updated_at_1',
        partialFilterExpression: { sample: { $gt: '' } },
      },
    ],
  },
  {
    collection: versionsName,
    indexes: [{ key: { prompt_id: 1, version: -1 }, name: 'prompt_id_1_version_-1' }],
  },
];

/** Prompts that one command reads. Beyond that, SecantusDB takes longer for one of them than a command of its own. */
const readTogether = 32;
/** What samples have in common. */
const everySample = 'all';
/** Bytes from which on documents that are fetched together are not followed by more: they may have a megabyte each. */
const largeFrom = 1024 * 1024;
/** Prompts whose deletion is gone on with at a time. */
const deletingAtOnce = 500;
/** Versions that one command removes. */
const removedAtOnce = 50;
/** More than any prompt has versions. */
const maxVersions = 2 ** 31;

/** Keeps prompts in the collection `prompts` and their earlier versions in `prompt_versions`. */
export function createPromptStore(database: Database): PromptStore {
  const prompts: Collection<PromptDocument> = database.db.collection(promptsName);
  const versions: Collection<VersionDocument> = database.db.collection(versionsName);
  const totals = createTotals();
  const find = gatherReads((slugsOrIds) => findAll(prompts, slugsOrIds), fromPromptDocument, { largest: readTogether });

  return {
    async insert(prompt) {
      const document = {
        ...promptFields.toDocument(prompt),
        ...(isSample(prompt.id) ? { sample: everySample } : {}),
      };
      return (await insertOnce(prompts, document)).outcome === 'done';
    },
    find,
    async list(text, bounds) {
      const source: Source<PromptDocument> = {
        ...{ collection: prompts, where: { deleting: false }, time: 'updated_at', span: {} },
        ...{ samples: { sample: everySample }, samplesPerPart: 1 },
        ...(text === undefined ? {} : { rest: containing(text) }),
      };
      const ids = await pageIds(source, bounds.limit, bounds.offset);
      const found = mapped(fetchInOrder(prompts, ids, { largeFrom }), fromPromptDocument);
      const page = await takePage(found, { ...bounds, limit: ids.length });
      const total = await totals.of(text ?? '', () => count(source));
      return { prompts: page, total: Math.max(total, page.length === 0 ? 0 : bounds.offset + page.length) };
    },
    async takenSlugs(slugs) {
      const filter = { slug: { $in: [...slugs] } };
      const found = await read(() => prompts.find(filter, { projection: { slug: 1 } }).toArray());
      return new Set(found.map(({ slug }) => slug));
    },
    async existing(ids) {
      const filter = { _id: { $in: [...ids] } };
      const found = await read(() => prompts.find(filter, { projection: { _id: 1 } }).toArray());
      return new Set(found.map(({ _id }) => _id));
    },
    async replace(prompt, writeId) {
      const change = promptFields.toUpdate(prompt);
      const result = await compareAndSet(prompts, { id: prompt.id, revision: prompt.revision, change }, { writeId });
      if (result.outcome === 'duplicate') return 'slug-taken';
      return result.outcome === 'done' ? { ...prompt, revision: result.revision } : 'lost';
    },
    async markDeleting({ id, revision }) {
      const result = await compareAndSet(prompts, { id, revision, change: { $set: { deleting: true } } });
      return result.outcome === 'done';
    },
    async findDeleting() {
      const options = { projection: { _id: 1 }, limit: deletingAtOnce };
      const found = await read(() => prompts.find({ deleting: true }, options).toArray());
      return found.map(({ _id }) => _id);
    },
    async remove(id) {
      await writeIdempotently(() => prompts.deleteOne({ _id: id, deleting: true }));
    },

    async archive(prompt) {
      await upsertOnce(versions, toVersionDocument(currentVersion(prompt)));
    },
    async findArchived(promptId, version) {
      const document = await read(() => versions.findOne({ _id: versionId(promptId, version) }));
      return document === null ? undefined : fromVersionDocument(document);
    },
    async listVersions(prompt, bounds) {
      const newest = prompt.version - bounds.offset;
      const oldest = Math.max(1, newest - bounds.limit + 1);
      const ids: string[] = [];
      for (let version = Math.min(newest, prompt.version - 1); version >= oldest; version -= 1) {
        ids.push(versionId(prompt.id, version));
      }
      const archived = mapped(fetchInOrder(versions, ids, { largeFrom }), fromVersionDocument);
      return takePage(bounds.offset === 0 ? preceded(currentVersion(prompt), archived) : archived, bounds);
    },
    async removeArchived(promptId) {
      // A removal that was interrupted has left a gap below.
      for (let done = 0, width = removedAtOnce; done < maxVersions;) {
        const filter = { prompt_id: promptId, version: { $gt: done, $lt: done + width + 1 } };
        const { deletedCount } = await writeIdempotently(() => versions.deleteMany(filter));
        done += width;
        width = deletedCount > 0 ? removedAtOnce : width * 8;
      }
    },
    async archivedPromptIds(visit) {
      await walkIds('', async (range) => {
        const found = await read(() => versions.find({ prompt_id: range }, { projection: { prompt_id: 1 } }).toArray());
        await visit([...new Set(found.map(({ prompt_id }) => prompt_id))]);
        return { documents: found.length };
      });
    },
  };
}

/** The id under which a version is archived. */
function versionId(promptId: string, version: number): string {
  return `${promptId}:${version}`;
}

function toVersionDocument({ promptId, version, content, createdAt }: PromptVersion): VersionDocument {
  const archived = { _id: versionId(promptId, version), prompt_id: promptId, version, created_at: createdAt };
  return { ...archived, ...contentFields.toDocument(content) };
}

function fromVersionDocument(document: VersionDocument): PromptVersion {
  return {
    promptId: document.prompt_id,
    version: document.version,
    content: contentFields.fromDocument(document),
    createdAt: document.created_at,
  };
}

function fromPromptDocument(document: PromptDocument): Prompt {
  return { ...promptFields.fromDocument(document), revision: document.revision, writes: document.writes };
}

/** Finds prompts by their ids and slugs. A filter that has both walks the collection on some servers. */
async function findAll(
  prompts: Collection<PromptDocument>,
  slugsOrIds: readonly string[],
): Promise<Map<string, PromptDocument>> {
  const ids = slugsOrIds.filter(isPromptId);
  const slugs = slugsOrIds.filter((slugOrId) => !isPromptId(slugOrId));
  const documents = (filter: Filter<PromptDocument>): Promise<PromptDocument[]> =>
    read(() => prompts.find(filter).toArray());
  const [byId, bySlug] = await Promise.all([
    ids.length === 0 ? [] : documents({ _id: { $in: ids } }),
    slugs.length === 0 ? [] : documents({ slug: { $in: slugs } }),
  ]);
  return new Map([
    ...byId.map((document) => [document._id, document] as const),
    ...bySlug.map((document) => [document.slug, document] as const),
  ]);
}

/** Matches prompts whose name, slug or description contains the text, whatever its case. */
function containing(text: string): Filter<PromptDocument> {
  const contains = { $regex: literal(text), $options: 'i' };
  return { $or: [{ name: contains }, { slug: contains }, { description: contains }] };
}

/** A regular expression that matches just this text. A pattern cannot hold NUL; other control characters are safer spelt too. */
function literal(text: string): string {
  return text
    .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    .replace(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

async function* mapped<Document, Item>(
  documents: AsyncIterable<Document>,
  map: (document: Document) => Item,
): AsyncGenerator<Item> {
  for await (const document of documents) yield map(document);
}

async function* preceded<Item>(first: Item, others: AsyncIterable<Item>): AsyncGenerator<Item> {
  yield first;
  yield* others;
}
