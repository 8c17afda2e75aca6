import { isLongerAsJson } from '../runtime/json-size.ts';
import { draftOf, keywordOf, mapSubschemas, readPattern, type Draft } from './keywords.ts';
import { fromStep, toStep } from '../runtime/json-pointer.ts';
import { isObject } from '../runtime/objects.ts';

/** A mistake in a schema, and its place: a JSON pointer into the schema (RFC 6901), empty for the schema itself. */
export interface SchemaMistake {
  readonly detail: string;
  readonly pointer: string;
}

const maxBytes = 64 * 1024;
const maxDepth = 32;
const maxTotalBytes = 1024 * 1024;
/** Each takes 0.1 ms to read, so a pattern of 64 KiB with nothing else stops the process for 1.4 s. */
const maxUnicodeProperties = 300;
const maxMistakes = 20;
const maxPointerLength = 900;

/** What the schemas of one request can still use together. */
export interface SchemaAllowance {
  /** Of JSON text. */
  bytes: number;
  /** Such as `\p{L}` in patterns. */
  unicodeProperties: number;
}

export function newSchemaAllowance(): SchemaAllowance {
  return { bytes: maxTotalBytes, unicodeProperties: maxUnicodeProperties };
}

/**
 * What the service does not accept in a JSON Schema of a caller (draft-07 or 2020-12): more than 64 KiB or 32 levels,
 * references to other documents, keywords with wrong values, and patterns that are not regular expressions. The time it
 * takes is linear in the size of the schema. How long an answer takes to check is the concern of `answer-checker.ts`.
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
  return new SchemaReader(schema, draft, allowance).read();
}

/** The way from the schema to a part of it, from its end. */
type Path = { readonly before: Path; readonly step: string } | undefined;

class SchemaReader {
  readonly #mistakes: SchemaMistake[] = [];
  readonly #root: object;
  readonly #draft: Draft;
  readonly #allowance: SchemaAllowance;
  readonly #schemas = new Set<unknown>();
  readonly #references: { readonly target: string; readonly path: Path }[] = [];

  constructor(root: object, draft: Draft, allowance: SchemaAllowance) {
    this.#root = root;
    this.#draft = draft;
    this.#allowance = allowance;
  }

  read(): readonly SchemaMistake[] {
    this.#readSchema(this.#root, undefined);
    for (const { target, path } of this.#references) {
      if (!this.#leadsToSchema(target)) this.#refuse('must lead to a schema in this schema: # or #/…', path);
    }
    return this.#mistakes;
  }

  #readSchema(schema: unknown, path: Path): void {
    if (typeof schema === 'boolean') return;
    if (!isObject(schema)) {
      this.#refuse('must be a schema: an object, true or false', path);
      return;
    }
    this.#schemas.add(schema);
    for (const [name, value] of Object.entries(schema)) this.#readKeyword(name, value, { before: path, step: name });
  }

  #readKeyword(name: string, value: unknown, path: NonNullable<Path>): void {
    if (name === '$id' && path.before !== undefined) this.#refuse('is supported only at the top of the schema', path);
    if (name === '$dynamicRef' || name === '$recursiveRef') this.#refuse('is not supported; use $ref', path);
    const keyword = keywordOf(name, this.#draft);
    if (keyword === undefined) return;
    const detail = keyword.rule?.(value, this.#draft);
    if (detail !== undefined) {
      this.#refuse(detail, path);
      return;
    }
    if (name === '$ref') this.#references.push({ target: String(value), path });
    if (name === 'pattern') this.#readPattern(String(value), path);
    mapSubschemas(keyword, value, (schema, step) => {
      const inner = step === undefined ? path : { before: path, step };
      if (name === 'patternProperties' && step !== undefined) this.#readPattern(step, inner);
      this.#readSchema(schema, inner);
      return schema;
    });
  }

  #readPattern(pattern: string, path: Path): void {
    this.#allowance.unicodeProperties -= pattern.split(/\\p/i).length - 1;
    if (this.#allowance.unicodeProperties < 0) {
      const most = `the patterns of a request have at most ${maxUnicodeProperties} Unicode properties together`;
      this.#refuse(`is too much: ${most}`, path);
      return;
    }
    try {
      readPattern(pattern);
    } catch {
      this.#refuse('is not a regular expression of ECMA-262 (flag u)', path);
    }
  }

  /** False if the pointer leads nowhere, or to something that is not a schema. */
  #leadsToSchema(reference: string): boolean {
    if (reference === '#') return true;
    if (!reference.startsWith('#/')) return false;
    let value: unknown = this.#root;
    for (const step of reference.slice(2).split('/')) {
      const name = decoded(step);
      if (name === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) {
        return false;
      }
      value = (value as Record<string, unknown>)[name];
    }
    return typeof value === 'boolean' || this.#schemas.has(value);
  }

  #refuse(detail: string, path: Path): void {
    if (this.#mistakes.length >= maxMistakes) return;
    this.#mistakes.push({ detail, pointer: pointerTo(path) });
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
    const next = `${pointer}/${toStep(step)}`;
    if (next.length > maxPointerLength) break;
    pointer = next;
  }
  return pointer;
}

/** @returns the name in a step of a pointer in a URI, or undefined if it is malformed */
function decoded(step: string): string | undefined {
  try {
    return fromStep(decodeURIComponent(step));
  } catch {
    return undefined;
  }
}
