import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTurns } from '../../../../src/base/runtime/turns.ts';
import { includes } from '../../../../src/prompts/evaluations/checks/includes.ts';

const turns = createTurns();

it('finds what String.prototype.includes finds', async () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 201, maxLength: 220 });
  const repeated = fc.tuple(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 3 }), fc.nat(300));
  await fc.assert(
    fc.asyncProperty(repeated, word, repeated, fc.nat(20), async (before, middle, after, cut) => {
      const text = before[0].repeat(before[1]) + middle + after[0].repeat(after[1]);
      const searched = text.slice(cut, cut + 210);
      expect(await includes(text, searched, turns)).toBe(true);
      expect(await includes(text, `${searched.slice(1)}c`, turns)).toBe(false);
      expect(await includes(text, middle, turns)).toBe(true);
      expect(await includes(text.slice(1), searched, turns)).toBe(text.slice(1).includes(searched));
    }),
  );
});

it('takes linear time, in turns with others', async () => {
  const half = 'a'.repeat(30_000);
  let turnsOfOthers = 0;
  const others = setInterval(() => (turnsOfOthers += 1));
  // `String.prototype.includes` needs minutes.
  const searches = Array.from({ length: 10 }, () => includes('a'.repeat(1_000_000), `${half}b${half}`, turns));
  expect(await Promise.all(searches)).toEqual(Array(10).fill(false));
  clearInterval(others);
  expect(turnsOfOthers).toBeGreaterThan(5);
});
