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
 * Does work for many items together. If it fails with another error than an outage, each half is done alone, and so on,
 * down to the single items that are refused. The others are done.
 *
 * @param work of some items; it can run again for those for which it was done
 * @param onRefused called for each item that is refused alone
 * @throws {ProblemError} What the work throws during an outage. Some items may be done
 */
export async function isolateFailures<Item>(
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
    await isolateFailures(items.slice(0, half), work, onRefused);
    await isolateFailures(items.slice(half), work, onRefused);
  }
}

/**
 * Does work for one item after the other. A failure does not stop the others, unless it is an outage.
 * @throws {Error} as {@link throwFailures}, after an attempt for each; {ProblemError} an outage, at once
 */
export async function doForEach<Item extends string | { readonly id: string }>(
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  throwFailures(await failuresOf(items, work));
}

/** Does one step after the other, as {@link doForEach} does. An error names the steps that failed. */
export async function doSteps(steps: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
  await doForEach(Object.keys(steps), async (name) => steps[name]?.());
}

/** The error of work for an item. */
export interface Failure {
  readonly id: string;
  readonly error: unknown;
}

/**
 * Does work for one item after the other. A failure does not stop the others, unless it is an outage.
 * @returns the failures, and that of the items themselves if they end with an error
 * @throws {ProblemError} an outage, at once
 */
export async function failuresOf<Item extends string | { readonly id: string }>(
  items: Iterable<Item> | AsyncIterable<Item>,
  work: (item: Item) => Promise<unknown>,
): Promise<Failure[]> {
  const failures: Failure[] = [];
  const add = (id: string, error: unknown): void => {
    if (isOutage(error)) throw error;
    failures.push({ id, error });
  };
  try {
    for await (const item of items) {
      try {
        await work(item);
      } catch (error) {
        add(typeof item === 'string' ? item : item.id, error);
      }
    }
  } catch (error) {
    add('all that follow', error);
  }
  return failures;
}

/** Ids in one message. */
const mostNamed = 10;

/** @throws {Error} if there are failures: with each reason and its ids, caused by the first */
export function throwFailures(failures: readonly Failure[]): void {
  const [first] = failures;
  if (first === undefined) return;
  const reasons = Map.groupBy(failures.slice(0, mostNamed), ({ error }) => reasonOf(error));
  const named = [...reasons].map(([reason, alike]) => `${reason} (${alike.map(({ id }) => id).join(', ')})`);
  throw new Error(`${named.join('; ')}${failures.length > mostNamed ? ' …' : ''}`, { cause: first.error });
}
