/**
 * The cases of versions, in object storage: as JSON Lines, in parts of about a megabyte, so that nothing holds a version
 * whole. Part 0 of the version `v` is `datasets/v/0.jsonl`.
 */
import { createHash } from 'node:crypto';
import type { Turns } from '../../../base/runtime/turns.ts';
import { storageUnavailable, type BlobStore } from '../../../storage/blobs/blob-store.ts';
import type { DatasetVersion } from './dataset.ts';

/** What was written of a version. */
export interface Written {
  readonly cases: number;
  readonly bytes: number;
  readonly digest: string;
  readonly parts: readonly number[];
}

/** Writes the cases of a version, one after the other. */
export interface CaseWriter {
  /** How many parts may be stored. */
  readonly stored: number;
  /** @throws {ProblemError} storage-unavailable */
  add(line: string): Promise<void>;
  /** Stores what is left. @throws {ProblemError} storage-unavailable */
  end(): Promise<Written>;
}

/** Every method can throw `storage-unavailable`. */
export interface CaseArchive {
  /** @param id of a new version */
  write(id: string): CaseWriter;
  /** The lines of a version from one on, each with its index. @param signal ends the wait for the storage */
  lines(version: DatasetVersion, from: number, signal?: AbortSignal): AsyncGenerator<readonly [number, string]>;
  /** The lines of one part. @param part its number, from 0 */
  part(version: Pick<DatasetVersion, 'id'>, part: number, signal?: AbortSignal): Promise<string[]>;
  /** The parts of a version, as they are stored. */
  parts(version: DatasetVersion, signal?: AbortSignal): AsyncGenerator<Buffer>;
  /** Deletes what is stored of a version. @param parts how many there can be at most */
  delete(id: string, parts: number): Promise<void>;
}

/** A part ends with the line that makes it larger. */
const partBytes = 1024 * 1024;
const mediaType = 'application/jsonl';

/** The most parts of a version, whose lines have 16 MiB as they were sent, and an id each. */
export const mostParts = 32;

export function createCaseArchive(blobs: BlobStore, turns: Turns): CaseArchive {
  const readPart = async (id: string, index: number, signal?: AbortSignal): Promise<Buffer> => {
    const key = keyOf(id, index);
    const found = await blobs.open(key, signal);
    if (found === undefined) throw storageUnavailable(new Error(`${key} is missing`));
    try {
      const chunks = await Array.fromAsync(found.content as AsyncIterable<Buffer>);
      const bytes = Buffer.concat(chunks);
      if (found.size === undefined || found.size === bytes.length) return bytes;
      throw new Error(`${key} has ${bytes.length} of ${found.size} bytes`);
    } catch (error) {
      throw storageUnavailable(error);
    } finally {
      found.content.destroy();
    }
  };
  const linesOf = async (id: string, part: number, signal?: AbortSignal): Promise<string[]> =>
    (await readPart(id, part, signal)).toString('utf8').split('\n').slice(0, -1);
  return {
    write(id) {
      const hash = createHash('sha256');
      const parts: number[] = [];
      let lines: string[] = [];
      let partLength = 0;
      let cases = 0;
      let bytes = 0;
      let stored = 0;
      const flush = async (): Promise<void> => {
        stored += 1;
        await blobs.put(keyOf(id, parts.length), Buffer.from(lines.join('')), mediaType);
        parts.push(lines.length);
        lines = [];
        partLength = 0;
      };
      return {
        get stored() {
          return stored;
        },
        async add(line) {
          const whole = `${line}\n`;
          const length = Buffer.byteLength(whole);
          hash.update(whole);
          lines.push(whole);
          partLength += length;
          bytes += length;
          cases += 1;
          if (partLength > partBytes) await flush();
        },
        async end() {
          if (lines.length > 0) await flush();
          return { cases, bytes, digest: hash.digest('hex'), parts };
        },
      };
    },
    async *lines({ id, parts }, from, signal) {
      let index = 0;
      for (const [part, count] of parts.entries()) {
        if (index + count > from) {
          for (const [at, line] of (await linesOf(id, part, signal)).entries()) {
            if (index + at < from) continue;
            await turns();
            yield [index + at, line];
          }
        }
        index += count;
      }
    },
    part: ({ id }, part, signal) => linesOf(id, part, signal),
    async *parts({ id, parts }, signal) {
      for (const part of parts.keys()) yield await readPart(id, part, signal);
    },
    async delete(id, parts) {
      await Promise.all(Array.from({ length: parts }, (_, part) => blobs.delete(keyOf(id, part))));
    },
  };
}

function keyOf(id: string, part: number): string {
  return `datasets/${id}/${part}.jsonl`;
}
