/**
 * Works on several things at the same time and gives the results in the order of the things. Work begins only as far as
 * results are taken. When one fails, it ends after the work in progress.
 *
 * @param most how many are in progress or wait to be taken
 * @throws what `work` throws, for the first that fails
 */
export async function* inOrder<Thing, Result>(
  things: AsyncIterable<Thing>,
  work: (thing: Thing) => Promise<Result>,
  most: number,
): AsyncGenerator<Result, void, void> {
  const open: Promise<Result>[] = [];
  const next = async (): Promise<Result> => {
    const [first] = open;
    if (first === undefined) throw new Error('nothing is in progress');
    const result = await first;
    void open.shift();
    return result;
  };
  try {
    for await (const thing of things) {
      const begun = work(thing);
      // Each is awaited later, when those before it have ended.
      begun.catch(() => undefined);
      open.push(begun);
      if (open.length >= most) yield await next();
    }
    while (open.length > 0) yield await next();
  } finally {
    await Promise.allSettled(open);
  }
}
