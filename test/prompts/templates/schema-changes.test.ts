import { describe, expect, it } from '@jest/globals';
import { schemaChanges } from '../../../src/prompts/templates/schema-changes.ts';
import { cpuMilliseconds, linearWorkMs } from '../../support/cpu-time.ts';

/** A change as `effect detail @pointer`. */
const changes = (before: unknown, after: unknown): string[] =>
  schemaChanges(before, after, '#').map(({ effect, detail, pointer }) => `${effect}: ${detail} @${pointer}`);

const text = { type: 'string' };
const object = (properties: object, ...required: string[]): object => ({ type: 'object', properties, required });

/** What each newer schema changed, and what the reverse change is. */
const both: readonly (readonly [of: string, before: unknown, after: unknown, there: string[], back: string[]])[] = [
  [
    'a type',
    text,
    { type: 'number' },
    ['replaced: is number now; it was string @#'],
    ['replaced: is string now; it was number @#'],
  ],
  [
    'one type more',
    text,
    { type: ['string', 'null'] },
    ['wider: is string or null now; it was string @#'],
    ['narrower: is string now; it was string or null @#'],
  ],
  [
    'integer to number',
    { type: 'integer' },
    { type: 'number' },
    ['wider: is number now; it was integer @#'],
    ['narrower: is integer now; it was number @#'],
  ],
  [
    'any type',
    text,
    {},
    ['wider: is of any type now; it was string @#'],
    ['narrower: is string now; it was of any type @#'],
  ],
  [
    'some types of others',
    { type: ['string', 'null'] },
    { type: ['string', 'number'] },
    ['replaced: is string or number now; it was string or null @#'],
    ['replaced: is string or null now; it was string or number @#'],
  ],
  ['a property', object({ a: text, b: text }), object({ a: text }), ['replaced: is gone @#/properties/b'], []],
  [
    'a required property',
    object({ a: text }, 'a'),
    object({}),
    ['replaced: is gone @#/properties/a'],
    ['narrower: is new and required @#/properties/a'],
  ],
  [
    'a required name without schema',
    { required: ['a'] },
    {},
    ['replaced: is gone @#/properties/a'],
    ['narrower: is new and required @#/properties/a'],
  ],
  [
    'an optional property',
    object({ a: text }, 'a'),
    object({ a: text }),
    ['wider: can be absent now @#/properties/a'],
    ['narrower: is required now @#/properties/a'],
  ],
  [
    'a property in a property',
    object({ a: object({ b: text }) }),
    object({ a: object({ b: { type: 'null' } }) }),
    ['replaced: is null now; it was string @#/properties/a/properties/b'],
    ['replaced: is string now; it was null @#/properties/a/properties/b'],
  ],
  [
    'a value more',
    { enum: ['low'] },
    { enum: ['low', 'high'] },
    ['wider: can also be "high" @#'],
    ['narrower: can no longer be "high" @#'],
  ],
  ['a constant', { const: 1 }, { enum: [1, 2] }, ['wider: can also be 2 @#'], ['narrower: can no longer be 2 @#']],
  [
    'other values',
    { enum: ['a', 'b'] },
    { enum: ['b', 'c'] },
    ['wider: can also be "c" @#', 'narrower: can no longer be "a" @#'],
    ['wider: can also be "a" @#', 'narrower: can no longer be "c" @#'],
  ],
  [
    'no list of values',
    { type: 'string', enum: ['a', 'b'] },
    text,
    ['wider: can be more than "a", "b" now @#'],
    ['narrower: can only be "a", "b" now @#'],
  ],
  [
    'a lower bound',
    { minimum: 1 },
    { minimum: -1 },
    ['wider: minimum is -1 now; it was 1 @#'],
    ['narrower: minimum is 1 now; it was -1 @#'],
  ],
  [
    'an upper bound',
    { maxLength: 10 },
    { maxLength: 5 },
    ['narrower: maxLength is 5 now; it was 10 @#'],
    ['wider: maxLength is 10 now; it was 5 @#'],
  ],
  [
    'no lower bound',
    { minItems: 1 },
    {},
    ['wider: minItems is gone; it was 1 @#'],
    ['narrower: minItems is new: 1 @#'],
  ],
  [
    'no upper bound',
    { exclusiveMaximum: 0 },
    {},
    ['wider: exclusiveMaximum is gone; it was 0 @#'],
    ['narrower: exclusiveMaximum is new: 0 @#'],
  ],
  [
    'a format',
    { format: 'date' },
    { format: 'date-time' },
    ['unknown: format is "date-time" now; it was "date" @#'],
    ['unknown: format is "date" now; it was "date-time" @#'],
  ],
  [
    'no pattern',
    { pattern: '^a' },
    {},
    ['wider: pattern is gone; it was "^a" @#'],
    ['narrower: pattern is new: "^a" @#'],
  ],
  [
    'unique elements',
    { uniqueItems: true },
    { uniqueItems: false },
    ['wider: uniqueItems is gone; it was true @#'],
    ['narrower: uniqueItems is new: true @#'],
  ],
  [
    'elements',
    { items: text },
    { items: { type: ['string', 'null'] } },
    ['wider: is string or null now; it was string @#/items'],
    ['narrower: is string now; it was string or null @#/items'],
  ],
  [
    'any elements',
    { items: text },
    {},
    ['wider: is of any type now; it was string @#/items'],
    ['narrower: is string now; it was of any type @#/items'],
  ],
  [
    'a position',
    { prefixItems: [text, text] },
    { prefixItems: [text], items: { type: 'number' } },
    ['replaced: is number now; it was string @#/prefixItems/1', 'narrower: is number now; it was of any type @#/items'],
    ['replaced: is string now; it was number @#/prefixItems/1', 'wider: is of any type now; it was number @#/items'],
  ],
  [
    'a position in draft-07',
    { items: [text] },
    { items: [{ type: 'number' }] },
    ['replaced: is number now; it was string @#/items/0'],
    ['replaced: is string now; it was number @#/items/0'],
  ],
  [
    'positions to elements',
    { items: [text] },
    { items: text },
    ['unknown: items is {"type":"string"} now; it was [{"type":"string"}] @#'],
    ['unknown: items is [{"type":"string"}] now; it was {"type":"string"} @#'],
  ],
  [
    'values of a map',
    { additionalProperties: text },
    { additionalProperties: { type: ['string', 'null'] } },
    ['wider: is string or null now; it was string @#/additionalProperties'],
    ['narrower: is string now; it was string or null @#/additionalProperties'],
  ],
  [
    'names by pattern',
    { patternProperties: { '^x/': text } },
    {},
    ['wider: is of any type now; it was string @#/patternProperties/%5Ex~1'],
    ['narrower: is string now; it was of any type @#/patternProperties/%5Ex~1'],
  ],
  [
    'a closed object',
    {},
    { additionalProperties: false },
    ['narrower: is not allowed any more @#/additionalProperties'],
    [],
  ],
  [
    'a forbidden property',
    { properties: { a: text } },
    { properties: { a: false } },
    ['narrower: is not allowed any more @#/properties/a'],
    [],
  ],
  [
    'null as a form',
    text,
    { anyOf: [text, { type: 'null' }] },
    ['wider: can also be {"type":"null"} @#'],
    ['narrower: can no longer be {"type":"null"} @#'],
  ],
  [
    'a form more',
    { anyOf: [text] },
    { oneOf: [{ type: 'null' }, text] },
    ['wider: can also be {"type":"null"} @#'],
    ['narrower: can no longer be {"type":"null"} @#'],
  ],
  [
    'a form that changed',
    { anyOf: [{ type: 'null' }, object({ a: text })] },
    { anyOf: [object({}), { type: 'null' }] },
    ['replaced: is gone @#/properties/a'],
    [],
  ],
  [
    'another form',
    { anyOf: [text, { type: 'null' }] },
    { anyOf: [text, { type: 'number' }] },
    ['replaced: can be {"type":"number"} now; it could be {"type":"null"} @#'],
    ['replaced: can be {"type":"null"} now; it could be {"type":"number"} @#'],
  ],
  [
    'forms at all',
    { type: 'object' },
    { type: 'object', oneOf: [{ required: ['a'] }] },
    ['narrower: oneOf is new: [{"required":["a"]}] @#'],
    ['wider: oneOf is gone; it was [{"required":["a"]}] @#'],
  ],
  [
    'forms beside others',
    { type: 'object', anyOf: [{ required: ['a'] }] },
    { type: 'object', anyOf: [{}, { required: ['a'] }] },
    ['wider: can also be {} @#'],
    ['narrower: can no longer be {} @#'],
  ],
  [
    'what is referred to',
    { $ref: '#/$defs/a', $defs: { a: text } },
    { $ref: '#/$defs/b', $defs: { b: { type: 'null' } } },
    ['replaced: is null now; it was string @#'],
    ['replaced: is string now; it was null @#'],
  ],
  [
    'what is referred to by an odd name',
    { $ref: '#/definitions/a~1%25', definitions: { 'a/%': text } },
    {},
    ['wider: is of any type now; it was string @#'],
    ['narrower: is string now; it was of any type @#'],
  ],
  [
    'what is joined',
    { allOf: [object({ a: text }, 'a'), object({ b: text }, 'b')] },
    object({ a: text, b: text }, 'a'),
    ['wider: can be absent now @#/properties/b'],
    ['narrower: is required now @#/properties/b'],
  ],
  [
    'a property that is joined',
    { allOf: [object({ a: { minLength: 1 } }), object({ a: text })] },
    object({ a: text }),
    ['wider: minLength is gone; it was 1 @#/properties/a'],
    ['narrower: minLength is new: 1 @#/properties/a'],
  ],
  [
    'what cannot be joined',
    { allOf: [{ pattern: 'a' }, { pattern: 'b' }] },
    { pattern: 'a' },
    ['wider: allOf is gone; it was [{"pattern":"b"}] @#'],
    ['narrower: allOf is new: [{"pattern":"b"}] @#'],
  ],
  [
    'a condition',
    { if: text },
    { if: { type: 'null' } },
    ['unknown: if is {"type":"null"} now; it was {"type":"string"} @#'],
    ['unknown: if is {"type":"string"} now; it was {"type":"null"} @#'],
  ],
  [
    'what a condition refers to',
    { not: { $ref: '#/$defs/a' }, $defs: { a: text } },
    { not: { $ref: '#/$defs/a' }, $defs: { a: {} } },
    ['unknown: not is {"$ref":"#/$defs/a"} now; it was {"$ref":"#/$defs/a"} @#'],
    ['unknown: not is {"$ref":"#/$defs/a"} now; it was {"$ref":"#/$defs/a"} @#'],
  ],
  [
    'what contains itself',
    { properties: { next: { $ref: '#' } } },
    { properties: { next: { $ref: '#' }, a: text } },
    [],
    ['replaced: is gone @#/properties/a'],
  ],
  [
    'members with names of prototypes',
    JSON.parse('{"properties": {"__proto__": {"type": "null"}, "constructor": {}}}'),
    { properties: {} },
    ['replaced: is gone @#/properties/__proto__', 'replaced: is gone @#/properties/constructor'],
    [],
  ],
  [
    'a property whose name is not well formed',
    { properties: { '\uD800/~': {} } },
    {},
    ['replaced: is gone @#/properties/%EF%BF%BD~1~0'],
    [],
  ],
];

describe('changes of a schema', () => {
  it.each(both)('%s', (_of, before, after, there, back) => {
    expect(changes(before, after)).toEqual(there);
    expect(changes(after, before)).toEqual(back);
  });

  it.each([
    ['texts for people', { title: 'A', description: 'a', examples: [1] }, { $comment: 'b', $schema: 'x', default: 1 }],
    [
      'the order of keywords, types, values, names and forms',
      { type: ['string', 'null'], enum: ['a', null], required: ['a', 'b'] },
      { required: ['b', 'a'], enum: [null, 'a'], type: ['null', 'string'] },
    ],
    ['definitions that nothing uses', { $defs: { a: text } }, {}],
    ['a new optional property', object({}), object({ a: text })],
    ['a property that is described', object({ a: text }), object({ a: { ...text, description: 'A' } })],
    [
      'a definition in place',
      object({ a: text }),
      { ...object({ a: { $ref: '#/$defs/a', description: 'A' } }), $defs: { a: text } },
    ],
    ['one schema to join', { allOf: [text] }, text],
    ['what was never allowed', { additionalProperties: false }, {}],
    ['what restricts nothing', { additionalProperties: true, items: {}, uniqueItems: false }, {}],
    [
      'a form that is described',
      { anyOf: [text, { type: 'null' }] },
      { anyOf: [{ type: 'null' }, { ...text, title: 'A' }] },
    ],
    ['references in a circle', { $ref: '#' }, { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }],
    ['a reference to nothing', { $ref: '#/$defs/gone' }, {}],
  ])('are not %s', (_what, before, after) => {
    expect(changes(before, after)).toEqual([]);
  });

  it('quote long values in part', () => {
    const [change = ''] = changes({ ...text, enum: ['x'.repeat(1000)] }, text);
    expect(change).toBe(`wider: can be more than "${'x'.repeat(59)}… now @#`);
  });
});

describe('schemas without end', () => {
  /** A list of definitions that refer to each other in a circle. */
  const circle = (length: number): object => ({
    $ref: '#/$defs/0',
    $defs: Object.fromEntries(
      Array.from({ length }, (_, index) => [index, { properties: { a: { $ref: `#/$defs/${(index + 1) % length}` } } }]),
    ),
  });

  it('are compared once in each combination, up to a limit', () => {
    expect(changes(circle(20), circle(21))).toEqual([]);
    const spent = cpuMilliseconds(() => {
      expect(changes(circle(1200), circle(1201))).toEqual(['unknown: is too large to be compared completely @#']);
    });
    expect(spent).toBeLessThan(linearWorkMs);
  });
});
