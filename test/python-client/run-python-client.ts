import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { listOperations, resolve, type MediaType, type Schema } from '../../src/codegen/contract.ts';
import { defaultCacheDir } from '../../src/db/embedded/cache-dir.ts';
import { installPythonPackage } from '../../src/db/embedded/python-package.ts';
import { consoleLog } from '../support/log.ts';
import { contract } from '../support/schema-arbitraries.ts';

/** The installed release. https://pypi.org/project/openapi-python-client/ */
const version = '0.29.1';
const run = promisify(execFile);
const generated = path.join(import.meta.dirname, '../../generated');

/** An answer that the client reads. */
interface Answer {
  readonly operationId: string;
  readonly status: number;
  readonly body: unknown;
}

/**
 * Generates a client from the contract with openapi-python-client, which is strict. The client reads every example of
 * an answer twice: unchanged, and with a new value in each value list, as a later release may send it.
 */
async function main(): Promise<void> {
  const programs = await installPythonPackage({
    name: 'openapi-python-client',
    version,
    cacheDir: defaultCacheDir(process.env, homedir()),
    env: process.env,
    log: consoleLog,
  });
  const folder = await mkdtemp(path.join(tmpdir(), 'python-client-'));
  try {
    const settings = path.join(folder, 'settings.json');
    await writeFile(settings, JSON.stringify({ post_hooks: [] }));
    await run(path.join(programs, 'openapi-python-client'), [
      ...['generate', '--path', path.join(generated, 'openapi.json'), '--config', settings],
      ...['--meta', 'none', '--output-path', path.join(folder, 'client'), '--fail-on-warning'],
    ]);
    const answers = path.join(folder, 'answers.json');
    await writeFile(answers, JSON.stringify({ today: examples(false), later: examples(true) }));
    const reading = path.join(import.meta.dirname, 'read_answers.py');
    const { stdout } = await run(path.join(programs, 'python'), [reading, answers], {
      env: { ...process.env, PYTHONPATH: folder },
    });
    process.stdout.write(stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The examples of all answers in JSON. @param later whether value lists have a value that the contract does not contain
 */
function examples(later: boolean): Answer[] {
  return listOperations(contract).flatMap(({ operation: { operationId, responses } }) =>
    Object.entries(responses).flatMap(([status, response]) =>
      Object.entries(resolve(contract, response).content ?? {})
        .filter(([type]) => type.endsWith('json'))
        .flatMap(([, media]) =>
          bodies(media).map((body) => ({
            operationId,
            // An undeclared answer, for `default`.
            status: status === 'default' ? 418 : Number(status),
            body: later ? withOtherValues(media.schema, body) : body,
          })),
        ),
    ),
  );
}

function bodies({ example, examples: named = {} }: MediaType): unknown[] {
  const values = Object.values(named).map((entry) => resolve(contract, entry).value);
  return example === undefined ? values : [example, ...values];
}

/** A copy of a value. Each value from an open value list is replaced by one that the list does not contain. */
function withOtherValues(reference: Schema | undefined, value: unknown): unknown {
  const schema = resolve(contract, reference) as Record<'anyOf' | 'oneOf' | 'allOf', Schema[] | undefined> & Schema;
  if (schema.anyOf?.some(({ $ref }) => $ref === '#/components/schemas/OtherValue') === true) return 'a-later-value';
  if (Array.isArray(value)) return value.map((item) => withOtherValues(schema['items'] as Schema, item));
  if (typeof value !== 'object' || value === null) return value;
  const parts = [schema, ...(schema.allOf ?? []), ...(schema.oneOf ?? []).filter((part) => isOf(part, value))];
  const properties = Object.assign(
    {},
    ...parts.map((part) => resolve(contract, part)['properties'] as object | undefined),
  ) as Record<string, Schema>;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      properties[name] === undefined ? member : withOtherValues(properties[name], member),
    ]),
  );
}

/** Whether a value belongs to this member of a union. */
function isOf(part: Schema, value: object): boolean {
  const properties = (resolve(contract, part)['properties'] ?? {}) as Record<string, { const?: unknown }>;
  return Object.entries(value).every(
    ([name, member]) => properties[name]?.const === undefined || properties[name].const === member,
  );
}

await main();
