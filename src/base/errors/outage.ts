import { ProblemError, reasonOf } from './problem-error.ts';

/**
 * Whether the database or the storage is away or full, so that the same work can succeed later. Any other failure of
 * work in the background comes again with each repetition.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof ProblemError)) return false;
  return ['database-unavailable', 'storage-unavailable', 'storage-full'].includes(error.type);
}

/**
 * Does work for many items together. If it fails otherwise than by an outage, each half is tried, and so on, until it is
 * known which items are refused. The others are done.
 *
 * @param work of some items; it can run again for those for which it was done
 * @param onRefused called for each item that is refused alone
 * @throws {ProblemError} What the work throws during an outage. Some items may be done
 */
export async function doApart<Item>(
  items: readonly Item[],
  work: (some: readonly Item[]) => Promise<unknown>,
  onRefused: (item: Item, error: unknown) => void,
): Promise<void> {
  try {
    await work(items);
  } catch (error) {
    if (isOutage(error)) throw error;
    const [first] = items;
    if (first === undefined) throw error;
    if (items.length === 1) {
      onRefused(first, error);
      return;
    }
    const half = Math.ceil(items.length / 2);
    await doApart(items.slice(0, half), work, onRefused);
    await doApart(items.slice(half), work, onRefused);
  }
}

/**
 * Does work for one item after the other. One for which it fails does not stop the others, unless it is by an outage.
 * @throws {Error} the first failure, with those for which it failed, after an attempt for each; {ProblemError} an outage, at once
 */
export async function doForEach<Item extends string | { readonly id: string }>(
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const failed: string[] = [];
  let cause: unknown;
  for await (const item of items) {
    try {
      await work(item);
    } catch (error) {
      if (isOutage(error)) throw error;
      cause ??= error;
      failed.push(typeof item === 'string' ? item : item.id);
    }
  }
  if (failed.length === 0) return;
  const named = failed.slice(0, mostNamed).join(', ');
  throw new Error(`${reasonOf(cause)} (${named}${failed.length > mostNamed ? ' …' : ''})`, { cause });
}

/** Ids in one message. */
const mostNamed = 10;
