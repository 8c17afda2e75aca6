/** Whether a value is an object with members: not an array, and not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The members of a value, to look for some; of anything but an object, none. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

/** The elements of a list; of anything else, none. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

type Undefinable<T> = { [Name in keyof T]: undefined extends T[Name] ? Name : never }[keyof T];
/** An object without the members that are `undefined`. */
export type Defined<T> = Omit<T, Undefinable<T>> & { [Name in Undefinable<T>]?: Exclude<T[Name], undefined> };

/** A copy without the members that are `undefined`. */
export function defined<T extends object>(members: T): Defined<T> {
  const kept: Partial<T> = {};
  // Every call of a provider comes here; lists of the entries cost three times as much.
  for (const name of Object.keys(members) as (keyof T)[]) if (members[name] !== undefined) kept[name] = members[name];
  return kept as unknown as Defined<T>;
}
