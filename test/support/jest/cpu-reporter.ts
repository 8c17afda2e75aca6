import path from 'node:path';
import type { AggregatedResult, TestResult } from '@jest/test-result';

/** The CPU time of a test file, in seconds. */
export interface CpuTime {
  /** In the process of the tests, with the service. */
  readonly tests: number;
  /** In processes that the file started and that have ended. */
  readonly children: number;
  readonly database: number;
}

const root = path.join(import.meta.dirname, '../../..');
const shown = 40;

/** Prints the files that use the most CPU time, with `TEST_CPU=on`. Other load of the machine does not count. */
export default class CpuReporter {
  readonly #rows: Record<string, string | number>[] = [];

  onTestResult(_test: unknown, result: TestResult & { readonly cpu?: CpuTime }): void {
    const { tests, children, database } = result.cpu ?? { tests: 0, children: 0, database: 0 };
    const { start, end } = result.perfStats;
    this.#rows.push({
      file: path.relative(root, result.testFilePath),
      cases: result.testResults.length,
      seconds: (end - start) / 1_000,
      tests: round(tests),
      children: round(children),
      database: round(database),
      cpu: round(tests + children + database),
    });
  }

  onRunComplete(_contexts: unknown, { startTime }: AggregatedResult): void {
    const sum = (name: string): number => round(this.#rows.reduce((total, row) => total + Number(row[name]), 0));
    const columns = ['cases', 'tests', 'children', 'database', 'cpu'];
    const total = { file: 'all files', seconds: (Date.now() - startTime) / 1_000 };
    const rows = this.#rows.toSorted((a, b) => Number(b['cpu']) - Number(a['cpu'])).slice(0, shown);
    console.table([...rows, { ...total, ...Object.fromEntries(columns.map((name) => [name, sum(name)])) }]);
  }
}

function round(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}
