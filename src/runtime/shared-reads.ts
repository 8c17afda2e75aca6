/** A read under way, and the one that follows it once somebody has asked for that. */
interface Reading<Result> {
  readonly result: Promise<Result>;
  next: Promise<Result> | undefined;
}

/**
 * Lets callers that want the same thing at the same time share a read, without anyone getting what was read before they
 * asked: who comes while a read is under way waits for the next one, together with all others who come meanwhile. So a
 * caller sees every change that was acknowledged before its request, and what everybody wants is read by one at a time.
 *
 * @param read what is read under a key; further arguments are the same for the same key
 */
export function shareReads<Result, Rest extends readonly unknown[]>(
  read: (key: string, ...rest: Rest) => Promise<Result>,
): (key: string, ...rest: Rest) => Promise<Result> {
  const underWay = new Map<string, Reading<Result>>();

  const start = (key: string, rest: Rest): Promise<Result> => {
    const result = read(key, ...rest);
    const reading: Reading<Result> = { result, next: undefined };
    underWay.set(key, reading);
    result.then(
      () => {
        if (reading.next === undefined) underWay.delete(key);
      },
      () => {
        underWay.delete(key);
      },
    );
    return result;
  };

  return (key, ...rest) => {
    const reading = underWay.get(key);
    if (reading === undefined) return start(key, rest);
    // Its failure is theirs too: it came after they asked, and waiting for another would double the time until they know.
    return (reading.next ??= reading.result.then(() => start(key, rest)));
  };
}
