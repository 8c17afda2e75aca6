import { operationTable, type OperationRow } from '../../generated/operations.ts';
import { problems } from '../../generated/problems.ts';
import type { AnswerCounts } from '../support/recorded-answers.ts';
import { unreached } from './unreached-answers.ts';

/** What a run of the tests recorded, compared with what the contract declares. */
export interface Comparison {
  /** Statuses and problem types that no test reached, and that stand in no list. Named as in `AnswerCounts`. */
  readonly missing: readonly string[];
  /** Every operation, status and problem type, with the number of answers and where they were recorded; Markdown. */
  readonly table: string;
}

interface Row {
  readonly operation: string;
  readonly status: string;
  readonly problem: string | undefined;
  readonly name: string;
}

/**
 * Compares recorded answers with the contract.
 * @param recorded the answers of each test file
 */
export function compareAnswers(recorded: ReadonlyMap<string, AnswerCounts>): Comparison {
  const found = declaredAnswers().map((row) => {
    const files = [...recorded].filter(([, counts]) => counts[row.name] !== undefined);
    const count = files.reduce((sum, [, counts]) => sum + (counts[row.name] ?? 0), 0);
    return {
      ...row,
      count,
      files: files.map(([file]) => file).sort(),
      reason: unreached[row.name] ?? unreached[row.problem ?? ''],
    };
  });
  return {
    missing: found.filter(({ count, reason }) => count === 0 && reason === undefined).map(({ name }) => name),
    table: [
      '| Operation | Status | Problem type | Answers | Recorded in |',
      '| --- | --- | --- | --- | --- |',
      ...found.map(({ operation, status, problem, count, files, reason }) => {
        const where =
          files.length > 3 ? `${files.slice(0, 3).join(', ')} and ${files.length - 3} more` : files.join(', ');
        return `| ${[operation, status, problem ?? '', count, count === 0 ? (reason ?? '**missing**') : where].join(' | ')} |`;
      }),
      '',
    ].join('\n'),
  };
}

/** Every status of every operation; a status of failures once for each of its problem types. */
export function declaredAnswers(): Row[] {
  return Object.entries<OperationRow>(operationTable).flatMap(([operation, { responses, problems: types }]) =>
    Object.keys(responses)
      .filter((status) => status !== 'default')
      .flatMap((status): Row[] => {
        const own = types.filter((slug) => String(problems[slug as keyof typeof problems].status) === status);
        if (own.length === 0) return [{ operation, status, problem: undefined, name: `${operation} ${status}` }];
        return own.map((problem) => ({ operation, status, problem, name: `${operation} ${status} ${problem}` }));
      }),
  );
}
