/** An answer with its HTTP response. */
export interface Answer<Data> {
  /** The answer's content. */
  data: Data;
  /** Status and headers of the answer. Its body has been read. */
  response: Response;
  /** `X-Request-Id` of the answer. The log of the service contains the call under this id. */
  requestId: string | undefined;
}

/** A started call: a promise of the answer's content. */
export interface Call<Data> extends Promise<Data> {
  /** The content of the answer with its status and headers, such as `ETag`. */
  withResponse(): Promise<Answer<Data>>;
}

/** A page of a list. */
export interface Page<Item = unknown> {
  data: Item[];
  pagination: { next: string | null };
}

/**
 * A call of a list: a promise of its first page, and all entries of the list for `for await`. Further pages are
 * requested when they are needed. Each request has the limits of a call. Entries that are added or removed in between
 * neither hide nor repeat others.
 */
export interface ListCall<P extends Page> extends Call<P>, AsyncIterable<P['data'][number]> {
  /** All pages, for `for await`. */
  pages(): AsyncIterable<P>;
  /**
   * All entries in an array.
   *
   * @param options `limit`: the maximum number of entries, so that a long list does not fill the memory
   */
  toArray(options: { limit: number }): Promise<P['data'][number][]>;
}

/** Creates a call from the promise of its answer. */
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
 * Creates the call of a list.
 *
 * @param load requests the page at this position, the first one without a position
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
  /** The iteration throws the failure of the first page, so it must not also be an unhandled rejection. */
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
