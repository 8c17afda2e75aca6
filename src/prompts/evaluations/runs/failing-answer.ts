import { ProblemError } from '../../../base/errors/problem-error.ts';
import { isTransient } from '../../../models/call/failures.ts';
import type { FinishReason, GenerateResult } from '../../../models/language-model.ts';

/** Why an answer does not pass, whatever the checks say: callers could not use it. */
export type Failure = 'broken-format' | 'cut' | 'filtered' | 'refused';

/** What follows from the failure of an invocation. */
export type Consequence =
  /** It counts as an answer that does not pass. */
  | Failure
  /** It is asked again, a few times. */
  | 'again'
  /** It was not asked, because the service or the queue of the provider was busy. */
  | 'later'
  /** It has no answer, and would get none if it were asked again. */
  | 'error'
  /** A budget ends the evaluation. */
  | 'stop';

/** Whether callers could use a whole answer. */
export function failureOf(finishReason: FinishReason): Failure | undefined {
  if (finishReason === 'length') return 'cut';
  return finishReason === 'content-filter' ? 'filtered' : undefined;
}

/** @param refused the whole answer of the last call, if it broke its format */
export function consequenceOf(error: unknown, refused: GenerateResult | undefined): Consequence {
  if (!(error instanceof ProblemError)) return 'again';
  const { type, status, extensions } = error;
  switch (type) {
    case 'budget-exceeded':
    case 'cost-unknown':
      return 'stop';
    case 'too-much-in-progress':
      return 'later';
    case 'provider-refused-credentials':
      return 'error';
    case 'provider-bad-answer':
      return refused === undefined ? 'again' : 'broken-format';
    case 'provider-timeout':
      // Only a call that did not get its turn can be repeated freely.
      return extensions.retryable === true ? 'later' : 'again';
    case 'provider-failed': {
      const { provider_status: answered = 500 } = extensions;
      return answered >= 400 && answered < 500 && !isTransient(answered) ? 'refused' : 'again';
    }
    default:
      return status === 503 ? 'later' : 'again';
  }
}
