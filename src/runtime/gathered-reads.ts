/** How reads are gathered. */
export interface GatherOptions {
  /** Keys that one command reads at most. */
  readonly largest: number;
  /** Milliseconds after which the next read no longer waits for one in progress: one that hangs holds up no others. */
  readonly patienceMs?: number;
}

/**
 * Combines reads of several callers into one command. A caller never gets data that was read before its request: keys
 * that are requested during a read are read together by the next command. A single caller does not wait.
 *
 * @param read reads the documents of different keys; a key that is not found is left out
 * @param map makes of a document what is wanted, once for all who want it; a document that fails it fails its callers only
 */
export function gatherReads<Document, Result>(
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Document>>,
  map: (document: Document) => Result,
  { largest, patienceMs = 50 }: GatherOptions,
): (key: string) => Promise<Result | undefined> {
  let wanted = new Map<string, PromiseWithResolvers<Result | undefined>>();
  /** What the keys that are wanted now wait for: reads in progress, or the end of this turn of the event loop. */
  let awaited = 0;

  const send = async (wants: readonly [string, PromiseWithResolvers<Result | undefined>][]): Promise<void> => {
    const over = awaitOnce();
    const timer = setTimeout(over, patienceMs);
    try {
      const found = await read(wants.map(([key]) => key));
      for (const [key, { resolve, reject }] of wants) {
        try {
          const document = found.get(key);
          resolve(document === undefined ? undefined : map(document));
        } catch (error) {
          reject(error);
        }
      }
    } catch (error) {
      for (const [, { reject }] of wants) reject(error);
    } finally {
      clearTimeout(timer);
      over();
    }
  };

  const awaitOnce = (): (() => void) => {
    let isOver = false;
    awaited += 1;
    return () => {
      if (isOver) return;
      isOver = true;
      awaited -= 1;
      if (awaited > 0) return;
      const all = [...wanted];
      wanted = new Map();
      for (let start = 0; start < all.length; start += largest) void send(all.slice(start, start + largest));
    };
  };

  return (key) => {
    let want = wanted.get(key);
    if (want === undefined) {
      want = Promise.withResolvers<Result | undefined>();
      wanted.set(key, want);
      // After the present turn of the event loop, so that requests which came together are read together.
      if (awaited === 0) setImmediate(awaitOnce());
    }
    return want.promise;
  };
}
