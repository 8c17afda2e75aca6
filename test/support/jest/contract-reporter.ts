import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { addResult, createEmptyTestResult, type AggregatedResult, type TestResult } from '@jest/test-result';
import { compareAnswers } from '../../contract/compare-answers.ts';
import type { AnswerCounts } from '../recorded-answers.ts';

const root = path.join(import.meta.dirname, '../../..');

/**
 * Collects what the test files recorded. After the last file of a whole run it writes the table of declared answers to
 * `coverage/contract.md` and adds a result to the run: a failure if an answer is missing.
 */
export default class ContractReporter {
  readonly #isFiltered: boolean;
  #isWhole = false;
  readonly #recorded = new Map<string, AnswerCounts>();

  constructor({ testNamePattern }: { readonly testNamePattern?: string }) {
    this.#isFiltered = testNamePattern !== undefined && testNamePattern !== '';
  }

  onRunStart({ numTotalTestSuites }: AggregatedResult): void {
    this.#isWhole = !this.#isFiltered && numTotalTestSuites === globSync('test/**/*.test.ts', { cwd: root }).length;
  }

  onTestResult(_test: unknown, result: TestResult & { readonly answers?: AnswerCounts }): void {
    this.#recorded.set(path.relative(root, result.testFilePath), result.answers ?? {});
  }

  onRunComplete(_contexts: unknown, results: AggregatedResult): void {
    if (!this.#isWhole) return;
    const { missing, table } = compareAnswers(this.#recorded);
    mkdirSync(path.join(root, 'coverage'), { recursive: true });
    writeFileSync(path.join(root, 'coverage/contract.md'), table);
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
