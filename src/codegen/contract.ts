import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { fromStep } from '../base/runtime/json-pointer.ts';

const run = promisify(execFile);

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Schema = Record<string, unknown>;

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}

export interface MediaType {
  schema: Schema;
  examples?: Record<string, { summary?: string; value: unknown }>;
  example?: unknown;
  /** JSON Schema of the data of the events of a `text/event-stream`. */
  'x-event-schema'?: Schema;
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
  /** The member of the body whose elements an export writes as JSON Lines. The refusal of such lines names it. */
  'x-json-lines'?: string;
  /** The method of OpenAI's SDKs for an operation of that API. Its errors have the form of that API too. */
  'x-openai-compatible'?: string;
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

export interface ProblemEntry {
  status: number;
  title: string;
  /** The meaning of the problem, for the reference page. */
  description: string;
  /** What the caller can do. */
  remedy: string;
  /** The service did nothing, so any request can be repeated. */
  changed_nothing?: boolean;
}

export const methods = ['get', 'put', 'post', 'delete', 'patch'] as const;
export type Method = (typeof methods)[number];

/** Bundles `openapi/openapi.yaml` with Redocly into one JSON document. */
export async function bundleContract(root: string): Promise<OpenApiDocument> {
  return (await bundle(root, 'openapi/openapi.yaml')) as OpenApiDocument;
}

interface Bundle {
  info: object;
  components: { schemas: Record<string, Schema> };
}

/** Sets the name of each schema as its title. Code generators and the reference use the title. */
function withTitles(document: Bundle): Bundle {
  const schemas = Object.entries(document.components.schemas).map(([title, schema]) => [title, { title, ...schema }]);
  const components = { ...document.components, schemas: Object.fromEntries(schemas) as Record<string, Schema> };
  return { ...document, components };
}

/**
 * Bundles a document with Redocly and the configuration in its folder. Sets the version of the package.
 *
 * @param source the path of the document in the repository
 */
export async function bundle(root: string, source: string): Promise<unknown> {
  return await withTemporaryFolder('contract-', async (folder) => {
    const target = path.join(folder, 'bundle.json');
    await redocly(root, ['bundle', source, '--config', `${path.dirname(source)}/redocly.yaml`, '--output', target]);
    const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { version: string };
    const document = withTitles(JSON.parse(await readFile(target, 'utf8')) as Bundle);
    return { ...document, info: { ...document.info, version } };
  });
}

/** Calls `use` with a folder that is deleted afterwards. */
async function withTemporaryFolder<T>(prefix: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), prefix));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs the Redocly command line of this project, offline and without output. If it fails, the error contains its
 * output.
 */
async function redocly(root: string, args: readonly string[]): Promise<void> {
  const cli = path.join(root, 'node_modules/@redocly/cli/bin/cli.js');
  const env = {
    ...process.env,
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    NODE_ENV: 'production',
  };
  try {
    await run(process.execPath, [cli, ...args], { cwd: root, env, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`redocly ${args[0] ?? ''} failed:\n${stdout}${stderr}`);
  }
}

/** Reads `openapi/problems.yaml`: problem slug to status, title, description and remedy. */
export async function readProblems(root: string): Promise<Record<string, ProblemEntry>> {
  return (await readYaml(root, 'openapi/problems.yaml')) as Record<string, ProblemEntry>;
}

/** Reads `openapi/compatible-error.yaml`: the schema of errors in the form of OpenAI's API. */
export async function readCompatibleError(root: string): Promise<Schema> {
  return (await readYaml(root, 'openapi/compatible-error.yaml')) as Schema;
}

async function readYaml(root: string, name: string): Promise<unknown> {
  return parse(await readFile(path.join(root, name), 'utf8'));
}

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
