import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventCatalog } from '../../generated/events.ts';
import { readyFilter, requireApplicable, type EventFilter } from '../../src/webhooks/integrations/event-filter.ts';
import { ProblemError } from '../../src/base/errors/problem-error.ts';
import { runSettings } from '../support/run-settings.ts';

const paths = ['a', 'a', 'b', 'a.x', 'a.y', 'a.x.z', 'b.x', 'constructor', 'a.toString'];
const texts = ['', '10', 'Bar'];
const numbers = [0, 2, 10];
const scalar = fc.constantFrom<string | number | boolean>(...texts, ...numbers, true, false);
const bound = fc.constantFrom<string | number>(...texts, ...numbers);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: scalar },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 2, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    { weight: 3, arbitrary: fc.record({ x: tie('value'), y: tie('value'), z: tie('value') }, { requiredKeys: [] }) },
  ),
}));
const payloads = fc.record({ a: value, b: value });
const each = {
  $eq: scalar,
  $in: fc.array(scalar, { minLength: 1, maxLength: 4 }),
  $gte: bound,
  $lte: bound,
  $exists: fc.boolean(),
};
const operators = fc.oneof(
  ...Object.entries(each).map(([name, operand]) => fc.record({ [name]: operand as fc.Arbitrary<unknown> })),
  fc.record(each, { requiredKeys: [] }),
);
const filters: fc.Arbitrary<EventFilter> = fc.dictionary(fc.constantFrom(...paths), fc.oneof(scalar, operators), {
  maxKeys: 2,
});

/**
 * The rules of the contract, on a table of all values of a payload: `a.x` has those of `{"a": [{"x": 1}, {"x": [2]}]}`, 1
 * and 2.
 */
function expectedMatch(filter: EventFilter, payload: unknown): boolean {
  const table: (readonly [string, unknown])[] = [];
  const note = (path: string, value: unknown): void => {
    if (value === null) return;
    if (Array.isArray(value)) {
      for (const each of value) note(path, each);
      return;
    }
    table.push([path, value]);
    if (typeof value !== 'object') return;
    for (const [name, member] of Object.entries(value as object)) note(path === '' ? name : `${path}.${name}`, member);
  };
  note('', payload);
  for (const [path, condition] of Object.entries(filter)) {
    const operators: Record<string, unknown> = typeof condition === 'object' ? condition : { $eq: condition };
    const there = table.flatMap(([at, value]) => (at === path ? [value] : []));
    if ('$exists' in operators && operators['$exists'] !== there.length > 0) return false;
    const rest = Object.entries(operators).filter(([name]) => name !== '$exists');
    if (rest.length === 0) continue;
    const isMet = (value: unknown): boolean => {
      for (const [name, operand] of rest) {
        if (name === '$in') {
          if (!(operand as unknown[]).some((one) => one === value)) return false;
        } else if (typeof value !== typeof operand) return false;
        else if (name === '$eq') {
          if (value !== operand) return false;
        } else {
          const [least] = typeof value === 'number' ? [Math.min(value, operand as number)] : [value, operand].sort();
          if (least !== (name === '$gte' ? operand : value)) return false;
        }
      }
      return true;
    };
    if (!there.some(isMet)) return false;
  }
  return true;
}

describe('a filter', () => {
  it('matches what an evaluation that was written apart matches', () => {
    const counted = { matched: 0, unmatched: 0 };
    const { seed, numRuns } = runSettings(20_000);
    fc.assert(
      fc.property(filters, fc.array(payloads, { minLength: 10, maxLength: 10 }), (filter, some) => {
        const ready = readyFilter(filter);
        for (const payload of some) {
          const isMatch = expectedMatch(filter, payload);
          expect(ready.matches(payload)).toBe(isMatch);
          expect(ready.unmatched(payload)).toEqual(
            Object.entries(filter).flatMap(([path, one]) => (expectedMatch({ [path]: one }, payload) ? [] : [path])),
          );
          if (Object.keys(filter).length > 0) counted[isMatch ? 'matched' : 'unmatched'] += 1;
        }
      }),
      { seed, numRuns },
    );
    // Otherwise this would show nothing.
    expect(Math.min(counted.matched, counted.unmatched)).toBeGreaterThan(500);
  });

  it.each<[EventFilter, unknown, boolean]>([
    [{ total: { $gte: 10 } }, { total: '10' }, false],
    [{ total: { $gte: 10 } }, { total: 10 }, true],
    [{ total: { $lte: 10 } }, {}, false],
    [{ name: { $exists: false } }, {}, true],
    [{ name: { $exists: false } }, { name: null }, true],
    [{ name: { $exists: true } }, { name: null }, false],
    [{ tags: 'hot' }, { tags: ['cold', 'hot'] }, true],
    [{ tags: { $exists: true } }, { tags: [] }, false],
    // One element must match all operators.
    [{ 'items.price': { $gte: 3, $lte: 5 } }, { items: [{ price: 1 }, { price: 9 }] }, false],
    [{ 'items.price': { $gte: 3, $lte: 5 } }, { items: [{ price: 1 }, { price: 4 }] }, true],
    [{ at: { $gte: '2026-11-06T00:00:00.000Z' } }, { at: '2026-11-06T12:31:08.214Z' }, true],
    [{ at: { $lte: '2026-11-06' } }, { at: '2026-11-06T12:31:08.214Z' }, false],
    // Only members of the payload itself.
    [{ constructor: { $exists: true } }, {}, false],
    [{ 'name.length': { $exists: true } }, { name: 'Bar' }, false],
  ])('%j, compared with %j: %j', (filter, payload, isMatch) => {
    expect(readyFilter(filter).matches(payload)).toBe(isMatch);
  });

  it('has no path that is not a member of the schemas, and no value of another kind', () => {
    const mistakes = (filter: EventFilter): unknown => {
      try {
        requireApplicable({ filter, eventTypes: ['ORDER_PLACED', 'FISCAL_DAY_END'] });
        return undefined;
      } catch (error) {
        return error instanceof ProblemError ? error.errors?.map(({ detail }) => detail) : error;
      }
    };
    expect(mistakes({ 'data.total': 1, createdAt: 'x', locationId: { $exists: true } })).toBeUndefined();
    for (const path of [
      'constructor',
      'data.constructor',
      'toString',
      'data.total.x',
      'properties',
      'data.hasOwnProperty',
    ]) {
      expect(mistakes({ [path]: { $exists: true } })).toEqual([
        `${path} is not in the payload of ORDER_PLACED`,
        `${path} is not in the payload of FISCAL_DAY_END`,
      ]);
    }
    expect(mistakes({ 'data.total': { $in: [1, '2'] } })).toEqual([
      'data.total is a number in the payload of ORDER_PLACED, and cannot be compared with a string',
      'data.total is a number in the payload of FISCAL_DAY_END, and cannot be compared with a string',
    ]);
    expect(mistakes({ data: 'x' })).toEqual([
      'data is an object in the payload of ORDER_PLACED, and cannot be compared with a string',
      'data is an object in the payload of FISCAL_DAY_END, and cannot be compared with a string',
    ]);
  });

  it('is refused if no payload can match its operators, and only then', () => {
    const isRefused = (operators: EventFilter[string]): boolean => {
      try {
        requireApplicable({ filter: { 'data.total': operators }, eventTypes: ['ORDER_PLACED'] });
        return false;
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error;
        return true;
      }
    };
    const number = fc.integer({ min: 0, max: 4 });
    const bounds = { $eq: number, $in: fc.array(number, { minLength: 1, maxLength: 3 }), $gte: number, $lte: number };
    const { seed, numRuns } = runSettings(5_000);
    fc.assert(
      fc.property(fc.record({ ...bounds, $exists: fc.boolean() }, { requiredKeys: [] }), (operators) => {
        // The bounds are among these numbers, so one of them matches if any does.
        const payloads = [{ data: {} }, ...[0, 1, 2, 3, 4].map((total) => ({ data: { total } }))];
        const isMatch = payloads.some((payload) => expectedMatch({ 'data.total': operators }, payload));
        expect(isRefused(operators)).toBe(!isMatch);
      }),
      { seed, numRuns },
    );
    expect(isRefused({ $gte: 3, $lte: 3 })).toBe(false);
    expect(isRefused({ $gte: 4, $lte: 3 })).toBe(true);
  });

  it('can name every member of every example', () => {
    const visit = (path: string, value: unknown, type: keyof typeof eventCatalog): void => {
      if (path !== '') requireApplicable({ filter: { [path]: { $exists: true } }, eventTypes: [type] });
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
      for (const [name, member] of Object.entries(value)) visit(path === '' ? name : `${path}.${name}`, member, type);
    };
    for (const [type, { example }] of Object.entries(eventCatalog)) visit('', example, type as never);
  });
});
