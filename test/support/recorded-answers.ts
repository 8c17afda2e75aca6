import type { OperationId } from '../../generated/operations.ts';
import type { WireAnswer } from './contract-check.ts';

/** The count of each recorded answer, by a name such as `createPrompt 201` or `createPrompt 409 slug-taken`. */
export type AnswerCounts = Readonly<Record<string, number>>;

const counts = new Map<string, number>();

/**
 * Records an answer to a request that a test contains. Answers to generated requests are not recorded, because the next
 * run generates other requests.
 */
export function recordAnswer(operationId: OperationId, { status, headers, text }: WireAnswer): void {
  const isProblem = headers['content-type']?.startsWith('application/problem+json') === true;
  const problem = isProblem ? (JSON.parse(text) as { type: string }).type.split(':').slice(-1) : [];
  const name = [operationId, status, ...problem].join(' ');
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** The records of this process since the last call. */
export function takeRecordedAnswers(): AnswerCounts {
  const taken = Object.fromEntries(counts);
  counts.clear();
  return taken;
}
