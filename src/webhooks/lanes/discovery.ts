import { partitionOf, spansOf } from '../partitions/partition.ts';
import type { Context } from './context.ts';

const freshAtOnce = 1_000;

/**
 * Finds what this process does not know: what waits in a partition that it takes, what was lost between two processes,
 * and what other processes have created, which is marked as fresh.
 */
export class Discovery {
  readonly #with: Context;
  /** Partitions that must be searched, and when each was searched last. */
  readonly #toSearch = new Set<number>();
  readonly #searchedAt = new Map<number, number>();
  #searching: Promise<void> | undefined;
  #freshBefore: ReadonlySet<string> = new Set();

  constructor(context: Context) {
    this.#with = context;
  }

  /** Whether other processes have created something that is perhaps not begun. */
  get hasFresh(): boolean {
    return this.#freshBefore.size > 0;
  }

  /** Finds what waits in partitions, some after the others. */
  search(partitions: Iterable<number>): void {
    for (const partition of partitions) this.#toSearch.add(partition);
    if (this.#toSearch.size === 0 || this.#with.partitions.isSettled()) return;
    this.#searching ??= this.#searchAll()
      .catch((error: unknown) => {
        this.#with.log.warn({ error }, 'waiting deliveries could not be read; retrying');
      })
      .finally(() => (this.#searching = undefined));
  }

  /** These partitions were lost. */
  skip(partitions: Iterable<number>): void {
    for (const partition of partitions) this.#toSearch.delete(partition);
  }

  /** Searches what could not be searched, and what was searched long ago. */
  searchAgain(): void {
    const { partitions, timing, clock } = this.#with;
    const before = clock.monotonic() - timing.search;
    this.search([...partitions.held()].filter((partition) => (this.#searchedAt.get(partition) ?? 0) < before));
  }

  async #searchAll(): Promise<void> {
    const { partitions, deliveries, clock } = this.#with;
    while (this.#toSearch.size > 0 && !partitions.isSettled()) {
      const wanted = new Set(this.#toSearch);
      for (const span of spansOf(wanted)) {
        for await (const found of deliveries.firstDue(span)) this.#schedule(found);
      }
      await this.#findReplays(wanted);
      for (const partition of wanted) {
        this.#toSearch.delete(partition);
        this.#searchedAt.set(partition, clock.monotonic());
      }
    }
  }

  #schedule(found: readonly { readonly integrationId: string; readonly at: Date }[]): void {
    const { lanes, timing, clock } = this.#with;
    const end = clock.now().getTime() + timing.horizon;
    for (const { integrationId, at } of found) {
      if (this.#isHeld(integrationId) && at.getTime() <= end) lanes.schedule({ integrationId }, at.getTime());
    }
  }

  async #findReplays(partitions: ReadonlySet<number>): Promise<void> {
    const { lanes, replays } = this.#with;
    for (const id of await replays.waiting()) {
      if (partitions.has(partitionOf(id)) && this.#isHeld(id)) lanes.of(id).lookFor('replays');
    }
  }

  /** Also while the lease has lapsed for a moment. */
  #isHeld(integrationId: string): boolean {
    return this.#with.partitions.held().has(partitionOf(integrationId));
  }

  /** Finds what other processes have created in the partitions of this one. */
  async findFresh(): Promise<void> {
    const { lanes, partitions, deliveries } = this.#with;
    const [first, ...others] = spansOf(partitions.held());
    if (first === undefined) return;
    const found = await deliveries.fresh({ from: first.from, before: (others.at(-1) ?? first).before }, freshAtOnce);
    const mine = found.filter(({ integrationId }) => lanes.holds(integrationId));
    const before = this.#freshBefore;
    this.#freshBefore = new Set(mine.map(({ id }) => id));
    for (const { id, integrationId, isUrgent } of mine) {
      if (!before.has(id)) lanes.of(integrationId).add({ id, isUrgent });
    }
    // They are not begun, for example because their integration is paused.
    const known = mine.flatMap(({ id }) => (before.has(id) && !lanes.claimed.has(id) ? [id] : []));
    if (known.length > 0) await deliveries.unmark(known);
  }
}
