import type { AnswerChecker, AnswerMistake } from '../json-schema/answer-checker.ts';
import type { GenerateResult, ResponseFormat } from '../providers/language-model.ts';

/** An answer with the value of its JSON. */
export interface CheckedAnswer {
  readonly result: GenerateResult;
  /** The answer could not be checked in time. It has an object if it is JSON that may not match its schema. */
  readonly isUnverified?: true;
}

/**
 * Reads an answer that has to be JSON, and checks it. Answers that ended early, or with calls of tools, are returned as
 * they are.
 *
 * @param key whose check it is
 * @returns `mistake`, a sentence without any text of the answer, if the answer is not what the format asks for
 */
export async function checkJsonAnswer(
  format: ResponseFormat | undefined,
  result: GenerateResult,
  key: string,
  checker: Pick<AnswerChecker, 'check'>,
): Promise<CheckedAnswer | { readonly mistake: string }> {
  if (format?.type !== 'json' || result.finishReason !== 'stop') return { result };
  const checked = await checker.check({ schema: format.schema, text: result.text }, key);
  switch (checked.status) {
    case 'valid':
      return { result: { ...result, object: checked.object } };
    case 'unverified': {
      const { object } = checked;
      return { result: { ...result, ...(object !== undefined && { object }) }, isUnverified: true };
    }
    case 'invalid':
      return { mistake: `The provider's answer ${inWords(checked.mistake)}.` };
  }
}

function inWords(mistake: AnswerMistake): string {
  switch (mistake.type) {
    case 'not-json':
      return 'is not JSON';
    case 'too-deep':
      return `is nested deeper than ${mistake.limit} levels`;
    case 'mismatch':
      return `does not match the schema (${mistake.keyword})`;
  }
}
