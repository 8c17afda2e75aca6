import { Readable } from 'node:stream';
import { createFairQueue } from '../limits/fair-queue.ts';
import type { RequestContext } from './operation.ts';

interface ExportAnswer {
  readonly status: 200;
  readonly stream: { readonly mediaType: 'application/jsonl'; readonly content: Readable };
}

/**
 * Creates the answers of an operation that exports lines of JSON. Exports read one after the other: they are long, and
 * nobody waits for their end.
 */
export function createExportAnswers(): (
  lines: AsyncIterable<string>,
  context: RequestContext,
) => Promise<ExportAnswer> {
  const reading = createFairQueue({ places: 1 });
  return async (lines, { principal, signal }) => {
    const pieces = lines[Symbol.asyncIterator]();
    const read = async (): Promise<IteratorResult<string>> => {
      const leave = await reading.enter({ key: principal.keyId, signal });
      return await pieces.next().finally(leave);
    };
    // Read before the answer begins, so that an unavailable database is a problem and not a cut connection.
    const first = await read();
    const content = async function* (): AsyncGenerator<string> {
      for (let next = first; next.done !== true; next = await read()) yield next.value;
    };
    return { status: 200, stream: { mediaType: 'application/jsonl', content: Readable.from(content()) } };
  };
}
