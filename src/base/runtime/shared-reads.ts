/** A read in progress, and the read that follows it if a caller has requested it. */
interface Reading<Result> {
  readonly result: Promise<Result>;
  next: Promise<Result> | undefined;
}

/**
 * Lets callers that read the same data at the same time share a read. A caller never gets data that was read before its
 * request: callers that arrive during a read share the next one. So a caller sees every change that was acknowledged
 * before its request, and at most one read of each key is in progress.
 *
 * @param read reads the data of a key; further arguments are the same for the same key
 */
export function shareReads<Result, Rest extends readonly unknown[]>(
  read: (key: string, ...rest: Rest) => Promise<Result>,
): (key: string, ...rest: Rest) => Promise<Result> {
  const inProgress = new Map<string, Reading<Result>>();

  const start = (key: string, rest: Rest): Promise<Result> => {
    const result = read(key, ...rest);
    const reading: Reading<Result> = { result, next: undefined };
    inProgress.set(key, reading);
    result.then(
      () => {
        if (reading.next === undefined) inProgress.delete(key);
      },
      () => {
        inProgress.delete(key);
      },
    );
    return result;
  };

  return (key, ...rest) => {
    const reading = inProgress.get(key);
    if (reading === undefined) return start(key, rest);
    // They also get its failure: it happened after their request, and another read would double their waiting time.
    return (reading.next ??= reading.result.then(() => start(key, rest)));
  };
}
