import type { OperationId } from '../../generated/operations.ts';
import { problemSlug, type WireAnswer } from './contract-check.ts';

/** The count of each recorded answer, by a name such as `createPrompt 201` or `createPrompt 409 slug-taken`. */
export type AnswerCounts = Readonly<Record<string, number>>;

const counts = new Map<string, number>();

/**
 * Records an answer to a request that a test contains. Answers to generated requests are not recorded, because the next
 * run generates other requests.
 */
export function recordAnswer(operationId: OperationId, { status, headers, text }: WireAnswer): void {
  const problem = status < 400 ? undefined : problemSlug({ headers, text });
  const name = [operationId, status, ...(problem === undefined ? [] : [problem])].join(' ');
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** The records of this process since the last call. */
export function takeRecordedAnswers(): AnswerCounts {
  const taken = Object.fromEntries(counts);
  counts.clear();
  return taken;
}
