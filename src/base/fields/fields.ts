/**
 * The fields of a resource, each declared once: the kind of its value, who sets it, and whether it can be missing.
 * Everything that is the same for all fields follows from that: the types of the thing, its document, its
 * representation and its changes, and the conversions between them. A document is read and an answer written field by
 * field, so values that are not declared are never stored or answered.
 */
import type { Kind, SentOf, ShownOf, StoredOf, ValueOf } from './kinds.ts';
import { snakeCase, type SnakeCase } from './names.ts';

/**
 * Who sets a field. `caller`: the caller, on creation and by PUT. `creation`: the caller, only on creation. `server`:
 * the service. `hidden`: the service, and no answer shows it.
 */
export type SetBy = 'caller' | 'creation' | 'server' | 'hidden';

export interface FieldOptions<Value> {
  /**
   * The field can be missing: `undefined` in the code, absent in documents (some have `null`) and answers. In a PUT
   * `null` clears it.
   */
  readonly optional?: true;
  /** The value if a creation leaves it out, and in documents of earlier releases, which did not have the field yet. */
  readonly initially?: Value;
  /** Its name in the contract, if that is not its name in snake case. */
  readonly shownAs?: string;
  /** Its name in documents, if that is not its name in snake case, or `_id` for `id`. */
  readonly storedAs?: string;
}

export interface Field<
  K extends Kind = Kind,
  By extends SetBy = SetBy,
  Options extends FieldOptions<unknown> = FieldOptions<unknown>,
> {
  readonly kind: K;
  readonly setBy: By;
  readonly options: Options;
}

/** Creates the function that declares fields of one source. */
function declare<By extends SetBy>(setBy: By) {
  return <K extends Kind, const Options extends FieldOptions<ValueOf<K>> = Record<never, never>>(
    kind: K,
    options?: Options,
  ): Field<K, By, Options> => ({ kind, setBy, options: options ?? ({} as Options) });
}

/** A field that callers set and change. */
export const changeable = declare('caller');
/** A field that callers set when they create the thing. A PUT may repeat its value. */
export const fixed = declare('creation');
/** A field of the server that answers show. A PUT may repeat its value. */
export const made = declare('server');
/** A field of the server that no answer shows. */
export const hidden = declare('hidden');

export type Table = Readonly<Record<string, Field>>;

/** Its name in documents. */
type StoredName<F extends Field, Name> = F['options'] extends { readonly storedAs: infer Other extends string }
  ? Other
  : Name extends 'id'
    ? '_id'
    : SnakeCase<Name & string>;
/** Its name in the contract; `never` for fields that others set. */
type ShownName<F extends Field, Name, By extends SetBy> = F['setBy'] extends By
  ? F['options'] extends { readonly shownAs: infer Other extends string }
    ? Other
    : SnakeCase<Name & string>
  : never;
/** The name of a field if the condition is true; otherwise `never`. */
type If<F extends Field, Condition, Name> = F['options'] extends Condition ? Name : never;
type Unless<F extends Field, Condition, Name> = F['options'] extends Condition ? never : Name;

type Optional = { readonly optional: true };
/** The fields that a creation can leave out. */
type LeftOut = Optional | { readonly initially: unknown };
type Given = 'caller' | 'creation';
type Visible = Given | 'server';
type Flat<T> = { [Name in keyof T]: T[Name] };
type MaybeSent<F extends Field> = SentOf<F['kind']> | null | undefined;

/** The thing in the code. */
export type Thing<T extends Table> = {
  readonly [Name in keyof T]: ValueOf<T[Name]['kind']> | If<T[Name], Optional, undefined>;
};
/** Its document. The id is `_id`. */
export type Document<T extends Table> = Flat<
  { -readonly [Name in keyof T as Unless<T[Name], Optional, StoredName<T[Name], Name>>]: StoredOf<T[Name]['kind']> } & {
    -readonly [Name in keyof T as If<T[Name], Optional, StoredName<T[Name], Name>>]?: StoredOf<T[Name]['kind']>;
  }
>;
/** Its representation in answers. */
export type Shown<T extends Table> = Flat<
  {
    -readonly [Name in keyof T as Unless<T[Name], Optional, ShownName<T[Name], Name, Visible>>]: ShownOf<
      T[Name]['kind']
    >;
  } & {
    -readonly [Name in keyof T as If<T[Name], Optional, ShownName<T[Name], Name, Visible>>]?: ShownOf<T[Name]['kind']>;
  }
>;
/** The body of a request that creates one. */
export type SentNew<T extends Table> = Flat<
  { [Name in keyof T as Unless<T[Name], LeftOut, ShownName<T[Name], Name, Given>>]: SentOf<T[Name]['kind']> } & {
    [Name in keyof T as If<T[Name], LeftOut, ShownName<T[Name], Name, Given>>]?: MaybeSent<T[Name]>;
  }
>;
/** The body of a PUT: any of the fields that answers show. */
export type SentChange<T extends Table> = {
  [Name in keyof T as ShownName<T[Name], Name, Visible>]?: T[Name]['setBy'] extends 'caller'
    ? MaybeSent<T[Name]>
    : unknown;
};
/** The fields that a caller sets on a new thing. */
export type New<T extends Table> = { [Name in keyof T as SetByOf<T[Name], Given, Name>]: Thing<T>[Name] };
/** Changes by a caller. Fields that are left out do not change; an optional field that is `undefined` is cleared. */
export type Change<T extends Table> = { [Name in keyof T as SetByOf<T[Name], 'caller', Name>]?: Thing<T>[Name] };
type SetByOf<F extends Field, By extends SetBy, Name> = F['setBy'] extends By ? Name : never;

/** The fields of a resource, and what follows from them. */
export interface Fields<T extends Table> {
  readonly table: T;
  /** The names of the fields in documents. */
  readonly storedNames: readonly string[];
  /** The value that is `_id` in documents. */
  idOf(thing: Thing<T>): string;
  toDocument(thing: Thing<T>): Document<T>;
  /** @throws Error if a required field is missing */
  fromDocument(document: Document<T>): Thing<T>;
  /** The update that stores these values, without the id. */
  toUpdate(values: Partial<Thing<T>>): { $set: Partial<Document<T>>; $unset?: Record<string, ''> };
  show(thing: Thing<T>): Shown<T>;
  readNew(body: SentNew<T>): New<T>;
  readChange(body: SentChange<T>): Change<T>;
  /** The members of a body besides the fields that a PUT changes. */
  others(body: object): object;
  /** The thing's values of these fields, without others. */
  pick(thing: Thing<T>): Thing<T>;
}

type Values = Readonly<Record<string, unknown>>;

/** Derives everything from a table of fields. */
export function fields<const T extends Table>(table: T): Fields<T> {
  const all = Object.entries(table).map(([name, { kind, setBy, options }]) => ({
    name,
    kind,
    setBy,
    stored: options.storedAs ?? (name === 'id' ? '_id' : snakeCase(name)),
    shown: options.shownAs ?? snakeCase(name),
    initially: options.initially,
    isOptional: options.optional === true,
  }));
  type Entry = (typeof all)[number];
  const shown = all.filter(({ setBy }) => setBy !== 'hidden');
  const given = all.filter(({ setBy }) => setBy === 'caller' || setBy === 'creation');
  const changed = all.filter(({ setBy }) => setBy === 'caller');
  const changedNames = new Set(changed.map((entry) => entry.shown));

  const collect = (
    entries: readonly Entry[],
    key: 'name' | 'stored' | 'shown',
    value: (entry: Entry) => unknown,
  ): Values => {
    const collected: Record<string, unknown> = {};
    for (const entry of entries) {
      const one = value(entry);
      if (one !== undefined || key === 'name') collected[entry[key]] = one;
    }
    return collected;
  };
  const readOne = ({ kind, shown: name, initially }: Entry, body: Values): unknown => {
    const sent = body[name] ?? undefined;
    return sent === undefined ? initially : kind.read(sent);
  };
  const toStored = (entries: readonly Entry[], values: Values): Values =>
    collect(entries, 'stored', ({ name, kind }) => map(values[name], (value) => kind.toStored(value)));

  return {
    table,
    storedNames: all.map(({ stored }) => stored),
    idOf: (thing: Values) => thing[all.find(({ stored }) => stored === '_id')?.name ?? 'id'],
    toDocument: (thing: Values) => toStored(all, thing),
    fromDocument: (document: Values) =>
      collect(all, 'name', ({ stored, kind, initially, isOptional }) => {
        const value = document[stored] ?? undefined;
        if (value !== undefined) return kind.fromStored(value);
        if (isOptional || initially !== undefined) return initially;
        throw new Error(`the document ${String(document['_id'])} has no ${stored}`);
      }),
    toUpdate(values: Values) {
      const entries = all.filter(({ name, stored }) => stored !== '_id' && name in values);
      const unset = entries.filter(({ name }) => values[name] === undefined).map(({ stored }) => [stored, ''] as const);
      return { $set: toStored(entries, values), ...(unset.length === 0 ? {} : { $unset: Object.fromEntries(unset) }) };
    },
    show: (thing: Values) => collect(shown, 'shown', ({ name, kind }) => map(thing[name], (value) => kind.show(value))),
    readNew: (body: Values) => collect(given, 'name', (entry) => readOne(entry, body)),
    readChange: (body: Values) =>
      collect(
        changed.filter((entry) => body[entry.shown] !== undefined),
        'name',
        (entry) => readOne(entry, body),
      ),
    others: (body: object) => Object.fromEntries(Object.entries(body).filter(([name]) => !changedNames.has(name))),
    pick: (thing: Values) => collect(all, 'name', ({ name }) => thing[name]),
  } as unknown as Fields<T>;
}

function map<Value>(value: Value | undefined, change: (value: Value) => unknown): unknown {
  return value === undefined ? undefined : change(value);
}

/** Compiles only for `never`. */
export type None<Names extends never> = Names;
/**
 * The names of fields that only the contract or only a table has: in the schema of answers, of the body that creates,
 * and of the body that changes.
 */
export type Undeclared<T extends Table, Answer, Create, Update> =
  | Difference<Answer, Shown<T>>
  | Difference<Create, SentNew<T>>
  | Difference<Update, SentChange<T>>;
/** The members that only one of the two has. */
export type Difference<One, Other> = Exclude<keyof One, keyof Other> | Exclude<keyof Other, keyof One>;
