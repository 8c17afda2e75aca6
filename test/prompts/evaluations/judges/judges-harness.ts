import type { Answer, TestService } from '../../../support/service.ts';
import { create, saying } from '../../prompts-harness.ts';
import { ended, evaluationPath, startEvaluation } from '../runs/evaluations-harness.ts';

const judged = {
  type: 'object',
  properties: { pass: { type: 'boolean' }, score: { type: 'number' }, reason: { type: 'string' } },
  required: ['pass'],
};

/** A judge that says what is expected. Echo answers with its prompt. */
export async function createJudge(
  service: TestService,
  text = '{"pass": {{expected}}, "score": 0.5, "reason": "{{rubric}} {{output}}"}',
  more: object = {},
): Promise<{ prompt: string; version: number }> {
  const format = { response_format: { type: 'json', schema: judged } };
  const { id } = await create(service, { ...saying(text), selected_provider: 'echo', ...format, ...more });
  return { prompt: id, version: 1 };
}

export const answersPath = (evaluation: string): string => `${evaluationPath(evaluation)}/judged-answers`;

export async function answersOf(service: TestService, evaluation: string): Promise<Answer['body'][]> {
  const { status, body, text } = await service.call('GET', `${answersPath(evaluation)}?limit=100`);
  if (status !== 200) throw new Error(text);
  return body.data as Answer['body'][];
}

export function mark(service: TestService, evaluation: string, answer: string, pass: boolean): Promise<Answer> {
  return service.call('PUT', `${answersPath(evaluation)}/${answer}/mark`, { body: { pass } });
}

/** Evaluates, and marks the answers as a person would, who leaves some out. @returns the evaluation */
export async function markedBy(
  service: TestService,
  prompt: string,
  body: object,
  person: (answer: Answer['body']) => boolean | undefined,
): Promise<Answer['body']> {
  const evaluation = await ended(service, await startEvaluation(service, prompt, body));
  for (const answer of await answersOf(service, evaluation.id as string)) {
    const pass = person(answer);
    if (pass === undefined) continue;
    const { status, text } = await mark(service, evaluation.id as string, answer.id as string, pass);
    if (status !== 200) throw new Error(text);
  }
  return evaluation;
}
