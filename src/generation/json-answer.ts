import type { AnswerChecker } from '../json-schema/answer-checker.ts';
import type { GenerateResult, Json, ResponseFormat } from '../providers/generation.ts';

/** An answer with the value of its JSON. */
export interface CheckedAnswer {
  readonly result: GenerateResult;
  /** The answer could not be checked against its schema in time. */
  readonly isUnverified?: true;
}

/** The deepest nesting of arrays and objects in an answer, which is also written as JSON again. */
const maxDepth = 100;

/**
 * Parses an answer that has to be JSON, and checks it. Answers that ended early, or with calls of tools, are returned
 * as they are.
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
  let object: Json;
  try {
    object = JSON.parse(result.text) as Json;
  } catch {
    return { mistake: "The provider's answer is not JSON." };
  }
  if (isDeeperThan(maxDepth, object)) {
    return { mistake: `The provider's answer is nested deeper than ${maxDepth} levels.` };
  }
  const parsed = { ...result, object };
  if (format.schema === undefined) return { result: parsed };
  const checked = await checker.check({ schema: format.schema, json: result.text }, key);
  switch (checked.status) {
    case 'valid':
      return { result: parsed };
    case 'unverified':
      return { result: parsed, isUnverified: true };
    case 'invalid':
      return { mistake: `The provider's answer does not match the schema (${checked.keyword}).` };
  }
}

function isDeeperThan(limit: number, value: Json): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((node) => (typeof node === 'object' && node !== null ? Object.values(node) : []));
  }
  return false;
}
