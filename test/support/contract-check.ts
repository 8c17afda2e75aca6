import { compatibleStatus } from '../../src/base/errors/compatible-error.ts';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import document from '../../generated/openapi.json' with { type: 'json' };
import { operationTable, type OperationId, type OperationRow } from '../../generated/operations.ts';
import { problems } from '../../generated/problems.ts';
import { readEvents } from './server-sent-events.ts';

/** An answer as it was received. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

type Schema = Record<string, unknown>;
interface DeclaredResponse {
  headers?: Record<string, { $ref?: string; required?: boolean; schema: Schema }>;
  content?: Record<string, { schema: Schema; 'x-event-schema'?: Schema }>;
}

/** Header fields that belong to HTTP and not to an operation. */
const transport = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  // Any answer can renew a session.
  'set-cookie',
  'transfer-encoding',
  'vary',
  'access-control-allow-origin',
  'access-control-expose-headers',
]);

const table: Record<string, OperationRow> = operationTable;
// Without optimization, because most schemas are used only a few times.
const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } });
formats.default(ajv, { mode: 'full' });
const byName = new Map<string, ValidateFunction>();
const bySchema = new Map<string, ValidateFunction>();

/**
 * Finds everything in an answer that violates the contract: an undeclared status, media type, header or problem type, a
 * missing or malformed header, and any body member or value that the contract does not list. It uses a closed copy of
 * the schemas of answers. Empty if the answer is correct.
 */
export function checkAnswer(operationId: OperationId, answer: WireAnswer): string[] {
  const row = table[operationId];
  const responses = (operationOf(operationId)['responses'] ?? {}) as Record<string, DeclaredResponse>;
  const reference = responses[answer.status];
  if (row === undefined || reference === undefined) return [`status ${answer.status} is not declared`];
  const declared = deref<DeclaredResponse>(reference);
  return [
    ...checkBody(`${operationId} ${answer.status}`, declared, answer),
    ...checkHeaders(`${operationId} ${answer.status}`, declared, answer),
    ...checkProblem(row, answer),
  ];
}

function checkBody(name: string, declared: DeclaredResponse, { headers, text }: WireAnswer): string[] {
  const mediaType = headers['content-type']?.split(';')[0];
  if (declared.content === undefined) return text === '' ? [] : ['has a body where none is declared'];
  const media = Object.entries(declared.content).find(([type]) => type.split(';')[0] === mediaType)?.[1];
  if (media === undefined) return [`media type ${String(mediaType)} is not declared`];
  const eventSchema = media['x-event-schema'];
  if (eventSchema !== undefined) {
    const validate = validator(`${name} events`, () => close(eventSchema));
    return readEvents(text).flatMap(({ data }) => (data === '[DONE]' ? [] : mistakes(validate, JSON.parse(data))));
  }
  if (mediaType?.endsWith('json') !== true) return [];
  const validate = validator(name, () => close(media.schema));
  return mistakes(validate, JSON.parse(text));
}

function mistakes(validate: ValidateFunction, value: unknown): string[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    (error) => `body ${error.instancePath} ${error.message ?? ''} ${JSON.stringify(error.params)}`,
  );
}

function checkHeaders(response: string, declared: DeclaredResponse, { headers }: WireAnswer): string[] {
  const wrong: string[] = [];
  const known = new Set(transport);
  for (const [name, reference] of Object.entries(declared.headers ?? {})) {
    const header = deref(reference);
    const schema = deref<Schema>(header.schema);
    const value = headers[name.toLowerCase()];
    known.add(name.toLowerCase());
    if (value === undefined) {
      if (header.required === true) wrong.push(`header ${name} is missing`);
      continue;
    }
    const validate = validator(`${response} ${name}`, () => inline(schema));
    if (!validate(typed(value, schema['type']))) {
      wrong.push(`header ${name}: ${JSON.stringify(value)} ${ajv.errorsText(validate.errors)}`);
    }
  }
  for (const name of Object.keys(headers)) if (!known.has(name)) wrong.push(`header ${name} is not declared`);
  return wrong;
}

/** Compiled once for each schema, because operations share most of their headers and problems. */
function validator(name: string, schema: () => Schema): ValidateFunction {
  const known = byName.get(name);
  if (known !== undefined) return known;
  const used = schema();
  const text = JSON.stringify(used);
  const validate = bySchema.get(text) ?? ajv.compile(used);
  bySchema.set(text, validate);
  byName.set(name, validate);
  return validate;
}

function checkProblem(row: OperationRow, { status, headers, text }: WireAnswer): string[] {
  const isProblem = headers['content-type']?.startsWith('application/problem+json') === true;
  if (status < 400 && !isProblem) return [];
  const slug = problemSlug({ headers, text });
  if (slug === undefined) return ['a failure must be a problem document, or an error of an API of others'];
  const declared = (problems as Record<string, { status: number; title: string }>)[slug];
  const wrong: string[] = [];
  if (!row.problems.includes(slug)) wrong.push(`problem type ${slug} is not declared`);
  const said = headers['x-provider-status'];
  const expected =
    declared === undefined || isProblem || said === undefined
      ? declared?.status
      : compatibleStatus({ type: slug, status: declared.status, provider_status: Number(said) });
  if (expected !== status || (isProblem && (JSON.parse(text) as { status: number }).status !== status))
    wrong.push(`problem type ${slug} does not belong to ${status}`);
  return wrong;
}

/** The type of the problem that an answer describes, also in the form of OpenAI's API; undefined for another answer. */
export function problemSlug({ headers, text }: Pick<WireAnswer, 'headers' | 'text'>): string | undefined {
  const mediaType = headers['content-type'] ?? '';
  if (!/json(;|$)/.test(mediaType) || text === '') return undefined;
  const { type, error } = JSON.parse(text) as {
    type?: unknown;
    error?: { code?: unknown; data?: { type?: string } } | null;
  };
  // Of MCP.
  const ofMessage = error?.data?.type;
  if (ofMessage !== undefined) return ofMessage.replace('urn:prompt-gateway:problem:', '');
  if (mediaType.startsWith('application/problem+json')) {
    return String(type).replace('urn:prompt-gateway:problem:', '');
  }
  if (typeof error?.code !== 'string') return undefined;
  // The provider's code, if that refused the request itself.
  return error.code in problems || headers['x-provider-status'] === undefined ? error.code : 'provider-failed';
}

function typed(value: string, type: unknown): unknown {
  if (type === 'integer' || type === 'number') return Number(value);
  if (type === 'boolean') return value === 'true' ? true : value === 'false' ? false : value;
  return value;
}

function operationOf(operationId: OperationId): Schema {
  const { method, path } = operationTable[operationId];
  const paths = document.paths as unknown as Record<string, Record<string, Schema>>;
  const operation = paths[path]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`${operationId} is not in the contract`);
  return operation;
}

function deref<T>(value: T): T {
  const ref = (value as { $ref?: string }).$ref;
  if (ref === undefined) return value;
  const target = ref
    .slice(2)
    .split('/')
    .reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], document);
  return deref(target as T);
}

/** A copy without references. Its objects allow only described members, and its value lists are closed. */
function close(schema: Schema, part = false): Schema {
  const copy = mapSchema(deref<Schema>(schema), (child, keyword) => close(child, keyword === 'allOf'));
  const known = copy['x-extensible-enum'];
  if (known !== undefined) copy['enum'] = known;
  const open = copy['additionalProperties'] === undefined && copy['unevaluatedProperties'] === undefined;
  const described = copy['properties'] !== undefined || copy['allOf'] !== undefined;
  return open && described && !part ? { ...copy, unevaluatedProperties: false } : copy;
}

function inline(schema: Schema): Schema {
  return mapSchema(deref<Schema>(schema), (child) => inline(child));
}

/** The times of answers. It is not in the contract, where generated clients would apply it to a date that they have parsed. */
const utcMilliseconds = String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`;

function mapSchema(schema: Schema, map: (child: Schema, keyword: string) => Schema): Schema {
  const copy: Schema = schema['format'] === 'date-time' ? { pattern: utcMilliseconds } : {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (['properties', 'patternProperties', '$defs'].includes(keyword)) {
      const members = Object.entries(value as Record<string, Schema>);
      copy[keyword] = Object.fromEntries(members.map(([name, child]) => [name, map(child, keyword)]));
    } else if (['allOf', 'anyOf', 'oneOf', 'prefixItems'].includes(keyword)) {
      copy[keyword] = (value as Schema[]).map((child) => map(child, keyword));
    } else if (['items', 'not', 'if', 'then', 'else', 'additionalProperties', 'propertyNames'].includes(keyword)) {
      copy[keyword] = typeof value === 'object' && value !== null ? map(value as Schema, keyword) : value;
    } else {
      copy[keyword] = value;
    }
  }
  return copy;
}
