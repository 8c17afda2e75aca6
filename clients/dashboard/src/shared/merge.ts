/**
 * Two versions of the same fields, in which each has what only the other side changed. They differ in the fields that
 * both sides changed.
 */
export interface Merged<Fields extends object> {
  readonly mine: Fields;
  readonly theirs: Fields;
}

/**
 * Merges two changes of the same fields, by field.
 * @param base what both sides began with
 */
export function merge<Fields extends object>(
  base: Fields,
  mine: Fields,
  theirs: Fields,
  isSame: (one: unknown, other: unknown) => boolean = isSameJson,
): Merged<Fields> {
  const names = new Set([theirs, mine].flatMap((side) => Object.keys(side) as (keyof Fields)[]));
  const sides: Merged<Partial<Fields>> = { mine: {}, theirs: {} };
  for (const name of names) {
    const isMine = !isSame(mine[name], base[name]);
    const isTheirs = !isSame(theirs[name], base[name]);
    set(sides.mine, name, isMine ? mine[name] : theirs[name]);
    set(sides.theirs, name, isTheirs || !isMine ? theirs[name] : mine[name]);
  }
  return sides as Merged<Fields>;
}

/** What was removed stays away. */
function set<Fields extends object>(fields: Partial<Fields>, name: keyof Fields, value: Fields[keyof Fields]): void {
  if (value !== undefined) fields[name] = value;
}

/** Whether two values are shown as the same: nothing is the same as an empty text. */
export function isSameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? '') === JSON.stringify(other ?? '');
}
