import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findJsonMistake } from '../../../src/base/json-schema/json-mistake.ts';

describe('the place where a text stops being JSON', () => {
  it.each([
    ['', 0],
    [' \n', 2],
    ['Here you are: {}', 0],
    ['```json\n{}\n```', 0],
    ['{"a": 1} Done.', 9],
    ['{"a": 1,}', 8],
    ['[1, 2,]', 6],
    ['[1 2]', 3],
    ['{a: 1}', 1],
    ['{"a" 1}', 5],
    ['{"a": }', 6],
    ['{"a": 1', 7],
    ['["unfinished', 12],
    ['["line\nbreak"]', 6],
    ['["\\x"]', 2],
    ['["\\u12"]', 2],
    ['[01]', 2],
    ['[1.]', 2],
    ['[-]', 1],
    ['[NaN]', 1],
    ['[truE]', 1],
    ['[}', 1],
    ['{]', 1],
    ['1]', 1],
    ['[1}', 2],
    ["{'a': 1}", 1],
  ])('of %j is %i', (text, place) => {
    expect(findJsonMistake(text)).toBe(place);
  });

  it('is one if and only if JSON.parse refuses it', () => {
    const pieces = fc.constantFrom(...'{}[],:"\\ 0-1.e+'.split(''), 'true', 'null', '"a"', '"a":1', '\\u00e9', '\n');
    const broken = fc.array(pieces, { maxLength: 12 }).map((some) => some.join(''));
    const cut = fc.json().chain((json) => fc.nat(json.length).map((end) => json.slice(0, end)));
    fc.assert(
      fc.property(fc.oneof(fc.json(), broken, cut), (text) => {
        expect(findJsonMistake(text) === undefined).toBe(isJson(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('of a string of 4 MiB is found', () => {
    expect(findJsonMistake(`["${'x\\n'.repeat(1_400_000)}"`)).toBe(2 + 3 * 1_400_000 + 1);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
