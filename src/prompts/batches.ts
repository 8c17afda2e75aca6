/** Prompts and versions that are read in batches, because their readers may take them slowly. */

/** Prompts, or versions, that are read together while they are small. */
const mostTogether = 32;
/** Bytes of JSON that are kept of these, unless one has more: each can have a megabyte, and the caller may not take it. */
const batchBytes = 64 * 1024;

/** What was read together and is kept. */
export class Batch<Kept> {
  readonly kept: Kept[] = [];
  /** How many it stands for, also those that are left out. */
  count = 0;
  bytes = 0;

  /** @returns false if it is too much: then it and those that follow are read again */
  add(item: Kept | undefined, bytes: number): boolean {
    if (this.count > 0 && this.bytes + bytes > batchBytes) return false;
    this.count += 1;
    this.bytes += bytes;
    if (item !== undefined) this.kept.push(item);
    return true;
  }
}

/** Reads few at first, and more while they turn out to be small. @param pace how many are read together now */
export async function* inBatches<Name, Kept>(
  names: readonly Name[],
  read: (some: readonly Name[]) => Promise<Batch<Kept>>,
  pace: { together: number },
): AsyncGenerator<readonly Kept[]> {
  for (let start = 0; start < names.length;) {
    const some = names.slice(start, start + pace.together);
    const { kept, count, bytes } = await read(some);
    start += count;
    if (count < some.length) pace.together = count;
    else if (2 * bytes < batchBytes) pace.together = Math.min(2 * pace.together, mostTogether);
    yield kept;
  }
}

/** Joins small texts. Large ones are not copied. */
export async function* joined(texts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const small: Uint8Array[] = [];
  let bytes = 0;
  for await (const text of texts) {
    if (bytes + text.length > batchBytes && bytes > 0) {
      yield Buffer.concat(small.splice(0));
      bytes = 0;
    }
    if (text.length > batchBytes) {
      yield text;
    } else {
      small.push(text);
      bytes += text.length;
    }
  }
  if (bytes > 0) yield Buffer.concat(small);
}
