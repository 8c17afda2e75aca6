import { describe, expect, it } from '@jest/globals';
import { cpuMilliseconds, linearWorkMs } from '../../support/cpu-time.ts';
import type { CachePolicy } from '../../../src/prompts/generation/answers.ts';
import { parseCacheControl } from '../../../src/prompts/invoke/cache-control.ts';

const nothing: CachePolicy = { maxAgeMs: 0, store: false, onlyIfCached: false };
const refresh: CachePolicy = { maxAgeMs: 0, store: true, onlyIfCached: false };
const upTo = (seconds: number): CachePolicy => ({ maxAgeMs: seconds * 1000, store: true, onlyIfCached: false });

describe('without a default age', () => {
  it.each<[string | undefined, CachePolicy]>([
    [undefined, nothing],
    ['', nothing],
    [' , ,', nothing],
    ['max-age=60', upTo(60)],
    ['max-age=0', refresh],
    ['no-cache', refresh],
    ['no-store', nothing],
    ['only-if-cached', { maxAgeMs: Infinity, store: false, onlyIfCached: true }],
    ['only-if-cached, max-age=60', { ...upTo(60), onlyIfCached: true }],
    ['only-if-cached, no-cache', { ...refresh, onlyIfCached: true }],
    ['only-if-cached, no-store', { ...nothing, onlyIfCached: true }],
  ])('reads %j', (field, policy) => {
    expect(parseCacheControl(field, 0)).toEqual(policy);
  });

  it.each<[string, CachePolicy]>([
    ['no-cache, max-age=60', refresh],
    ['no-store, max-age=60', nothing],
    ['no-cache, no-store', nothing],
    ['max-age=60, max-age=30', upTo(30)],
    ['max-age=30, max-age=60', upTo(30)],
    ['no-cache, no-cache', refresh],
  ])('lets the strictest directive win: %j', (field, policy) => {
    expect(parseCacheControl(field, 0)).toEqual(policy);
  });

  it.each<[string, CachePolicy]>([
    ['MAX-AGE=60', upTo(60)],
    ['max-age="60"', upTo(60)],
    ['\t max-age=60 ,', upTo(60)],
    ['max-age=060', upTo(60)],
    ['No-Store', nothing],
    ['no-cache=whatever', refresh],
  ])('takes every spelling: %j', (field, policy) => {
    expect(parseCacheControl(field, 0)).toEqual(policy);
  });

  it.each(['max-age', 'max-age=', 'max-age=soon', 'max-age=-1', 'max-age=1.5', 'max-age="60', 'max-age=1e3'])(
    'reads an invalid age as 0: %j',
    (field) => {
      expect(parseCacheControl(field, 0)).toEqual(refresh);
    },
  );

  it('reads a number with any number of digits', () => {
    expect(parseCacheControl(`max-age=${'9'.repeat(500)}`, 0)).toEqual(upTo(2 ** 31));
  });

  it.each([
    'max-stale=60',
    'min-fresh=1',
    'no-transform',
    'stale-if-error=5',
    'x="no-store, max-age=5"',
    'x="\\", no-store',
    '=no-store',
    '"no-store"',
    'max-age 60',
    'private="a',
    '__proto__',
  ])('ignores everything else: %j', (field) => {
    expect(parseCacheControl(field, 0)).toEqual(nothing);
  });

  it('reads directives beside unknown ones', () => {
    expect(parseCacheControl('x="a, b", max-age=60, y', 0)).toEqual(upTo(60));
  });
});

describe('with a default age', () => {
  it.each<[string | undefined, CachePolicy]>([
    [undefined, upTo(10)],
    ['no-transform', upTo(10)],
    ['max-age=60', upTo(60)],
    ['max-age=5', upTo(5)],
    ['max-age=0', refresh],
    ['no-cache', refresh],
    ['no-store', nothing],
    ['only-if-cached', { ...upTo(10), onlyIfCached: true }],
  ])('reads %j', (field, policy) => {
    expect(parseCacheControl(field, 10)).toEqual(policy);
  });
});

it.each(['"', '\\', '"\\', 'a', ',', ' ', '=', 'max-age=', '","'])(
  'reads %j, repeated 100,000 times, in linear time',
  (piece) => {
    const field = piece.repeat(100_000);
    expect(cpuMilliseconds(() => parseCacheControl(field, 0))).toBeLessThan(linearWorkMs);
  },
);
