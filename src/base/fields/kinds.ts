/** The kinds of values of fields. Each copies member by member, so that nothing else is stored or answered. */
import { toInstant } from '../runtime/instants.ts';
import { snakeCase, type SnakeCase } from './names.ts';

/**
 * The type of a value in the code (`Value`), in the database (`Stored`), in answers (`Shown`) and in requests (`Sent`).
 * Requests are checked against the contract before they are read.
 */
export interface Kind<Value = unknown, Stored = unknown, Shown = unknown, Sent = Shown> {
  toStored(value: Value): Stored;
  fromStored(stored: Stored): Value;
  show(value: Value): Shown;
  /** @returns `undefined` for a value that means the same as leaving out an optional field */
  read(sent: Sent): Value | undefined;
}

export type ValueOf<K extends Kind> =
  K extends Kind<infer Value, infer _Stored, infer _Shown, infer _Sent> ? Value : never;
export type StoredOf<K extends Kind> = ReturnType<K['toStored']>;
export type ShownOf<K extends Kind> = ReturnType<K['show']>;
export type SentOf<K extends Kind> = Parameters<K['read']>[0];

/** A kind whose values are the same everywhere and are only copied. */
export function same<Value>(copy: (value: Value) => Value = (value) => value): Kind<Value, Value, Value> {
  return { toStored: copy, fromStored: copy, show: copy, read: copy };
}

export const text: Kind<string, string, string> = same();
export const integer: Kind<number, number, number> = same();
export const flag: Kind<boolean, boolean, boolean> = same();

/**
 * Any JSON value. Documents contain it as JSON text, because member names such as `$where`, `a.b` or `__proto__` have a
 * meaning for databases.
 */
export function json<Value, Shown = Value, Sent = Shown>(): Kind<Value, string, Shown, Sent> {
  // The types differ only in what the compiler knows of them: requests are checked against the contract.
  return {
    toStored: (value) => JSON.stringify(value),
    fromStored: (stored) => JSON.parse(stored) as Value,
    show: (value) => value as unknown as Shown,
    read: (sent) => sent as unknown as Value,
  };
}

/** A moment. Answers contain it as ISO 8601 in UTC with milliseconds. */
export const moment: Kind<Date, Date, string> = {
  toStored: (at) => at,
  fromStored: (at) => at,
  show: (at) => at.toISOString(),
  read: toInstant,
};

/** A list of values of one kind. */
export function list<Value, Stored, Shown, Sent>(
  of: Kind<Value, Stored, Shown, Sent>,
): Kind<readonly Value[], Stored[], Shown[], readonly Sent[]> {
  return {
    toStored: (values) => values.map((value) => of.toStored(value)),
    fromStored: (stored) => stored.map((one) => of.fromStored(one)),
    show: (values) => values.map((value) => of.show(value)),
    read: (sent) => sent.flatMap((one) => of.read(one) ?? []),
  };
}

/** A value that can be absent. */
export function optional<Value, Stored, Shown, Sent>(
  of: Kind<Value, Stored, Shown, Sent>,
): Kind<Value | undefined, Stored | undefined, Shown | undefined, Sent | undefined> {
  const unlessAbsent =
    <From, To>(map: (value: From) => To) =>
    (value: From | undefined): To | undefined =>
      value === undefined ? undefined : map(value);
  return {
    toStored: unlessAbsent((value: Value) => of.toStored(value)),
    fromStored: unlessAbsent((stored: Stored) => of.fromStored(stored)),
    show: unlessAbsent((value: Value) => of.show(value)),
    read: unlessAbsent((sent: Sent) => of.read(sent)),
  };
}

/** A member of an object whose name in documents is not its name in snake case, because earlier releases named it so. */
export function storedAs<const Name extends string, K extends Kind>(
  name: Name,
  kind: K,
): K & { readonly storedAs: Name } {
  return { ...kind, storedAs: name };
}

type Members = Readonly<Record<string, Kind & { readonly storedAs?: string }>>;
type StoredName<K, Name extends string> = K extends { readonly storedAs: infer Other extends string }
  ? Other
  : SnakeCase<Name>;

/** An object whose members are all set. Their names are in camel case in the code, else in snake case. */
export function object<const M extends Members>(
  members: M,
): Kind<
  { readonly [Name in keyof M]: ValueOf<M[Name]> },
  { -readonly [Name in keyof M & string as StoredName<M[Name], Name>]: StoredOf<M[Name]> },
  { -readonly [Name in keyof M & string as SnakeCase<Name>]: ShownOf<M[Name]> },
  { readonly [Name in keyof M & string as SnakeCase<Name>]: SentOf<M[Name]> }
> {
  const entries = Object.entries(members).map(([name, kind]) => {
    const shown = snakeCase(name);
    return { name, shown, stored: kind.storedAs ?? shown, kind };
  });
  type Values = Readonly<Record<string, unknown>>;
  type To = 'stored' | 'shown';
  const outwards = (values: Values, to: To, map: (kind: Kind, value: unknown) => unknown): Values =>
    Object.fromEntries(entries.map(({ name, kind, ...names }) => [names[to], map(kind, values[name])]));
  const inwards = (values: Values, from: To, map: (kind: Kind, value: unknown) => unknown): Values =>
    Object.fromEntries(entries.map(({ name, kind, ...names }) => [name, map(kind, values[names[from]])]));
  return {
    toStored: (value) => outwards(value, 'stored', (kind, member) => kind.toStored(member)),
    fromStored: (stored) => inwards(stored, 'stored', (kind, member) => kind.fromStored(member)),
    show: (value) => outwards(value, 'shown', (kind, member) => kind.show(member)),
    read: (sent) => inwards(sent, 'shown', (kind, member) => kind.read(member)),
  } as ReturnType<typeof object<M>>;
}
