import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { includes } from '../../../../src/prompts/evaluations/checks/includes.ts';

it('finds what String.prototype.includes finds', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 201, maxLength: 220 });
  const repeated = fc.tuple(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 3 }), fc.nat(300));
  fc.assert(
    fc.property(repeated, word, repeated, fc.nat(20), (before, middle, after, cut) => {
      const text = before[0].repeat(before[1]) + middle + after[0].repeat(after[1]);
      const searched = text.slice(cut, cut + 210);
      expect(includes(text, searched)).toBe(true);
      expect(includes(text, `${searched.slice(1)}c`)).toBe(false);
      expect(includes(text, middle)).toBe(true);
      expect(includes(text.slice(1), searched)).toBe(text.slice(1).includes(searched));
    }),
  );
});

it('takes linear time', () => {
  const half = 'a'.repeat(30_000);
  const includesOften = (): boolean[] =>
    Array.from({ length: 10 }, () => includes('a'.repeat(1_000_000), `${half}b${half}`));
  // `String.prototype.includes` needs minutes.
  expect(includesOften()).toEqual(Array(10).fill(false));
});
