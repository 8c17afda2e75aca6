import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import patch from '../../generated/reference-patch.json' with { type: 'json' };
import { operationTable } from '../../generated/operations.ts';

const root = path.resolve(import.meta.dirname, '../..');
const compiler = path.join(root, 'node_modules/@typescript/native/bin/tsc');
/** The settings of a program that uses the client. */
const project = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    moduleDetection: 'force',
    lib: ['es2023', 'es2024.string', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: ['node'],
    typeRoots: [path.join(root, 'node_modules/@types')],
    paths: {
      openai: [path.join(root, 'node_modules/openai')],
      '@anthropic-ai/sdk': [path.join(root, 'node_modules/@anthropic-ai/sdk')],
      'prompt-gateway-client': [path.join(root, 'clients/typescript/src/index.ts')],
    },
  },
  include: ['*.ts'],
};

interface Patched {
  readonly 'x-codeSamples': readonly { readonly lang: string; readonly source: string }[];
}

/** The TypeScript samples of the reference, by method and path. */
function readSamples(): Map<string, string> {
  const paths = patch.paths as unknown as Record<string, Record<string, Patched>>;
  const samples = Object.entries(paths).flatMap(([route, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string] => [
      `${method.toUpperCase()} ${route}`,
      operation['x-codeSamples'].find(({ lang }) => lang === 'TypeScript')?.source ?? '',
    ]),
  );
  return new Map(samples);
}

/** Compiles programs against the client. @returns the messages of the compiler, by program */
async function compile(programs: ReadonlyMap<string, string>): Promise<Map<string, string[]>> {
  const names = [...programs.keys()];
  const folder = await mkdtemp(path.join(tmpdir(), 'samples-'));
  try {
    await Promise.all(
      [...programs.values()].map((source, index) => writeFile(path.join(folder, `${index}.ts`), source)),
    );
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(project));
    const output = await run([compiler, '--project', folder, '--pretty', 'false']);
    const found = new Map<string, string[]>();
    for (const line of output.split('\n').filter((each) => /^\S/.test(each))) {
      const [, file] = /(\d+)\.ts\(\d+,\d+\): error/.exec(line) ?? [];
      const name = file === undefined ? line : (names[Number(file)] ?? line);
      found.set(name, [...(found.get(name) ?? []), line]);
    }
    return found;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** @returns the output */
function run(parameters: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, parameters, (_error, stdout, stderr) => {
      resolve(stdout + stderr);
    });
  });
}

describe('the samples in TypeScript', () => {
  it('compile against the client, for every operation', async () => {
    const samples = readSamples();
    expect(new Set(samples.keys())).toEqual(
      new Set(Object.values(operationTable).map((row) => `${row.method} ${row.path}`)),
    );
    const wrong = (samples.get('POST /v1/orders') ?? '').replace('product_id', 'product');
    const found = await compile(new Map([...samples, ['a misspelt member', wrong]]));
    // The compiler has loaded the types of the client.
    expect(found.get('a misspelt member')).toEqual([expect.stringContaining("'product'")]);
    found.delete('a misspelt member');
    expect(Object.fromEntries(found)).toEqual({});
  });
});
