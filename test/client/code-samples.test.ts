import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import patch from '../../generated/reference-patch.json' with { type: 'json' };
import { operationTable } from '../../generated/operations.ts';

const root = path.resolve(import.meta.dirname, '../..');

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
function compile(programs: ReadonlyMap<string, string>): Map<string, string[]> {
  const folder = path.join(root, 'clients/typescript/samples');
  const files = new Map(
    [...programs].map(([name, source], index) => [path.join(folder, `${index}.ts`), { name, source }]),
  );
  const options: ts.CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    moduleDetection: ts.ModuleDetectionKind.Force,
    lib: [
      'lib.es2023.d.ts',
      'lib.es2024.string.d.ts',
      'lib.dom.d.ts',
      'lib.dom.iterable.d.ts',
      'lib.dom.asynciterable.d.ts',
    ],
    types: ['node'],
    typeRoots: [path.join(root, 'node_modules/@types')],
    paths: { 'prompt-gateway-client': [path.join(root, 'clients/typescript/src/index.ts')] },
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file)?.source ?? readFile(file);
  host.getSourceFile = (file, languageVersion, ...rest) => {
    const source = files.get(file)?.source;
    if (source === undefined) return getSourceFile(file, languageVersion, ...rest);
    return ts.createSourceFile(file, source, languageVersion);
  };
  const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram([...files.keys()], options, host));
  const found = new Map<string, string[]>();
  for (const { file, messageText } of diagnostics) {
    const name = files.get(file?.fileName ?? '')?.name ?? file?.fileName ?? '';
    found.set(name, [...(found.get(name) ?? []), ts.flattenDiagnosticMessageText(messageText, '\n')]);
  }
  return found;
}

describe('the samples in TypeScript', () => {
  it('compile against the client, for every operation', () => {
    const samples = readSamples();
    expect(new Set(samples.keys())).toEqual(
      new Set(Object.values(operationTable).map((row) => `${row.method} ${row.path}`)),
    );
    const wrong = (samples.get('POST /v1/orders') ?? '').replace('product_id', 'product');
    const found = compile(new Map([...samples, ['a misspelt member', wrong]]));
    // The compiler has loaded the types of the client.
    expect(found.get('a misspelt member')).toEqual([expect.stringContaining("'product'")]);
    found.delete('a misspelt member');
    expect(Object.fromEntries(found)).toEqual({});
  });
});
