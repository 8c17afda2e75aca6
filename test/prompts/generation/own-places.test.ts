import { expect, it } from '@jest/globals';
import { ProblemError } from '../../../src/base/errors/problem-error.ts';
import { atOwnPlaces } from '../../../src/prompts/generation/own-places.ts';

it('names each mistake of a place once', () => {
  const errors = ['temperature', 'top_p', 'top_k'].map((name) => ({
    pointer: `#/parameters/${name}`,
    detail: name === 'top_k' ? 'is not known' : 'cannot be combined',
  }));
  const moved = atOwnPlaces(new ProblemError('invalid-request', { detail: 'No.', errors }), [[/^#.*$/, '#/options']]);
  expect(moved).toMatchObject({
    errors: [
      { pointer: '#/options', detail: 'cannot be combined' },
      { pointer: '#/options', detail: 'is not known' },
    ],
  });
});
