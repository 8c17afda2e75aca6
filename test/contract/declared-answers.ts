import { operationTable, type OperationRow } from '../../generated/operations.ts';
import { problems } from '../../generated/problems.ts';

/** A status of an operation. A status of failures occurs once for each of its problem types. */
export interface DeclaredAnswer {
  readonly operation: string;
  readonly status: string;
  readonly problem: string | undefined;
  /** As in `AnswerCounts`. */
  readonly name: string;
  readonly takesBody: boolean;
}

/** Every answer that the contract declares. */
export function declaredAnswers(): DeclaredAnswer[] {
  return Object.entries<OperationRow>(operationTable).flatMap(([operation, { responses, problems: types, body }]) =>
    Object.keys(responses)
      .filter((status) => status !== 'default')
      .flatMap((status) => {
        const own = types.filter((slug) => String(problems[slug as keyof typeof problems].status) === status);
        return (own.length === 0 ? [undefined] : own).map((problem) => {
          const name = [operation, status, ...(problem === undefined ? [] : [problem])].join(' ');
          return { operation, status, problem, name, takesBody: body !== 'none' };
        });
      }),
  );
}
