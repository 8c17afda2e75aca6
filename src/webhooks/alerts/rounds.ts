/** Where a page is in its round. */
export interface PlaceInRound {
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/** Works off the next page. */
export type NextPage<Item> = (work: (page: readonly Item[], place: PlaceInRound) => Promise<void>) => Promise<void>;

/**
 * Goes through a long list again and again, one page with each call, so that a call costs no more however long the list
 * is. After a failure it goes on with the next page: one that always fails keeps nobody from the others.
 *
 * @param list the items in their order, from after the given one
 */
export function createRounds<Item>(
  list: (after: Item | undefined, limit: number) => Promise<readonly Item[]>,
  pageSize: number,
): NextPage<Item> {
  let last: Item | undefined;
  return async (work) => {
    const after = last;
    const page = await list(after, pageSize);
    const isLast = page.length < pageSize;
    last = isLast ? undefined : page.at(-1);
    await work(page, { isFirst: after === undefined, isLast });
  };
}
