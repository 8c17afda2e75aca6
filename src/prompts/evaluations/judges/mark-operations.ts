import type { components } from '../../../../generated/types.ts';
import { requireCases } from '../../../base/limits/cases.ts';
import { defined } from '../../../base/runtime/objects.ts';
import { answerPage } from '../../../http/list-answer.ts';
import type { OperationHandlers } from '../../../http/operation.ts';
import { answerId } from './judged-answers.ts';
import type { Mark } from './mark-store.ts';
import { showCalibration, type Marks } from './marks.ts';

type MarkOperations = Pick<OperationHandlers, 'listJudgedAnswers' | 'setMark' | 'getCalibration'>;

export function markOperations(marks: Marks): MarkOperations {
  return {
    async listJudgedAnswers(input) {
      const { path, context } = input;
      requireCases(context.principal);
      return await answerPage(
        input,
        () => marks.answers(path.id, context.signal),
        ({ answer, mark }) => {
          const { variables, messages, expected } = answer.case;
          return {
            id: answerId(answer.place),
            ...defined({ rubric: answer.rubric, at: answer.check.at, output: answer.output }),
            ...defined({ variables, messages, expected, mark: mark && showMark(mark) }),
          };
        },
      );
    },
    async setMark({ path: { id, answer }, body: { pass }, context }) {
      if (context.principal.reach?.prompts !== undefined) requireCases(context.principal);
      return { status: 200, body: showMark(await marks.set(id, answer, pass, context.principal, context.signal)) };
    },
    async getCalibration({ path: { id } }) {
      return { status: 200, body: { judges: (await marks.ofEvaluation(id)).map(showCalibration) } };
    },
  };
}

function showMark({ pass, author, markedAt }: Mark): components['schemas']['AnswerMark'] {
  return { pass, author, marked_at: markedAt.toISOString() };
}
