import type { AnswerMistake } from './answer-checker.ts';

/** What an answer does wrong, after the word for it. No text of the answer is in it. */
export function inWords(mistake: AnswerMistake): string {
  switch (mistake.type) {
    case 'not-json': {
      const { after, length } = mistake;
      if (length === 0) return 'is not JSON: it is empty';
      return after < length
        ? `is not JSON at character ${after + 1}`
        : `is not JSON: it ends too early (${length} characters)`;
    }
    case 'too-deep':
      return `is nested deeper than ${mistake.limit} levels`;
    case 'mismatch': {
      const { place, keyword, reason } = mistake;
      const wanted = reason === undefined ? keyword : `${keyword}: ${reason}`;
      return `does not match the schema at ${place === '' ? 'its top' : place} (${wanted})`;
    }
  }
}
