import { Readable } from 'node:stream';
import { createFairQueue } from '../base/limits/fair-queue.ts';
import type { RequestContext } from './operation.ts';

interface ExportAnswer {
  readonly status: 200;
  readonly stream: { readonly mediaType: 'application/jsonl'; readonly content: Readable; readonly memory: number };
}

/**
 * What an export takes of the memory for requests at most: the part of it that is being sent, the next one, and the current
 * version of a prompt whose earlier versions come first. Each has a megabyte at most.
 */
const exportBytes = 3 * 1024 * 1024;

/**
 * Creates the answers of an operation that exports lines of JSON. Exports read one after the other: they are long, and
 * nobody waits for their end. They read only while their callers take what they have read, and keep nothing else: the
 * lines come as bytes.
 */
export function createExportAnswers(): (
  lines: AsyncIterable<Uint8Array>,
  context: RequestContext,
) => Promise<ExportAnswer> {
  const reading = createFairQueue({ places: 1 });
  return async (lines, context) => {
    const { principal } = context;
    const signal = context.endWithSession();
    const parts = lines[Symbol.asyncIterator]();
    const read = async (): Promise<IteratorResult<Uint8Array>> => {
      const leave = await reading.enter({ key: principal.family, signal });
      return await parts.next().finally(leave);
    };
    // Read before the answer begins, so that an unavailable database is a problem and not a cut connection.
    let next = await read();
    const content = Readable.from(
      (async function* (): AsyncGenerator<Uint8Array> {
        for (; next.done !== true; next = await read()) yield next.value;
      })(),
      { objectMode: false },
    );
    return { status: 200, stream: { mediaType: 'application/jsonl', content, memory: exportBytes } };
  };
}
