import {
  formsOf,
  keywordsOf,
  lowerBounds,
  membersOf,
  opaque,
  partsOf,
  restSchemas,
  standsFor,
  typesOf,
  unions,
  upperBounds,
  valuesOf,
  type Keywords,
} from './schema-keywords.ts';

/** What a newer JSON Schema changed for the values that match it. */
export interface SchemaChange {
  /**
   * `wider`: more values match. `narrower`: fewer do. `replaced`: what matched is gone, and something else may match.
   * `unknown`: one of these.
   */
  readonly effect: 'wider' | 'narrower' | 'replaced' | 'unknown';
  readonly detail: string;
  /** The given pointer, continued into the schema. */
  readonly pointer: string;
}

/** Keywords and properties that a comparison reads. A schema of 64 KiB has about 8,000, but references have no end. */
const maxWork = 20_000;
/** The most characters of values that a detail quotes. */
const maxQuoted = 60;

/**
 * Compares two JSON Schemas (draft-07 or 2020-12, as the service accepts them) place by place, the outer ones first. A
 * property that is new and optional is no change, nor is a place that allowed nothing before: nobody relies on what was
 * never there. Texts for people, such as `description`, are no change either.
 *
 * It computes no sets of values, so what several keywords do together can be missed or doubted.
 */
export function schemaChanges(before: unknown, after: unknown, pointer: string): readonly SchemaChange[] {
  return new Comparison(before, after).run(pointer);
}

/** A name as a step of a JSON pointer in a URI fragment (RFC 6901, section 6), with the slash before it. */
export function pointerStep(name: string): string {
  return `/${encodeURIComponent(name.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'))}`;
}

class Comparison {
  readonly #before: unknown;
  readonly #after: unknown;
  readonly #changes: SchemaChange[] = [];
  /** Grows while it is read. */
  readonly #pairs: { readonly was: unknown; readonly is: unknown; readonly at: string }[] = [];
  readonly #met = new Map<unknown, Set<unknown>>();
  #work = 0;

  constructor(before: unknown, after: unknown) {
    this.#before = before;
    this.#after = after;
  }

  run(pointer: string): readonly SchemaChange[] {
    this.#compareLater(this.#before, this.#after, pointer);
    for (const { was, is, at } of this.#pairs) {
      if (this.#work > maxWork) {
        this.#add('unknown', 'is too large to be compared completely', pointer);
        break;
      }
      if (was === false) continue;
      if (is === false) this.#add('narrower', 'is not allowed any more', at);
      else this.#compare(was, is, at);
    }
    return this.#changes;
  }

  #add(effect: SchemaChange['effect'], detail: string, pointer: string): void {
    this.#changes.push({ effect, detail, pointer });
  }

  /** A schema that contains itself meets the same one again, so each pair is compared once. */
  #compareLater(older: unknown, newer: unknown, at: string): void {
    const [was, is] = [standsFor(older, this.#before), standsFor(newer, this.#after)];
    const met = this.#met.get(was) ?? new Set();
    if (was === is || met.has(is)) return;
    this.#met.set(was, met.add(is));
    this.#pairs.push({ was, is, at });
  }

  #compare(was: unknown, is: unknown, at: string): void {
    const old = this.#read(was, this.#before);
    const now = this.#read(is, this.#after);
    const [oldForms, nowForms] = [formsOf(old), formsOf(now)];
    if (old.size > 0 && now.size > 0 && (oldForms ?? nowForms) !== undefined) {
      this.#compareForms(oldForms ?? [was], nowForms ?? [is], at);
      return;
    }
    if (!this.#compareTypes(old, now, at)) return;
    this.#compareValues(old, now, at);
    for (const keyword of lowerBounds) this.#compareBound(keyword, old, now, at, 1);
    for (const keyword of upperBounds) this.#compareBound(keyword, old, now, at, -1);
    for (const keyword of opaque) this.#compareTexts(keyword, old, now, at);
    for (const keyword of unions) {
      const [some, others] = [old.get(keyword), now.get(keyword)];
      if (Array.isArray(some) && Array.isArray(others)) this.#compareForms(some, others, at);
      else this.#compareTexts(keyword, old, now, at);
    }
    this.#compareProperties(old, now, at);
    this.#compareMembers('patternProperties', old, now, at, 'additionalProperties');
    this.#compareMembers('prefixItems', old, now, at, 'items');
    for (const keyword of restSchemas) {
      const [some, others] = [old.get(keyword), now.get(keyword)];
      // In draft-07 a list of schemas, one for each position.
      const lists = [some, others].filter(Array.isArray).length;
      if (lists === 2) this.#compareMembers(keyword, old, now, at, 'additionalItems');
      else if (lists === 1) this.#compareTexts(keyword, old, now, at);
      else this.#compareLater(some ?? true, others ?? true, `${at}/${keyword}`);
    }
  }

  #read(schema: unknown, root: unknown): Keywords {
    const parts = partsOf(schema, root);
    const keywords = keywordsOf(parts);
    this.#work += parts.length + keywords.size + membersOf(keywords.get('properties')).size;
    return keywords;
  }

  /** Compares schemas one of which has to match: the same ones, then those of the same type in their order. */
  #compareForms(old: readonly unknown[], now: readonly unknown[], at: string): void {
    let [gone, added] = [old, now];
    for (const traitOf of [json, typeOfForm]) {
      const left = Map.groupBy(gone, traitOf);
      added = added.filter((is) => {
        const was = left.get(traitOf(is))?.shift();
        if (was !== undefined) this.#compareLater(was, is, at);
        return was === undefined;
      });
      gone = [...left.values()].flat();
    }
    const [lost, gained] = [gone, added].map((forms) => quoted(forms.map(json)));
    if (gone.length > 0 && added.length > 0) this.#add('replaced', `can be ${gained} now; it could be ${lost}`, at);
    else if (added.length > 0) this.#add('wider', `can also be ${gained}`, at);
    else if (gone.length > 0) this.#add('narrower', `can no longer be ${lost}`, at);
  }

  /** @returns whether the older and the newer schema have a type in common */
  #compareTypes(old: Keywords, now: Keywords, at: string): boolean {
    const [was, is] = [typesOf(old), typesOf(now)];
    const [lost, gained] = [without(was, is), without(is, was)];
    if (lost.length > 0 || gained.length > 0) {
      const effect = gained.length === 0 ? 'narrower' : lost.length === 0 ? 'wider' : 'replaced';
      this.#add(effect, `is ${typeWords(now)} now; it was ${typeWords(old)}`, at);
    }
    return lost.length < was.size;
  }

  #compareValues(old: Keywords, now: Keywords, at: string): void {
    const [was, is] = [valuesOf(old), valuesOf(now)];
    if (was === undefined) {
      if (is !== undefined) this.#add('narrower', `can only be ${quoted([...is])} now`, at);
    } else if (is === undefined) {
      this.#add('wider', `can be more than ${quoted([...was])} now`, at);
    } else {
      const [lost, gained] = [without(was, is), without(is, was)];
      if (gained.length > 0) this.#add('wider', `can also be ${quoted(gained)}`, at);
      if (lost.length > 0) this.#add('narrower', `can no longer be ${quoted(lost)}`, at);
    }
  }

  /** @param sign 1 if a larger number matches fewer values, -1 if it matches more */
  #compareBound(keyword: string, old: Keywords, now: Keywords, at: string, sign: number): void {
    const [was, is] = [old.get(keyword), now.get(keyword)];
    if (was === is) return;
    const isNarrower = was === undefined || (is !== undefined && sign * Number(is) > sign * Number(was));
    this.#add(isNarrower ? 'narrower' : 'wider', difference(keyword, json(was), json(is)), at);
  }

  #compareTexts(keyword: string, old: Keywords, now: Keywords, at: string): void {
    const [was, is] = [old.get(keyword), now.get(keyword)];
    if (textOf(was, this.#before) === textOf(is, this.#after)) return;
    const effect = was === undefined ? 'narrower' : is === undefined ? 'wider' : 'unknown';
    this.#add(effect, difference(keyword, json(was), json(is)), at);
  }

  #compareProperties(old: Keywords, now: Keywords, at: string): void {
    const [was, is] = [propertiesOf(old), propertiesOf(now)];
    for (const [name, { schema, isRequired }] of was) {
      const place = `${at}/properties${pointerStep(name)}`;
      const later = is.get(name);
      if (later === undefined) {
        if (schema !== false) this.#add('replaced', 'is gone', place);
        continue;
      }
      if (isRequired && !later.isRequired) this.#add('wider', 'can be absent now', place);
      if (!isRequired && later.isRequired) this.#add('narrower', 'is required now', place);
      this.#compareLater(schema, later.schema, place);
    }
    for (const [name, { isRequired }] of is) {
      if (!was.has(name) && isRequired) {
        this.#add('narrower', 'is new and required', `${at}/properties${pointerStep(name)}`);
      }
    }
  }

  /** Compares the schemas in a keyword by name or position. @param rest the keyword for members that are not there */
  #compareMembers(keyword: string, old: Keywords, now: Keywords, at: string, rest: string): void {
    const [was, is] = [membersOf(old.get(keyword)), membersOf(now.get(keyword))];
    for (const step of new Set([...was.keys(), ...is.keys()])) {
      const [some, others] = [was.get(step) ?? old.get(rest) ?? true, is.get(step) ?? now.get(rest) ?? true];
      this.#compareLater(some, others, `${at}/${keyword}${pointerStep(step)}`);
    }
  }
}

interface Property {
  readonly schema: unknown;
  readonly isRequired: boolean;
}

function propertiesOf(keywords: Keywords): ReadonlyMap<string, Property> {
  const required = new Set([keywords.get('required') ?? []].flat().map(String));
  const schemas = membersOf(keywords.get('properties'));
  return new Map(
    [...schemas.keys(), ...required].map((name) => [
      name,
      { schema: schemas.get(name) ?? true, isRequired: required.has(name) },
    ]),
  );
}

function without<Value>(values: ReadonlySet<Value>, others: ReadonlySet<Value>): Value[] {
  return [...values].filter((value) => !others.has(value));
}

function difference(keyword: string, was: string | undefined, is: string | undefined): string {
  if (was === undefined) return `${keyword} is new: ${quoted([is])}`;
  if (is === undefined) return `${keyword} is gone; it was ${quoted([was])}`;
  return `${keyword} is ${quoted([is])} now; it was ${quoted([was])}`;
}

function typeWords(keywords: Keywords): string {
  return keywords.has('type') ? [keywords.get('type')].flat().join(' or ') : 'of any type';
}

/** What distinguishes a schema from others in a list, besides its details. */
function typeOfForm(form: unknown): string | undefined {
  const keywords = membersOf(form);
  return json([keywords.get('type'), keywords.get('$ref')]);
}

/** Two values restrict alike if their texts are equal, with what these refer to. */
function textOf(value: unknown, root: unknown): string | undefined {
  const text = json(value);
  const definitions = membersOf(root);
  return text?.includes('"$ref":') === true
    ? json([text, definitions.get('$defs'), definitions.get('definitions')])
    : text;
}

function json(value: unknown): string | undefined {
  return JSON.stringify(value);
}

/** JSON texts for people, shortened. */
function quoted(texts: readonly (string | undefined)[]): string {
  const text = texts.join(', ');
  return text.length <= maxQuoted ? text : `${text.slice(0, maxQuoted).toWellFormed()}…`;
}
