import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JsonText, toJsonText } from '../../../src/base/runtime/json-text.ts';

describe('toJsonText', () => {
  it('writes texts as they are, wherever they are', () => {
    const value = { a: new JsonText('1e400'), b: [new JsonText('{"x": 12345678901234567890}'), null], c: 'd' };
    expect(toJsonText<unknown>(value).text).toBe('{"a":1e400,"b":[{"x": 12345678901234567890},null],"c":"d"}');
    expect(toJsonText<unknown>(new JsonText('[1]')).text).toBe('[1]');
    expect(toJsonText<unknown>(toJsonText<unknown>({ a: new JsonText('"$&"') })).text).toBe('{"a":"$&"}');
  });

  it.each(['"\\u0041"', '\\u0041', '\\\\u0041', 'A', '\u0000', '\ud800'])('keeps the string %j', (text) => {
    const value = { before: text, [text]: [text, new JsonText(JSON.stringify(text))] };
    expect(JSON.parse(toJsonText<unknown>(value).text)).toEqual({ before: text, [text]: [text, text] });
  });

  it('writes every value as JSON.stringify does', () => {
    const piece = fc.constantFrom('"', '\\', 'u0041', 'A', '\\u0041"', ':', '{', '\ud800', 'ü');
    fc.assert(
      fc.property(fc.array(piece), fc.jsonValue(), (pieces, other) => {
        const text = pieces.join('');
        const plain = { [text]: text, other };
        const withTexts = { [text]: new JsonText(JSON.stringify(text)), other: new JsonText(JSON.stringify(other)) };
        expect(toJsonText<unknown>(withTexts).text).toBe(JSON.stringify(plain));
      }),
    );
  });
});
