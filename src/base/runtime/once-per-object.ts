/**
 * A function that computes its result once for each object, and keeps it as long as the object. The object must never
 * change.
 */
export function oncePerObject<Source extends object, Result>(
  compute: (source: Source) => Result,
): (source: Source) => Result {
  const known = new WeakMap<Source, Result>();
  return (source) => {
    let result = known.get(source);
    if (result === undefined) known.set(source, (result = compute(source)));
    return result;
  };
}
