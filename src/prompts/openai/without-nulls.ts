/** An object whose members are never `null`. */
export type WithoutNulls<T> = { readonly [Name in keyof T]: Exclude<T[Name], null> };

/** A copy without the members that are `null`: in OpenAI's APIs they count as left out. */
export function withoutNulls<T extends object>(value: T): WithoutNulls<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) as WithoutNulls<T>;
}
