/** Where a page is in its round. */
export interface PlaceInRound {
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/** Works off the next page. */
export type NextPage<Item> = (work: (page: readonly Item[], place: PlaceInRound) => Promise<void>) => Promise<void>;

/**
 * Goes through a long list again and again, one page with each call, so that a call costs no more however long the list
 * is. After a failure it begins anew.
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
    last = undefined;
    const page = await list(after, pageSize);
    const isLast = page.length < pageSize;
    await work(page, { isFirst: after === undefined, isLast });
    if (!isLast) last = page.at(-1);
  };
}
