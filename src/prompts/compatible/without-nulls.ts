/** An object whose members are never `null`. */
export type WithoutNulls<T> = { readonly [Name in keyof T]: Exclude<T[Name], null> };

/** A copy without the members that are `null`: in the APIs of OpenAI and Anthropic they count as left out. */
export function withoutNulls<T extends object>(value: T): WithoutNulls<T> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) as WithoutNulls<T>;
}
