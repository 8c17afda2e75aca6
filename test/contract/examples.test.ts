import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { operationTable, type OperationRow } from '../../generated/operations.ts';
import { problems } from '../../generated/problems.ts';
import {
  listOperations,
  resolve,
  type MediaType,
  type ResponseObject,
  type Schema,
} from '../../src/codegen/contract-document.ts';
import { problem, problemIn } from '../support/per-operation.ts';
import { contract } from '../support/schema-arbitraries.ts';

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv, { mode: 'full' });
ajv.addSchema({ $id: 'contract', components: contract.components } as Schema);

/** A place in the document that has a schema, and its examples. */
interface Place {
  readonly name: string;
  readonly schema: Schema;
  readonly examples: readonly unknown[];
}

const operations = listOperations(contract);
/** Every answer by its name in the reference: the name of its component, or of its operation for an inline answer. */
const responses: Record<string, ResponseObject> = Object.fromEntries(
  operations.flatMap(({ operation }) =>
    Object.entries(operation.responses).map(([status, response]) => [
      nameOf(response) ?? `${operation.operationId} ${status}`,
      resolve(contract, response),
    ]),
  ),
);
const parameters = Object.fromEntries(
  operations.flatMap(({ operation, parameters: all }) =>
    all.map((one) => [`${operation.operationId} ${one.name}`, one]),
  ),
);
const headers = Object.fromEntries(
  Object.entries(responses).flatMap(([name, response]) =>
    Object.entries(response.headers ?? {}).map(([header, value]) => [
      nameOf(value) ?? `${header} of ${name}`,
      resolve(contract, value),
    ]),
  ),
);
const rows = Object.entries(operationTable) as [string, OperationRow][];

const places: readonly Place[] = [
  ...Object.entries(contract.components.schemas).flatMap(([name, schema]) => schemaPlaces(`schema ${name}`, schema)),
  ...Object.entries({ ...parameters, ...headers } as Record<string, { schema: Schema; example?: unknown }>).map(
    ([name, { schema, example }]) => ({ name, schema, examples: given(example) }),
  ),
  ...operations.flatMap(({ operation }) =>
    mediaPlaces(`request of ${operation.operationId}`, resolve(contract, operation.requestBody)?.content),
  ),
  ...Object.entries(responses).flatMap(([name, response]) => mediaPlaces(`response ${name}`, response.content)),
];

/** A schema and the members of its inline objects. */
function schemaPlaces(name: string, schema: Schema): Place[] {
  if (schema['$ref'] !== undefined) return [];
  const members = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  return [
    { name, schema, examples: (schema['examples'] ?? []) as unknown[] },
    ...members.flatMap(([member, child]) => schemaPlaces(`${name}/${member}`, child)),
  ];
}

function mediaPlaces(name: string, content: Record<string, MediaType> = {}): Place[] {
  return Object.values(content).map(({ schema, example, examples = {} }) => ({
    name,
    schema,
    examples: [...given(example), ...Object.values(examples).map((entry) => resolve(contract, entry).value)],
  }));
}

/** The last part of a `$ref`; undefined for inline schemas. */
function nameOf(value: object): string | undefined {
  return '$ref' in value ? String(value.$ref).split('/').at(-1) : undefined;
}

function given(example: unknown): unknown[] {
  return example === undefined ? [] : [example];
}

function compile(schema: Schema): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"contract#/');
  return ajv.compile(JSON.parse(text) as Schema);
}

describe('examples', () => {
  it.each(places.map((place) => [place.name, place] as const))(
    'of %s match its schema',
    (_name, { schema, examples }) => {
      const validate = compile(schema);
      const wrong = examples.filter((example) => !validate(example));
      expect(wrong).toEqual([]);
    },
  );

  it('exist for every described value', () => {
    // Inline objects and arrays need none, because their members have examples.
    const bare = places.filter(({ examples, schema }) => examples.length === 0 && !isContainer(schema));
    expect(bare.map(({ name }) => name)).toEqual([]);
    const components = places.filter(({ name, examples }) => !name.includes('/') && examples.length === 0);
    expect(components.map(({ name }) => name)).toEqual([]);
  });

  it('show every problem type that an operation declares', () => {
    const shown = new Set(places.flatMap(({ examples }) => examples.map((example) => problemIn(example ?? {}))));
    const declared = new Set(rows.flatMap(([, row]) => row.problems));
    expect([...declared].filter((slug) => !shown.has(problem(slug)))).toEqual([]);
  });

  it('of problems belong to their response', () => {
    const misplaced = Object.entries(responses).flatMap(([name, response]) =>
      mediaPlaces(name, response.content).flatMap(({ examples }) =>
        (examples as { type?: string }[])
          .map(({ type }) => type?.replace('urn:prompt-gateway:problem:', ''))
          .filter((slug) => slug !== undefined && slug in problems && !response['x-problem-types']?.includes(slug))
          .map((slug) => `${name}: ${String(slug)}`),
      ),
    );
    expect(misplaced).toEqual([]);
  });
});

describe('problem types', () => {
  it('are all declared by an operation, or listed as possible for any request', async () => {
    const declared = new Set(rows.flatMap(([, row]) => row.problems));
    const guide = await readFile('openapi/guides/0-use-the-api.md', 'utf8');
    const anywhere = /any request can get[^]*?\n\n/.exec(guide)?.[0] ?? '';
    const unused = Object.keys(problems).filter((slug) => !declared.has(slug) && !anywhere.includes(`\`${slug}\``));
    expect(unused).toEqual([]);
  });

  it('have an example body that matches the table', () => {
    const bodies = places.flatMap(
      ({ examples }) => examples as ({ type?: string; status?: number; title?: string } | null)[],
    );
    const wrong = bodies.filter((body) => {
      const slug = /^urn:prompt-gateway:problem:(.*)$/.exec(String(body?.type))?.[1];
      const entry =
        slug === undefined ? undefined : (problems as Record<string, { status: number; title: string }>)[slug];
      // The error of a single test has no status.
      return entry !== undefined && (body?.title !== entry.title || (body.status ?? entry.status) !== entry.status);
    });
    expect(wrong).toEqual([]);
  });
});

describe('tests', () => {
  it('exist for every operation', async () => {
    const root = path.resolve(import.meta.dirname, '..');
    const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.test.ts'));
    const texts = await Promise.all(files.map((file) => readFile(path.join(root, file), 'utf8')));
    const untested = rows
      .map(([operationId]) => operationId)
      .filter((id) => !files.some((file) => path.basename(file) === `${id}.test.ts`))
      .filter((id) => !texts.some((text) => text.includes(`describe('${id}'`)));
    expect(untested).toEqual([]);
  });
});

function isContainer({ type }: Schema): boolean {
  return [type].flat().some((one) => one === 'object' || one === 'array');
}
