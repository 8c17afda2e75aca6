/** Collects single items of work into batches. */
export interface Batcher<Item> {
  /** Resolves when the batch that the item went into is done. */
  add(item: Item): Promise<void>;
  /** Items that are not done. */
  readonly size: number;
  /** Resolves when no items remain. */
  idle(): Promise<void>;
}

/**
 * While one batch is processed, the next one collects items (group commit). A single item does not wait, and under load
 * batches grow as needed.
 *
 * @param work processes a batch; it must handle its failures itself
 */
export function createBatcher<Item>(work: (batch: readonly Item[]) => Promise<void>, largest: number): Batcher<Item> {
  let waiting: { item: Item; resolve: () => void }[] = [];
  let size = 0;
  let running: Promise<void> | undefined;

  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, largest);
      waiting = waiting.slice(largest);
      await work(batch.map(({ item }) => item));
      size -= batch.length;
      for (const { resolve } of batch) resolve();
    }
    running = undefined;
  };

  return {
    add(item) {
      size += 1;
      return new Promise((resolve) => {
        waiting.push({ item, resolve });
        // After the current turn of the event loop, so that items that are added together are in one batch.
        running ??= new Promise<void>((next) => setImmediate(next)).then(run);
      });
    },
    get size() {
      return size;
    },
    async idle() {
      while (running !== undefined) await running;
    },
  };
}
