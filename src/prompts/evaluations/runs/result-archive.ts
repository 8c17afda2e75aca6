/**
 * The results of evaluations, in object storage: JSON Lines, a case a line, in objects of up to a hundred cases. Their
 * names are `evaluations/<id>/<k>-<random>.jsonl`.
 */
import type { BlobStore } from '../../../storage/blobs/blob-store.ts';
import { storageUnavailable } from '../../../storage/blobs/blob-store.ts';
import { withPresentNames } from '../../generation/earlier-results.ts';
import type { Random } from '../../../base/runtime/random.ts';

/** Every method can throw `storage-unavailable`. */
export interface EvaluationResults {
  /** Resolves if objects can be stored now. */
  check(): Promise<void>;
  /** A name that no other object has. @param index how many objects precede it */
  nameOf(id: string, index: number): string;
  put(name: string, lines: readonly string[]): Promise<void>;
  /** @param signal ends the wait for the storage */
  read(name: string, signal: AbortSignal): Promise<Buffer>;
  delete(name: string): Promise<void>;
}

export function createEvaluationResults(blobs: BlobStore, random: Pick<Random, 'uuid'>): EvaluationResults {
  return {
    check: () => blobs.check(),
    nameOf: (id, index) => `evaluations/${id}/${index}-${random.uuid()}.jsonl`,
    put: (name, lines) => blobs.put(name, Buffer.from(lines.map((line) => `${line}\n`).join('')), 'application/jsonl'),
    async read(name, signal) {
      const found = await blobs.open(name, signal);
      if (found === undefined) throw storageUnavailable(new Error(`${name} is missing`));
      try {
        return withPresentNames(Buffer.concat(await Array.fromAsync(found.content as AsyncIterable<Buffer>)));
      } catch (error) {
        throw storageUnavailable(error);
      } finally {
        found.content.destroy();
      }
    },
    delete: (name) => blobs.delete(name),
  };
}
