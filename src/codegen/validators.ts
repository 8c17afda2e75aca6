import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import formats from 'ajv-formats';
import { dateTimePattern } from '../http/contract-words.ts';
import { isOnlyNull, listOperations, resolve, type OpenApiDocument, type Schema } from './contract-document.ts';

const definitions = 'contract';

/** The validators of the contract as source text. */
export interface ValidatorSources {
  /** Stops at the first error. Every request passes through it. */
  fast: string;
  /** Finds all errors. It is loaded when a request was refused, to explain why. */
  thorough: string;
  declarations: string;
}

/**
 * Compiles ajv functions ahead of time: for each operation one for its parameters
 * (`<operationId>Parameters`, an object of `path`, `query` and `headers`) and one for its JSON body, or for each line of it
 * (`<operationId>Body`).
 */
export function renderValidators(document: OpenApiDocument): ValidatorSources {
  const schemas = requestSchemas(document);
  const names = Object.keys(schemas);
  return {
    fast: compile(document, schemas, false),
    thorough: compile(document, schemas, true),
    declarations: `import type { ValidateFunction } from 'ajv';

${names.map((name) => `export const ${name}: ValidateFunction;`).join('\n')}
`,
  };
}

/** Compiles the validators of events, each exported with the name of its type. They stop at the first error. */
export function renderEventValidators(schemas: Readonly<Record<string, Schema>>): {
  code: string;
  declarations: string;
} {
  return {
    code: compileStandalone(schemas, false),
    declarations: `import type { ValidateFunction } from 'ajv';
import type { EventPayloads } from '../../generated/events.ts';

${Object.keys(schemas)
  .map((type) => `export const ${type}: ValidateFunction<EventPayloads['${type}']>;`)
  .join('\n')}
`,
  };
}

function requestSchemas(document: OpenApiDocument): Record<string, Schema> {
  const schemas: Record<string, Schema> = {};
  for (const { operation, parameters } of listOperations(document)) {
    const group = (place: string, closed: boolean): Schema => {
      const members = parameters.filter((parameter) => parameter.in === place);
      return {
        type: 'object',
        properties: Object.fromEntries(members.map(({ name, schema }) => [name, schema])),
        required: members.filter(({ required }) => required === true).map(({ name }) => name),
        ...(closed ? { additionalProperties: false } : {}),
      };
    };
    schemas[`${operation.operationId}Parameters`] = {
      type: 'object',
      properties: { path: group('path', true), query: group('query', true), headers: group('header', false) },
    };
    const { 'application/json': json, 'application/x-ndjson': lines } = operation.requestBody?.content ?? {};
    const body = lines?.['x-line-schema'] ?? json?.schema;
    if (body !== undefined) schemas[`${operation.operationId}Body`] = body;
  }
  return schemas;
}

function compile(document: OpenApiDocument, schemas: Record<string, Schema>, allErrors: boolean): string {
  const shared = forAjv(document, document.components.schemas);
  const entries = Object.entries(schemas).map(([name, schema]) => [name, forAjv(document, schema) as Schema]);
  return compileStandalone(Object.fromEntries(entries) as Record<string, Schema>, allErrors, {
    $id: definitions,
    $defs: shared,
  });
}

/**
 * The source text of an ES module that exports a validation function for each schema, under its name.
 *
 * @param allErrors whether they find all errors instead of stopping at the first
 * @param shared a schema that the others can refer to by its `$id`
 */
function compileStandalone(schemas: Record<string, Schema>, allErrors: boolean, shared?: Schema): string {
  const ajv = new Ajv2020({
    allErrors,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    validateFormats: true,
    unicodeRegExp: true,
    code: { source: true, esm: true, lines: true },
  });
  formats.default(ajv, { mode: 'full' });
  ajv.addVocabulary(['example', 'externalDocs', 'xml', 'x-enumDescriptions', 'x-additionalPropertiesName']);
  if (shared !== undefined) ajv.addSchema(shared);
  const names = Object.keys(schemas);
  for (const name of names) ajv.addSchema({ ...schemas[name], $id: name });
  const code = countsRarely(standalone.default(ajv, Object.fromEntries(names.map((name) => [name, name]))));
  // ajv's ES module output still calls require() for its run-time helpers.
  return `import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
${code}
`;
}

/**
 * Counts the characters of a string only if its length does not decide. A character is one or two UTF-16 code units,
 * and counting them takes 50 ms in a string of 20 MB.
 */
function countsRarely(code: string): string {
  return code
    .replaceAll(/if\((func\d+)\((\w+)\) > (\d+)\)/g, (_, count: string, text: string, limit: string) => {
      return `if(${text}.length > ${limit} && (${text}.length > ${Number(limit) * 2} || ${count}(${text}) > ${limit}))`;
    })
    .replaceAll(/if\((func\d+)\((\w+)\) < (\d+)\)/g, (_, count: string, text: string, limit: string) => {
      return `if(${text}.length < ${Number(limit) * 2} && ${count}(${text}) < ${limit})`;
    });
}

/**
 * A schema of the contract for ajv: its references lead to the definitions. Where the contract is written for generators
 * of clients, the schema is equivalent, quicker, and its errors are easier to explain.
 */
function forAjv(document: OpenApiDocument, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((member) => forAjv(document, member));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(withTypes(document, value as Schema)).map(([key, member]): [string, unknown] =>
    key === '$ref' && typeof member === 'string'
      ? [key, member.replace('#/components/schemas/', `${definitions}#/$defs/`)]
      : [key, forAjv(document, member)],
  );
  const schema = Object.fromEntries(entries);
  if (isOnlyNull(value as Schema)) return { type: 'null' };
  if (schema['format'] === 'date-time') return { ...schema, pattern: dateTimePattern };
  return isNothing(schema) ? false : schema;
}

/** Whether a schema is `{ not: {} }`, which no value matches. */
function isNothing({ not, ...others }: Schema): boolean {
  return isEmpty(not) && isEmpty(others);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

const keywordsOfOneType = new Set([
  ...['title', 'description', 'examples', 'type', 'minLength', 'maxLength', 'pattern', 'minItems', 'maxItems', 'items'],
  ...['required', 'properties', 'additionalProperties'],
]);

/**
 * A union of schemas with different types as one schema with several types, if each of their keywords belongs to one
 * type. Other schemas are returned as they are.
 */
function withTypes(document: OpenApiDocument, schema: Schema): Schema {
  const { oneOf, anyOf, ...others } = schema as { oneOf?: Schema[]; anyOf?: Schema[] };
  const parts = oneOf ?? anyOf ?? [];
  if (!Array.isArray(parts) || (oneOf && anyOf)) return schema;
  const options = parts.map((option) => resolve(document, option));
  const types = options.flatMap(({ type }) => type as string | string[]);
  const separate =
    options.every((option) => 'type' in option && Object.keys(option).every((key) => keywordsOfOneType.has(key))) &&
    new Set(types).size === types.length;
  if (options.length === 0 || !separate || 'type' in others) return schema;
  const sorted = types.toSorted((one, other) => Number(one === 'null') - Number(other === 'null'));
  return Object.assign({}, ...options, others, { type: sorted }) as Schema;
}
