/** An answer with its HTTP response. */
export interface Answer<Data> {
  /** The answer's content. */
  data: Data;
  /** Status and headers of the answer. Its body has been read. */
  response: Response;
  /** `X-Request-Id` of the answer: the service's log has the call under it. */
  requestId: string | undefined;
}

/** A call that has begun: a promise of the answer's content. */
export interface Call<Data> extends Promise<Data> {
  /** The answer's content together with its status and headers, such as `ETag`. */
  withResponse(): Promise<Answer<Data>>;
}

/** A page of a list. */
export interface Page<Item = unknown> {
  data: Item[];
  pagination: { next: string | null };
}

/**
 * A call of a list: a promise of its first page, and all entries of the list for `for await`. Further pages are
 * requested when they are needed, each with the limits of a call of its own. Entries that are added or removed meanwhile
 * neither hide nor repeat others.
 */
export interface ListCall<P extends Page> extends Call<P>, AsyncIterable<P['data'][number]> {
  /** All pages, for `for await`. */
  pages(): AsyncIterable<P>;
  /**
   * All entries in an array.
   * @param options `limit`: the number of entries after which it stops, so that a long list does not fill the memory
   */
  toArray(options: { limit: number }): Promise<P['data'][number][]>;
}

/** Makes a call from the promise of its answer. */
export function call<Data>(answer: Promise<Answer<Data>>): Call<Data> {
  const data = answer.then((done) => done.data);
  return Object.assign(data, {
    withResponse: () => {
      ignoreFailure(data);
      return answer;
    },
  });
}

/**
 * Makes the call of a list.
 * @param load requests the page at this position, the first without one
 */
export function listCall<P extends Page>(load: (after?: string) => Promise<Answer<P>>): ListCall<P> {
  const first = load();
  const firstPage = call(first);
  const pages = async function* (): AsyncGenerator<P, undefined> {
    let { data: page } = await first;
    yield page;
    while (page.pagination.next !== null) {
      ({ data: page } = await load(page.pagination.next));
      yield page;
    }
  };
  const items = async function* (): AsyncGenerator<P['data'][number], undefined> {
    for await (const page of pages()) yield* page.data as Awaited<P['data'][number]>[];
  };
  /** The failure of the first page is then that of the walk, and no unhandled rejection beside it. */
  const walk = <Walk>(start: () => Walk) => {
    return (): Walk => {
      ignoreFailure(firstPage);
      return start();
    };
  };
  return Object.assign(firstPage, {
    pages: walk(pages),
    [Symbol.asyncIterator]: walk(items),
    toArray: async ({ limit }: { limit: number }) => {
      const found: P['data'][number][] = [];
      if (limit <= 0) return found;
      for await (const item of walk(items)()) {
        found.push(item);
        if (found.length >= limit) break;
      }
      return found;
    },
  });
}

function ignoreFailure(promise: Promise<unknown>): void {
  promise.catch(() => undefined);
}
