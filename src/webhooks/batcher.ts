/** Collects single items of work into batches. */
export interface Batcher<Item> {
  /** Resolves when the batch that the item went into is done. */
  add(item: Item): Promise<void>;
  /** Resolves when no items remain. */
  idle(): Promise<void>;
}

/**
 * While batches are processed, the next one collects items (group commit). A single item does not wait, and under load
 * batches grow as needed.
 *
 * @param work processes a batch; it must handle its failures itself
 * @param atOnce batches that are processed at the same time, if more than the largest number of items wait
 */
export function createBatcher<Item>(
  work: (batch: readonly Item[]) => Promise<void>,
  largest: number,
  atOnce = 1,
): Batcher<Item> {
  let waiting: { item: Item; resolve: () => void }[] = [];
  let size = 0;
  let active = 0;
  let isBeginning = false;
  let idle: PromiseWithResolvers<undefined> | undefined;

  const run = async (): Promise<void> => {
    active += 1;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, largest);
      waiting = waiting.slice(largest);
      if (waiting.length >= largest && active < atOnce) void run();
      await work(batch.map(({ item }) => item));
      size -= batch.length;
      for (const { resolve } of batch) resolve();
    }
    active -= 1;
    if (size === 0) idle?.resolve(undefined);
  };

  return {
    add(item) {
      size += 1;
      return new Promise((resolve) => {
        waiting.push({ item, resolve });
        if (isBeginning || (active > 0 && (active === atOnce || waiting.length < largest))) return;
        isBeginning = true;
        // After the current turn of the event loop, so that items that are added together are in one batch.
        setImmediate(() => {
          isBeginning = false;
          if (active < atOnce) void run();
        });
      });
    },
    async idle() {
      if (size > 0) await (idle ??= Promise.withResolvers()).promise;
      idle = undefined;
    },
  };
}
