import { listOperations, resolve } from '../../src/codegen/contract-document.ts';
import { contract } from '../support/schema-arbitraries.ts';

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
  return listOperations(contract).flatMap(({ operation: { operationId: operation, responses, requestBody } }) =>
    Object.entries(responses)
      .filter(([status]) => status !== 'default')
      .flatMap(([status, response]) => {
        const own = resolve(contract, response)['x-problem-types'] ?? [];
        return (own.length === 0 ? [undefined] : own).map((problem) => {
          const name = [operation, status, ...(problem === undefined ? [] : [problem])].join(' ');
          return { operation, status, problem, name, takesBody: requestBody !== undefined };
        });
      }),
  );
}
