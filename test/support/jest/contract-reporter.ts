import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { addResult, createEmptyTestResult, type AggregatedResult, type TestResult } from '@jest/test-result';
import { compareAnswers } from '../../contract/compare-answers.ts';
import type { AnswerCounts } from '../recorded-answers.ts';

const root = path.join(import.meta.dirname, '../../..');
/** The records of the last complete run, for running some of its files again (`TEST_AGAIN`). */
const recordFile = path.join(root, 'coverage/answers.json');

/**
 * Collects the records of the test files. After the last file of a complete run it writes the table of declared answers
 * to `coverage/contract.md`, and adds a result to the run. The result is a failure if an answer is missing. It does the
 * same when some files of a complete run run again.
 */
export default class ContractReporter {
  readonly #isFiltered: boolean;
  readonly #isAgain: boolean;
  #isWhole = false;
  readonly #recorded: Map<string, AnswerCounts>;

  constructor({ testNamePattern }: { readonly testNamePattern?: string }) {
    this.#isFiltered = testNamePattern !== undefined && testNamePattern !== '';
    this.#isAgain = process.env['TEST_AGAIN'] === 'on';
    const before = this.#isAgain ? (JSON.parse(readFileSync(recordFile, 'utf8')) as [string, AnswerCounts][]) : [];
    this.#recorded = new Map(before);
  }

  onRunStart({ numTotalTestSuites }: AggregatedResult): void {
    const all = globSync('test/**/*.test.ts', { cwd: root }).filter((file) => !file.endsWith('.system.test.ts')).length;
    this.#isWhole = this.#isAgain || (!this.#isFiltered && numTotalTestSuites === all);
  }

  onTestResult(_test: unknown, result: TestResult & { readonly answers?: AnswerCounts }): void {
    this.#recorded.set(path.relative(root, result.testFilePath), result.answers ?? {});
  }

  onRunComplete(_contexts: unknown, results: AggregatedResult): void {
    if (!this.#isWhole) return;
    const { missing, table } = compareAnswers(this.#recorded);
    mkdirSync(path.join(root, 'coverage'), { recursive: true });
    writeFileSync(path.join(root, 'coverage/contract.md'), table);
    writeFileSync(recordFile, JSON.stringify([...this.#recorded]));
    const failureMessages = missing.length === 0 ? [] : [['No test reached:', ...missing].join('\n  ')];
    results.numTotalTestSuites += 1;
    addResult(results, {
      ...createEmptyTestResult(),
      testFilePath: path.join(root, 'coverage/contract.md'),
      numPassingTests: missing.length === 0 ? 1 : 0,
      numFailingTests: missing.length === 0 ? 0 : 1,
      ...(missing.length === 0 ? {} : { failureMessage: failureMessages.join() }),
      testResults: [
        {
          ancestorTitles: [],
          title: 'every answer that an operation declares was recorded',
          fullName: 'every answer that an operation declares was recorded',
          status: missing.length === 0 ? 'passed' : 'failed',
          failureMessages,
          failureDetails: [],
          numPassingAsserts: 0,
        },
      ],
    });
  }
}
