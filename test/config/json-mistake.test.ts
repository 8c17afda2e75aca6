import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findJsonMistake } from '../../src/config/json-mistake.ts';
import { runSettings } from '../support/run-settings.ts';

describe('the mistake in JSON', () => {
  it.each([
    ['{"a": 1,}', 'line 1, column 9'],
    ["[{'id': 1}]", 'line 1, column 3'],
    ['[1,\n 2\n 3]', 'line 3, column 2'],
    ['[{"api_key":"secret",', 'its end (line 1, column 22)'],
    ['["secret]', 'line 1, column 2'],
    ['{"a" 1}', 'line 1, column 6'],
    ['[01]', 'line 1, column 3'],
    ['[1] 2', 'line 1, column 5'],
    ['nul', 'line 1, column 1'],
    ['{a: 1}', 'line 1, column 2'],
  ])('of %j is at %s', (text, place) => {
    expect(findJsonMistake(text)).toBe(place);
  });

  it('is found in exactly the texts that JSON.parse refuses', () => {
    const near = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', '[', '\\', ':', '-', '\n', '\u0001', 'e'))
      .map(
        ([text, at, inserted]) => text.slice(0, at % (text.length + 1)) + inserted + text.slice(at % (text.length + 1)),
      );
    fc.assert(
      fc.property(fc.oneof(fc.json(), near, fc.string()), (text) => {
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        expect(findJsonMistake(text) === undefined).toBe(isJson);
      }),
      runSettings(500),
    );
  });

  it('is found in texts that are nested without end', () => {
    expect(findJsonMistake('['.repeat(100_000))).toBe('line 1, column 101');
  });
});
