/** Which part of a list is wanted, and how large it may get. */
export interface PageBounds<Item> {
  /** How many items to skip. */
  readonly offset: number;
  /** The most items. */
  readonly limit: number;
  /** The most bytes of all items together; the first item comes whatever its size. */
  readonly bytes: number;
  /** Bytes that an item takes. */
  readonly sizeOf: (item: Item) => number;
}

/** Takes items until the page is full, and reads no further. */
export async function takePage<Item>(
  items: AsyncIterable<Item>,
  { limit, bytes, sizeOf }: PageBounds<Item>,
): Promise<Item[]> {
  const page: Item[] = [];
  let size = 0;
  for await (const item of items) {
    size += sizeOf(item);
    if (page.length > 0 && size > bytes) break;
    page.push(item);
    if (page.length === limit) break;
  }
  return page;
}
