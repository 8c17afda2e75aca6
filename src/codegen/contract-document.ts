import { fromStep } from '../base/runtime/json-pointer.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Schema = Record<string, unknown>;

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
  /** A header field is a list of names, separated by commas, and can have these. */
  'x-names'?: string[];
  example?: unknown;
}

export interface MediaType {
  schema: Schema;
  examples?: Record<string, { summary?: string; value: unknown }>;
  example?: unknown;
  /** JSON Schema of the data of the events of a `text/event-stream`. */
  'x-event-schema'?: Schema;
  /** Of each line of JSON Lines. */
  'x-line-schema'?: Schema;
}

export interface ResponseObject {
  description: string;
  headers?: Record<string, { required?: boolean; schema: Schema }>;
  content?: Record<string, MediaType>;
  'x-problem-types'?: string[];
}

export interface Operation {
  operationId: string;
  tags?: string[];
  summary?: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Record<string, MediaType> };
  responses: Record<string, ResponseObject>;
  /** Whether a POST without Idempotency-Key can be sent again when its answer was lost. */
  'x-repeatable'?: boolean;
  /** The most bytes of a body, if it is not the limit of all operations. */
  'x-body-limit'?: number;
  'x-value-limit'?: number;
  /** Members of the body that are `null` count as left out, except in what is free. */
  'x-nulls'?: 'left-out';
  /** A list without `limit` is all of it, and no page. */
  'x-whole-without-limit'?: boolean;
  /** The member of the body whose elements an export writes as JSON Lines. The refusal of such lines names it. */
  'x-json-lines'?: string;
  /** The most bytes of a line, if the body is JSON Lines. */
  'x-line-limit'?: number;
  /** The method of OpenAI's SDKs for an operation of that API. Its errors have the form of that API too. */
  'x-openai-compatible'?: string;
  /** The same for Anthropic's SDKs. */
  'x-anthropic-compatible'?: string;
  'x-mcp'?: true;
  /** What a key with limits may do with the operation, for each kind of limit. */
  'x-limited'?: Partial<Record<Limit, LimitWord>>;
}

/** What a key can be limited to some of. */
export const limits = ['prompts', 'locations', 'models'] as const;
export type Limit = (typeof limits)[number];

/**
 * What a limit means for an operation: the limit does not concern it; its handler keeps to the limit; what the request
 * names must be within it; or such a key cannot do this, unless it has the other limit too.
 */
export type LimitWord = 'unaffected' | 'kept' | 'named' | { cannot: string; unless?: 'locations' };

/** The APIs and protocols of others, by what marks an operation of theirs. */
const apis = [
  ['x-openai-compatible', 'openai'],
  ['x-anthropic-compatible', 'anthropic'],
  ['x-mcp', 'mcp'],
] as const;

/** The APIs of others that an operation belongs to, which have their own SDKs; none for the service's own. */
export function apisOf(operation: Operation): ('openai' | 'anthropic' | 'mcp')[] {
  return apis.flatMap(([mark, api]) => (operation[mark] === undefined ? [] : [api]));
}

/** Whether an operation is one of an API of others. */
export function isOfOthers(operation: Operation): boolean {
  return apisOf(operation).length > 0;
}

export type PathItem = { parameters?: Parameter[] } & Partial<Record<Method, Operation>>;

/** A bundled OpenAPI document: one file, `$ref`s only into `#/components`. */
export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description?: string };
  tags?: { name: string; description?: string; 'x-displayName'?: string }[];
  paths: Record<string, PathItem>;
  components: { schemas: Record<string, Schema> } & Record<string, Record<string, unknown>>;
  [key: string]: unknown;
}

export const methods = ['get', 'put', 'post', 'delete', 'patch'] as const;
export type Method = (typeof methods)[number];

/** Follows a `$ref` inside the document; anything else is returned as it is. */
export function resolve<T>(document: object, value: T): T {
  const ref = (value as { $ref?: string } | undefined)?.$ref;
  if (ref === undefined) return value;
  const target = ref
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((node, key) => (node as Record<string, unknown>)[fromStep(key)], document);
  return resolve(document, target as T);
}

/**
 * Whether only `null` matches a schema. The contract says so by what does not match, because generators of clients cannot
 * make a type of `type: 'null'`.
 */
export function isOnlyNull({ not }: Schema): boolean {
  const excluded = [(not as Schema | undefined)?.['type']].flat();
  return ['boolean', 'number', 'string', 'array', 'object'].every((type) => excluded.includes(type));
}

export interface OperationEntry {
  path: string;
  method: Method;
  operation: Operation;
  parameters: Parameter[];
}

/** Every operation in the order of the document, with the parameters of its path and resolved `$ref`s. */
export function listOperations(document: Pick<OpenApiDocument, 'paths'>): OperationEntry[] {
  return Object.entries(document.paths).flatMap(([route, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((parameter) => {
        const resolved = resolve(document, parameter);
        return { ...resolved, schema: resolved.schema };
      });
      return [{ path: route, method, operation, parameters }];
    }),
  );
}
