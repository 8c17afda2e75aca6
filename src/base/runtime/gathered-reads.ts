export interface GatherOptions {
  /** The most keys that one command reads. */
  readonly largest: number;
  /**
   * Milliseconds after which the next read no longer waits for one in progress, so that a read that hangs does not
   * delay others.
   */
  readonly patienceMs?: number;
}

/**
 * Combines reads of several callers into one command. A caller never gets data that was read before its request: keys
 * that are requested during a read are read together by the next command. A single caller does not wait.
 *
 * @param read reads the documents of different keys; a key that is not found is left out
 * @param map converts a document once for all its callers; if it fails, only these callers fail
 */
export function gatherReads<Document, Result>(
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Document>>,
  map: (document: Document) => Result,
  { largest, patienceMs = 50 }: GatherOptions,
): (key: string) => Promise<Result | undefined> {
  let wanted = new Map<string, PromiseWithResolvers<Result | undefined>>();
  /** What the requested keys wait for: reads in progress, or the end of this turn of the event loop. */
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
      // After the current turn of the event loop, so that requests that arrived together are read together.
      if (awaited === 0) setImmediate(awaitOnce());
    }
    return want.promise;
  };
}
