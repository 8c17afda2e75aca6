import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findPlaces } from '../../../src/base/runtime/json-places.ts';
import { runSettings } from '../../support/run-settings.ts';

/** The values of the members, as their places in the text have them. */
function valuesOf(text: string): Record<string, string> {
  const { members } = findPlaces(text);
  return Object.fromEntries([...members].map(([name, place]) => [name, text.slice(...place)]));
}

describe('the members of a JSON object', () => {
  it.each([
    ['{}', {}],
    [' { } ', {}],
    ['{"a":1}', { a: '1' }],
    ['{ "a" : 1.50e+2 , "b":"x,}\\"]" }', { a: '1.50e+2', b: '"x,}\\"]"' }],
    ['{"a":{"a":[{"b":1}, "a"]},"b":[ ]}', { a: '{"a":[{"b":1}, "a"]}', b: '[ ]' }],
    ['{"\\u0061":true,"b":null\n}', { a: 'true', b: 'null' }],
    ['{"a":"\\\\","b":"\\\\\\""}', { a: '"\\\\"', b: '"\\\\\\""' }],
  ])('of %s', (text, expected) => {
    expect(valuesOf(text)).toEqual(expected);
  });

  it('of any object have the values that are read', () => {
    const blank = fc.constantFrom('', ' ', '\n\t');
    const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(object, blank, (value, space) => {
        const text = JSON.stringify(value, null, space);
        const read = Object.entries(valuesOf(text)).map(([name, json]) => [name, JSON.parse(json) as unknown]);
        expect(Object.fromEntries(read)).toEqual(JSON.parse(text));
        expect(findPlaces(text).repeated).toBeUndefined();
      }),
      runSettings(300),
    );
  });
});

it.each([
  ['{"a":[{"b":{"c":1.0}},{"b": [ 2 ] ,"c":{"b":3}}, {}]}', { '#/a/0/b': '{"c":1.0}', '#/a/1/b': '[ 2 ]' }],
  ['{"a":[1,[{"b":1}],"x",{"\\u0062":{}}],"b":[{"b":1}]}', { '#/a/3/b': '{}' }],
  ['{"a":[{"b":1}],"a":[{"b":2},{"b":{}}]}', { '#/a/0/b': '2', '#/a/1/b': '{}' }],
  ['{"a":{"0":{"b":1}}}', {}],
])('members on a path are found: %s', (text, expected) => {
  const { inner } = findPlaces(text, ['a', null, 'b']);
  expect(Object.fromEntries([...inner].map(([place, range]) => [place, text.slice(...range)]))).toEqual(expected);
});

it.each([
  ['{"a":1,"a":1}', 'a'],
  ['{"a":{"b":1,"\\u0062":2}}', 'b'],
  ['{"a":[{"b":[1]},{"c":{"":1,"":2}}]}', ''],
  ['{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}', undefined],
  ['{"a":"\\"a\\":1","b":["a","a"]}', undefined],
])('names that occur twice in an object are found: %s', (text, repeated) => {
  expect(findPlaces(text).repeated).toBe(repeated);
});
