/** What `npm run program -- mutants` needs inside the processes that run tests. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.join(import.meta.dirname, '../../..');

/** The folder for the coverage of each test file. */
export const coverageVariable = 'MUTANTS_COVERAGE';
/** A {@link Swap} as JSON. */
export const mutantVariable = 'MUTANT';

/** A text of a file that is replaced while it is loaded. */
export interface Swap {
  /** From the repository. */
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The functions of `src` that a test file called. */
export interface Coverage {
  readonly test: string;
  readonly passed: boolean;
  readonly cpuSeconds: number;
  /** Where the functions begin and end, by the path of the file. */
  readonly functions: Readonly<Record<string, readonly (readonly [start: number, end: number])[]>>;
}

/** Loads the file of the mutant with its text. Nothing is written, so the working tree stays as it is. */
export function swapMutant(): void {
  const variable = process.env[mutantVariable];
  if (variable === undefined) return;
  const { file, start, end, text } = JSON.parse(variable) as Swap;
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.startsWith('file:') || path.relative(root, fileURLToPath(url)) !== file) return loaded;
      const source = Buffer.from(loaded.source as Uint8Array).toString();
      return { ...loaded, source: source.slice(0, start) + text + source.slice(end) };
    },
  });
}

let session: Session | undefined;

/** Begins to count the calls of functions for a test file, if coverage is wanted. */
export async function beginCoverage(): Promise<void> {
  if (process.env[coverageVariable] === undefined) return;
  if (session === undefined) {
    session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }
  // Taking it sets all counts to zero.
  await session.post('Profiler.takePreciseCoverage');
}

/** Stores which functions were called since `beginCoverage`. */
export async function storeCoverage(testPath: string, passed: boolean, cpuSeconds: number): Promise<void> {
  const folder = process.env[coverageVariable];
  if (folder === undefined || session === undefined) return;
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const functions: Record<string, [number, number][]> = {};
  for (const { url, functions: all } of result) {
    const file = url.startsWith('file:') ? path.relative(root, fileURLToPath(url)) : '';
    if (!file.startsWith('src/')) continue;
    functions[file] = all.flatMap(({ ranges: [range] }) =>
      range === undefined || range.count === 0 ? [] : [[range.startOffset, range.endOffset] as [number, number]],
    );
  }
  const test = path.relative(root, testPath);
  const coverage: Coverage = { test, passed, cpuSeconds, functions };
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `${test.replaceAll('/', '+')}.json`), JSON.stringify(coverage));
}
