import type { AnswerCounts } from '../support/recorded-answers.ts';
import { declaredAnswers } from './declared-answers.ts';
import { reasonNotReached } from './unreached-answers.ts';

/** Compares the answers that a test run recorded with the answers that the contract declares. */
export interface Comparison {
  /** Names of declared answers without a reason that no test reached. */
  readonly missing: readonly string[];
  /** Every declared answer with its count and its test files, in Markdown. */
  readonly table: string;
}

/**
 * Compares recorded answers with the contract.
 * @param recorded the answers of each test file
 */
export function compareAnswers(recorded: ReadonlyMap<string, AnswerCounts>): Comparison {
  const found = declaredAnswers().map((answer) => {
    const counts = [...recorded].map(([file, { [answer.name]: count = 0 }]) => ({ file, count }));
    const files = counts.filter(({ count }) => count > 0).map(({ file }) => file);
    return { ...answer, files: files.sort(), count: counts.reduce((sum, { count }) => sum + count, 0) };
  });
  const rows = found.map((answer) => {
    const { operation, status, problem = '', count } = answer;
    return `| ${[operation, status, problem, count, count > 0 ? list(answer.files) : (reasonNotReached(answer) ?? '**missing**')].join(' | ')} |`;
  });
  return {
    missing: found
      .filter((answer) => answer.count === 0 && reasonNotReached(answer) === undefined)
      .map(({ name }) => name),
    table: `| Operation | Status | Problem type | Answers | Recorded in |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`,
  };
}

function list(files: readonly string[]): string {
  const more = files.length - 3;
  return `${files.slice(0, 3).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
