import { MongoBulkWriteError, type Collection, type Document, type OptionalUnlessRequiredId } from 'mongodb';
import { withRetry, type RetryOptions } from './retry.ts';

/** Documents that one command inserts. */
const insertedAtOnce = 1_000;
const duplicateKey = 11_000;

/**
 * Inserts the documents whose ids are not taken; existing documents do not change. One command with many documents
 * costs little more than one with a single document. For documents whose ids follow from their content, in collections
 * without another unique index. Running it again changes nothing.
 *
 * @returns ids that were taken, by others or by an earlier attempt of this call whose answer was lost
 * @throws ProblemError `database-unavailable`; some of the documents may already be inserted
 */
export async function insertMissing<T extends Document & { _id: string }>(
  collection: Collection<T>,
  documents: readonly T[],
  retry: RetryOptions = {},
): Promise<string[]> {
  const taken: string[] = [];
  for (let start = 0; start < documents.length; start += insertedAtOnce) {
    const chunk = documents.slice(start, start + insertedAtOnce);
    taken.push(...(await withRetry(() => insertChunk(collection, chunk), retry)));
  }
  return taken;
}

async function insertChunk<T extends Document & { _id: string }>(
  collection: Collection<T>,
  chunk: readonly T[],
): Promise<string[]> {
  try {
    await collection.insertMany(chunk as readonly OptionalUnlessRequiredId<T>[], { ordered: false });
    return [];
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failures = [error.writeErrors].flat();
    // A write that no majority confirmed is not done. Any other error is a mistake in the program.
    if (error.result.getWriteConcernError() !== undefined || failures.length === 0) throw error;
    if (failures.some(({ code }) => code !== duplicateKey)) throw error;
    return failures.flatMap(({ index }) => chunk[index]?._id ?? []);
  }
}
