import { BSON, type Db } from 'mongodb';
import { gatherReads } from '../../base/runtime/gathered-reads.ts';
import { read } from './writes.ts';

/** The server leaves out documents above 16 MiB, so from this size on what was not found is looked for again. */
const cutFrom = 1024 * 1024;

/**
 * Reads documents by the values of a unique field, or of an array whose values are unique. It sends the command itself,
 * because a cursor of the driver costs a fifth more CPU.
 *
 * @param parse makes an object of a document in BSON
 * @throws ProblemError `database-unavailable`
 */
export async function readByValue<Document>(
  db: Db,
  { collection, field }: { readonly collection: string; readonly field: keyof Document & string },
  values: readonly string[],
  parse: (bytes: Uint8Array) => Document,
): Promise<Map<string, Document>> {
  const found = new Map<string, Document>();
  for (let rest = values; rest.length > 0;) {
    const command = {
      find: collection,
      filter: { [field]: { $in: rest } },
      limit: rest.length,
      singleBatch: true,
      readConcern: db.readConcern,
    };
    const { cursor } = await read(() => db.command(command, { fieldsAsRaw: { firstBatch: true } }));
    const batch = (cursor as { firstBatch: readonly Uint8Array[] }).firstBatch;
    let bytes = 0;
    for (const document of batch) {
      bytes += document.length;
      const parsed = parse(document);
      const value = parsed[field] as string | readonly string[];
      if (typeof value === 'string') found.set(value, parsed);
      else for (const one of value) found.set(one, parsed);
    }
    rest = bytes < cutFrom ? [] : rest.filter((value) => !found.has(value));
  }
  return found;
}

/** Ids that one command looks up; on some servers the time grows with their square. */
const idsAtOnce = 100;

/** Reads by id that callers share. */
export interface ReadsById<Item> {
  find(id: string): Promise<Item | undefined>;
  /** Those that exist, by id. */
  findAll(ids: readonly string[]): Promise<ReadonlyMap<string, Item>>;
}

/**
 * Creates reads by id of small documents that many callers need at the same time: what is wanted during a read is read
 * together by the next command. Nothing is older than its request.
 */
export function gatherReadsById<Document extends { readonly _id: string }, Item>(
  db: Db,
  collection: string,
  toItem: (document: Document) => Item,
): ReadsById<Item> {
  const parse = (bytes: Uint8Array): Document => BSON.deserialize(bytes) as Document;
  const find = gatherReads((ids) => readByValue<Document>(db, { collection, field: '_id' }, ids, parse), toItem, {
    largest: idsAtOnce,
  });
  return {
    find,
    async findAll(ids) {
      const found = await Promise.all(
        [...new Set(ids)].map(async (id): Promise<[string, Item] | undefined> => {
          const item = await find(id);
          return item === undefined ? undefined : [id, item];
        }),
      );
      return new Map(found.filter((entry) => entry !== undefined));
    },
  };
}
