/**
 * The schema version of the data: one document, which also has the lease of the process that migrates. Every write
 * increments its revision, so a revision that does not change shows that the holder of the lease has ended.
 *
 * 1.0.0 has the first version that is read. It is not 1: data of commits before 1.0.0 has 1 to 6, or none, and is refused.
 */
import type { Collection, Db } from 'mongodb';
import { retryLostRaces } from '../../base/editing/lost-races.ts';
import { CHECK_COLLECTION, DatabaseStartError } from './client.ts';
import type { IndexName } from './indexes.ts';
import type { Migration } from './migrations/migration.ts';
import type { PagedDatabase } from './pages.ts';
import { compareAndSet, insertOnce, read, type Change, type StampedDocument, type WriteOptions } from './writes.ts';

export interface SchemaDocument extends StampedDocument {
  /** The last migration that is complete. */
  version: number;
  /** Releases that know no later version than this minus 1 cannot read the data. */
  oldest_reader: number;
  /** The releases that used the data, the newest last. */
  releases: { release: string; schema_version: number; since: Date }[];
  /** The process that migrates. */
  holder?: string;
  /** The index that it builds. Some servers leave an incomplete index behind if they are killed during the build. */
  building?: IndexName;
}

/** Of 1.0.0. */
const firstVersion = 7;
/** The last commit that reads data of a schema before the first version. */
const lastEarlierReader = '6a63eef0';

const documentId = 'schema';
const keptReleases = 16;

/** What a release knows. */
export interface Release {
  /** Of the service, such as `1.2.0`. */
  readonly name: string;
  readonly migrations: readonly Migration[];
}

/** The newest schema version that a release knows. */
export function knownVersion({ migrations }: Release): number {
  return migrations.at(-1)?.version ?? firstVersion;
}

export interface Schema {
  readonly release: Release;
  /** The version as this process has read it last. */
  version(): number;
  /** The smallest version that a release must know to read the data. */
  oldestReader(): number;
  read(): Promise<SchemaDocument>;
  /** Changes the document if it still has this revision. @returns the document after the write; undefined if not */
  change(
    seen: SchemaDocument,
    change: Change<SchemaDocument>,
    options?: WriteOptions,
  ): Promise<SchemaDocument | undefined>;
}

/**
 * Reads the schema version, or creates it: a new database has that of the release.
 *
 * @throws DatabaseStartError when the release is too old for the data, or the data is older than the first version
 * @throws ProblemError `database-unavailable`
 */
export async function openSchema(database: PagedDatabase, release: Release, now: Date): Promise<Schema> {
  const documents: Collection<SchemaDocument> = database.db.collection('schema');
  let last: SchemaDocument;
  const schema: Schema = {
    release,
    version: () => last.version,
    oldestReader: () => last.oldest_reader,
    async read() {
      const found = await read(() => documents.findOne({ _id: documentId }));
      if (found === null) throw new Error('The document with the schema version is gone.');
      return (last = found);
    },
    async change(seen, change, options) {
      const { revision } = seen;
      const result = await compareAndSet(documents, { id: documentId, revision, change }, options);
      if (result.outcome !== 'done') return undefined;
      const found = await schema.read();
      return found;
    },
  };

  // Another process may create the document while this one finds out whether the database is new.
  const isNew = (await isMissing(documents)) && (await isEmpty(database.db));
  if (isNew) {
    await insertOnce(documents, {
      _id: documentId,
      version: knownVersion(release),
      oldest_reader: Math.max(firstVersion, ...release.migrations.map(({ oldestReader = 0 }) => oldestReader)),
      releases: [],
    });
  } else if (await isMissing(documents)) throw tooOld('no schema version');
  last = await schema.read();
  refuseUnreadable(last, release);
  await addRelease(schema, now);
  return schema;
}

/**
 * The schema version for a process that changes nothing.
 *
 * @returns undefined if a start that may write would change it: the data is to be migrated
 * @throws DatabaseStartError when the release is too old for the data, or the data is older than the first version
 * @throws ProblemError `database-unavailable`
 */
export async function readSchema(
  { db }: PagedDatabase,
  release: Release,
): Promise<Pick<SchemaDocument, 'version' | 'oldest_reader'> | undefined> {
  const documents: Collection<SchemaDocument> = db.collection('schema');
  const found = await read(() => documents.findOne({ _id: documentId }));
  if (found === null) throw tooOld('no schema version');
  refuseUnreadable(found, release);
  const { version, building } = found;
  const isDone = version >= knownVersion(release) && building === undefined;
  return isDone ? found : undefined;
}

async function isMissing(documents: Collection<SchemaDocument>): Promise<boolean> {
  return (await read(() => documents.findOne({ _id: documentId }))) === null;
}

/** Whether no release has used the database before. */
async function isEmpty(db: Db): Promise<boolean> {
  const collections = await read(() => db.listCollections({}, { nameOnly: true }).toArray());
  return collections.every(({ name }) => name === CHECK_COLLECTION);
}

/** @param version of the data, for the message */
function tooOld(version: string): DatabaseStartError {
  return new DatabaseStartError(
    `The data has ${version}: a development version before 1.0.0 wrote it, and this release cannot read it. Nothing was ` +
      `changed. Commit ${lastEarlierReader} is the last that reads such data. To start anew, use an empty database, or an ` +
      'empty folder as DATA_DIR (guide "Upgrade and roll back").',
  );
}

function refuseUnreadable({ version, oldest_reader, releases }: SchemaDocument, release: Release): void {
  if (version < firstVersion) throw tooOld(`schema version ${version}`);
  const known = knownVersion(release);
  if (known >= oldest_reader) return;
  const writer = releases.findLast(({ schema_version }) => schema_version >= oldest_reader)?.release;
  const newer = writer === undefined ? 'a later release' : `prompt-gateway ${writer}`;
  throw new DatabaseStartError(
    `The data has schema version ${version}, written by ${newer}. Releases that do not know version ${oldest_reader} ` +
      `cannot read it; this is prompt-gateway ${release.name}, which knows versions up to ${known}. Nothing was ` +
      `changed. Start ${newer} or a later one, or restore a backup from before that upgrade (guide "Upgrade and roll ` +
      'back").',
  );
}

async function addRelease(schema: Schema, now: Date): Promise<void> {
  const own = { release: schema.release.name, schema_version: knownVersion(schema.release) };
  await repeat(schema, ({ releases }) => {
    const known = releases.some(
      ({ release, schema_version }) => release === own.release && schema_version === own.schema_version,
    );
    return known ? undefined : { $push: { releases: { $each: [{ ...own, since: now }], $slice: -keptReleases } } };
  });
}

/** Makes a change, however often other processes are first. @param decide returns undefined if none is needed */
async function repeat(
  schema: Schema,
  decide: (document: SchemaDocument) => Change<SchemaDocument> | undefined,
): Promise<void> {
  await retryLostRaces(async () => {
    const seen = await schema.read();
    const change = decide(seen);
    return change === undefined || (await schema.change(seen, change)) !== undefined ? true : undefined;
  });
}
