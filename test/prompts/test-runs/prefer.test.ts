import { describe, expect, it } from '@jest/globals';
import { cpuMilliseconds, linearWorkMs } from '../../support/cpu-time.ts';
import { prefersAsync } from '../../../src/prompts/test-runs/prefer.ts';

describe('prefersAsync', () => {
  it.each([
    'respond-async',
    'Respond-Async',
    '  respond-async\t',
    'respond-async=',
    'respond-async=""',
    'respond-async; wait=10',
    'respond-async, wait=10',
    'wait=10, respond-async',
    'wait = 10 ,respond-async',
    'return=minimal; foo="some, \\"parameter; ", respond-async',
    ', ,respond-async,',
  ])('finds it in %p', (field) => {
    expect(prefersAsync(field)).toBe(true);
  });

  it.each([
    undefined,
    '',
    'wait=10',
    'respond-asynchronously',
    'x-respond-async',
    'respond-async=no',
    'respond-async="no"',
    'foo; respond-async',
    'foo=respond-async',
    'foo="bar, respond-async"',
    'foo="\\", respond-async"',
    'foo="unfinished, respond-async',
    '"respond-async"',
  ])('finds none in %p', (field) => {
    expect(prefersAsync(field)).toBe(false);
  });

  it('reads hostile fields in linear time', () => {
    for (const part of [' ', '\t=', '"\\', ';,', 'a="']) {
      expect(cpuMilliseconds(() => prefersAsync(part.repeat(50_000)))).toBeLessThan(linearWorkMs);
    }
  });
});
