import type { Db } from 'mongodb';
import { read } from './writes.ts';

/** The server leaves out documents above 16 MiB, so from this size on what was not found is looked for again. */
const cutFrom = 1024 * 1024;

/**
 * Reads documents by the values of a unique field. It sends the command itself, because a cursor of the driver costs a
 * fifth more CPU.
 *
 * @param parse makes an object of a document in BSON
 * @throws ProblemError `database-unavailable`
 */
export async function readByValue<Document, Name extends keyof Document & string>(
  db: Db,
  { collection, field }: { readonly collection: string; readonly field: Name },
  values: readonly Document[Name][],
  parse: (bytes: Uint8Array) => Document,
): Promise<Map<Document[Name], Document>> {
  const found = new Map<Document[Name], Document>();
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
      found.set(parsed[field], parsed);
    }
    rest = bytes < cutFrom ? [] : rest.filter((value) => !found.has(value));
  }
  return found;
}
