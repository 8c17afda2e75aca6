import { isLongerAsJson } from '../runtime/json-size.ts';
import { draftOf, isObject, keywordOf, mapSubschemas, type Draft, type Keyword } from './keywords.ts';
import { findPatternMistake, weightOf } from './patterns.ts';

/** A mistake in a schema, and its place: a JSON pointer into the schema (RFC 6901), empty for the schema itself. */
export interface SchemaMistake {
  readonly detail: string;
  readonly pointer: string;
}

const maxBytes = 64 * 1024;
const maxDepth = 32;
const maxTotalBytes = 1024 * 1024;
const maxPatternWeight = 16 * 1024;
const maxMistakes = 20;
const maxPointerLength = 900;

/** What the schemas of one request can use together. */
export interface SchemaAllowance {
  /** Of JSON text. */
  bytes: number;
  /** As `weightOf` counts patterns. */
  patternWeight: number;
}

export function newSchemaAllowance(): SchemaAllowance {
  return { bytes: maxTotalBytes, patternWeight: maxPatternWeight };
}

/**
 * What the service does not accept in a JSON Schema of a caller (draft-07 or 2020-12): more than 64 KiB or 32 levels,
 * references to other documents or to themselves without an end, keywords with wrong values, and patterns that no
 * linear-time engine can match. The time it takes is linear in the size of the schema.
 *
 * @param allowance one for all schemas of a request; each schema takes its part
 * @returns the first mistakes; empty if the schema is accepted
 */
export function findSchemaMistakes(schema: unknown, allowance = newSchemaAllowance()): readonly SchemaMistake[] {
  const mistake = (detail: string, pointer = ''): SchemaMistake[] => [{ detail, pointer }];
  if (!isObject(schema)) return mistake('must be an object');
  if (isDeeperThan(maxDepth, schema)) return mistake(`must have at most ${maxDepth} levels`);
  if (allowance.bytes <= 0) return mistake('is too much: the schemas of a request have at most 1 MiB together');
  if (isLongerAsJson(schema, maxBytes)) return mistake('must have at most 64 KiB');
  allowance.bytes -= Buffer.byteLength(JSON.stringify(schema));
  const draft = draftOf(schema['$schema']);
  if (draft === undefined) return mistake('must be JSON Schema draft-07 or 2020-12', '/$schema');
  const reader = new SchemaReader(schema, draft, allowance);
  reader.read(schema, undefined);
  reader.followReferences();
  return reader.mistakes;
}

/** The way from the schema to a part of it, from its end. */
type Path = { readonly before: Path; readonly step: string } | undefined;

/** A schema with what applies to the same value, so that a loop over these schemas has no end. */
interface Node {
  readonly path: Path;
  readonly inPlace: object[];
}

interface Reference {
  readonly from: Node;
  readonly path: Path;
  readonly target: string;
}

class SchemaReader {
  readonly mistakes: SchemaMistake[] = [];
  readonly #root: object;
  readonly #draft: Draft;
  readonly #nodes = new Map<object, Node>();
  readonly #references: Reference[] = [];
  readonly #patterns = new Set<string>();
  readonly #allowance: SchemaAllowance;

  constructor(root: object, draft: Draft, allowance: SchemaAllowance) {
    this.#root = root;
    this.#draft = draft;
    this.#allowance = allowance;
  }

  read(schema: unknown, path: Path): void {
    if (typeof schema === 'boolean') return;
    if (!isObject(schema)) {
      this.#refuse('must be a schema: an object, true or false', path);
      return;
    }
    const node: Node = { path, inPlace: [] };
    this.#nodes.set(schema, node);
    for (const [name, value] of Object.entries(schema)) {
      const place = { before: path, step: name };
      if (name === '$id' && path !== undefined) this.#refuse('is supported only at the top of the schema', place);
      if (name === '$dynamicRef' || name === '$recursiveRef') this.#refuse('is not supported; use $ref', place);
      const keyword = keywordOf(name, this.#draft);
      if (keyword !== undefined) this.#readKeyword(name, keyword, value, place, node);
    }
  }

  #readKeyword(name: string, keyword: Keyword, value: unknown, place: Path, node: Node): void {
    const detail = mistakeIn(keyword, value, this.#draft);
    if (detail !== undefined) {
      this.#refuse(detail, place);
      return;
    }
    if (keyword.form === 'reference') this.#references.push({ from: node, path: place, target: String(value) });
    if (keyword.form === 'pattern') this.#readPattern(String(value), place);
    mapSubschemas(keyword.form, value, (schema, step) => {
      const inner = step === undefined ? place : { before: place, step };
      if (name === 'patternProperties' && step !== undefined) this.#readPattern(step, inner);
      if (keyword.inPlace && isObject(schema)) node.inPlace.push(schema);
      this.read(schema, inner);
      return schema;
    });
  }

  #readPattern(pattern: string, place: Path): void {
    if (this.#patterns.has(pattern)) return;
    this.#patterns.add(pattern);
    this.#allowance.patternWeight -= weightOf(pattern);
    if (this.#allowance.patternWeight < 0) {
      this.#refuse('is too much: the patterns of a request are too long together', place);
      return;
    }
    const detail = findPatternMistake(pattern);
    if (detail !== undefined) this.#refuse(detail, place);
  }

  /** Finds references without a target, and schemas that lead back to themselves for the same value. */
  followReferences(): void {
    for (const { from, path, target } of this.#references) {
      const schema = this.#resolve(target);
      if (schema === undefined) this.#refuse('must lead to a schema in this schema: # or #/…', path);
      else if (typeof schema === 'object') from.inPlace.push(schema);
    }
    const entered = new Set<Node>();
    const left = new Set<Node>();
    const enter = (node: Node): void => {
      entered.add(node);
      for (const schema of node.inPlace) {
        const next = this.#nodes.get(schema);
        if (next === undefined) continue;
        if (!entered.has(next)) enter(next);
        else if (!left.has(next)) this.#refuse('leads back to itself for the same value, without an end', node.path);
      }
      left.add(node);
    };
    for (const node of this.#nodes.values()) if (!entered.has(node)) enter(node);
  }

  /** @returns the schema; undefined if the pointer leads nowhere, or to something that is not a schema */
  #resolve(reference: string): object | boolean | undefined {
    if (reference === '#') return this.#root;
    if (!reference.startsWith('#/')) return undefined;
    let value: unknown = this.#root;
    for (const step of reference.slice(2).split('/')) {
      const name = decoded(step);
      if (name === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
        return undefined;
      value = (value as Record<string, unknown>)[name];
    }
    if (typeof value === 'boolean') return value;
    return typeof value === 'object' && value !== null && this.#nodes.has(value) ? value : undefined;
  }

  #refuse(detail: string, path: Path): void {
    if (this.mistakes.length >= maxMistakes) return;
    this.mistakes.push({ detail, pointer: pointerTo(path) });
  }
}

const types = new Set(['null', 'boolean', 'object', 'array', 'number', 'integer', 'string']);
const isName = (value: unknown): boolean => typeof value === 'string';
const isType = (value: unknown): boolean => typeof value === 'string' && types.has(value);

/** A list without repetitions whose entries are all of one kind. */
function isListOf(isEntry: (value: unknown) => boolean, value: unknown): value is unknown[] {
  return Array.isArray(value) && value.every(isEntry) && new Set(value).size === value.length;
}

/** @returns what is wrong with the value of a keyword, apart from the schemas in it */
function mistakeIn({ form }: Keyword, value: unknown, draft: Draft): string | undefined {
  const unless = (isCorrect: boolean, detail: string): string | undefined => (isCorrect ? undefined : detail);
  switch (form) {
    case 'any':
    case 'schema':
      return undefined;
    case 'schemas':
      return unless(Array.isArray(value) && value.length > 0, 'must be a list of at least one schema');
    case 'schema-or-schemas':
      return unless(
        draft === 'draft-07' || !Array.isArray(value),
        'must be one schema; for one schema for each position, use prefixItems, or draft-07',
      );
    case 'schema-map':
      return unless(isObject(value), 'must be an object of schemas');
    case 'dependencies':
    case 'names-map': {
      const lists = isObject(value) ? Object.values(value) : [undefined];
      const areCorrect = lists.every(
        (list) => isListOf(isName, list) || (form === 'dependencies' && !Array.isArray(list)),
      );
      return unless(isObject(value) && areCorrect, 'must be an object of lists of different names');
    }
    case 'names':
      return unless(isListOf(isName, value), 'must be a list of different names');
    case 'types':
      return unless(
        isType(value) || (isListOf(isType, value) && value.length > 0),
        `must be one of, or a list of different ones of: ${[...types].join(', ')}`,
      );
    case 'array':
      return unless(Array.isArray(value), 'must be a list');
    case 'number':
      return unless(typeof value === 'number', 'must be a number');
    case 'positive-number':
      return unless(typeof value === 'number' && value > 0, 'must be a number greater than 0');
    case 'count':
      return unless(Number.isInteger(value) && Number(value) >= 0, 'must be a whole number, at least 0');
    case 'boolean':
      return unless(typeof value === 'boolean', 'must be true or false');
    case 'string':
    case 'pattern':
    case 'reference':
      return unless(typeof value === 'string', 'must be a string');
  }
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeperThan(levels - 1, part));
}

/** @returns the JSON pointer of a path, or of its first steps if it is too long for an answer */
function pointerTo(path: Path): string {
  const steps: string[] = [];
  for (let rest = path; rest !== undefined; rest = rest.before) steps.unshift(rest.step);
  let pointer = '';
  for (const step of steps) {
    const next = `${pointer}/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (next.length > maxPointerLength) break;
    pointer = next;
  }
  return pointer;
}

/** @returns the name in a step of a pointer in a URI, or undefined if it is malformed */
function decoded(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}
