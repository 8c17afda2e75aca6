import { describe, expect, it } from '@jest/globals';
import { findSchemaMistakes, newSchemaAllowance } from '../../../src/base/json-schema/schema-mistakes.ts';

const draft07 = 'http://json-schema.org/draft-07/schema#';

/** As a request brings it: `__proto__` is an own property. */
const parsed = (json: string): unknown => JSON.parse(json);

function nested(levels: number): object {
  return levels === 0 ? {} : { items: nested(levels - 1) };
}

describe('accepted schemas', () => {
  it.each<[string, unknown]>([
    ['an empty one', {}],
    ['one of 32 levels', nested(32 - 1)],
    ['one of 64 KiB', { description: 'x'.repeat(64 * 1024 - '{"description":""}'.length) }],
    [
      'one of 2020-12',
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: 'https://example.com/order',
        title: 'Order',
        type: ['object', 'null'],
        required: ['id', 'lines'],
        properties: {
          id: { type: 'string', format: 'uuid', pattern: '^[0-9a-f]{8}-[0-9a-f]{4}$' },
          lines: { type: 'array', items: { $ref: '#/$defs/line' }, minItems: 1, uniqueItems: true },
          point: { prefixItems: [{ type: 'number' }, { type: 'number' }], items: false },
        },
        additionalProperties: false,
        $defs: { line: { type: 'object', properties: { price: { type: 'number', multipleOf: 0.01 } } } },
      },
    ],
    [
      'one of draft-07',
      {
        $schema: draft07,
        $ref: '#/definitions/point',
        definitions: {
          point: { type: 'array', items: [{ type: 'number' }, { type: 'number' }], additionalItems: false },
          other: { dependencies: { a: ['b'], c: { required: ['d'] } } },
        },
      },
    ],
    ['a tree', { properties: { children: { type: 'array', items: { $ref: '#' } } } }],
    [
      'two that need each other',
      {
        $ref: '#/$defs/a',
        $defs: {
          a: { properties: { b: { $ref: '#/$defs/b' } } },
          b: { properties: { a: { $ref: '#/$defs/a' } } },
        },
      },
    ],
    ['names that look like keywords', { properties: { $ref: { type: 'string' }, $id: {}, pattern: {}, required: {} } }],
    ['names of objects in JavaScript', parsed('{"properties":{"__proto__":{"type":"string"},"constructor":{}}}')],
    ['a reference to such a name', parsed('{"$ref":"#/$defs/__proto__","$defs":{"__proto__":{"type":"string"}}}')],
    ['a reference with escapes', { $ref: '#/$defs/a~1b%20c~0', $defs: { 'a/b c~': {} } }],
    ['keywords of nobody', { 'x-order': 1, nullable: true, example: { $ref: 3, $id: 4 } }],
    ['values that look like schemas', { enum: [{ $ref: '#/nowhere' }], const: { pattern: '(' } }],
    ['escapes that are not needed', { pattern: '^\\d{3}\\-\\d{4}\\@[\\w\\-\\.]+\\_\\ $' }],
    ['look-around and back-references', { pattern: '^(?!b)(?<=^)(a)\\1(?<n>c)\\k<n>$' }],
    ['characters by their number', { pattern: '^[\\u00e0-\\u00ff]\\ud83d\\ude00\\p{L}(?<name>\\x41)$' }],
  ])('%s', (_, schema) => {
    expect(findSchemaMistakes(schema)).toEqual([]);
  });
});

describe('refused schemas', () => {
  const list = 'must be a list of different names';
  const nowhere = 'must lead to a schema in this schema: # or #/…';
  const tooMuch = expect.stringContaining('is too much');
  const noExpression = 'is not a regular expression of ECMA-262 (flag u)';
  const types = expect.stringContaining('must be one of');

  it.each<[string, unknown, pointer: string, detail: unknown]>([
    ['not an object', true, '', 'must be an object'],
    ['a list', [], '', 'must be an object'],
    ['33 levels', nested(32), '', 'must have at most 32 levels'],
    [
      'more levels than the stack',
      parsed(`{"items":${'['.repeat(1e5)}${']'.repeat(1e5)}}`),
      '',
      'must have at most 32 levels',
    ],
    ['more than 64 KiB', { description: 'é'.repeat(33_000) }, '', 'must have at most 64 KiB'],
    [
      'another draft',
      { $schema: 'http://json-schema.org/draft-04/schema#' },
      '/$schema',
      'must be JSON Schema draft-07 or 2020-12',
    ],
    ['no name of a draft', { $schema: 'constructor' }, '/$schema', 'must be JSON Schema draft-07 or 2020-12'],

    ['a reference to another document', { $ref: 'https://example.com/schema' }, '/$ref', nowhere],
    ['a reference to a file', { items: { $ref: 'file:///etc/passwd#/a' } }, '/items/$ref', nowhere],
    ['a reference to an anchor', { $ref: '#line', $defs: { line: { $anchor: 'line' } } }, '/$ref', nowhere],
    ['a reference to nothing', { $ref: '#/$defs/line', $defs: {} }, '/$ref', nowhere],
    ['a reference to what is inherited', { $ref: '#/$defs/constructor', $defs: {} }, '/$ref', nowhere],
    ['a reference to what is not a schema', { $ref: '#/properties', properties: {} }, '/$ref', nowhere],
    ['a malformed reference', { $ref: '#/%' }, '/$ref', nowhere],
    ['a dynamic reference', { $dynamicRef: '#a' }, '/$dynamicRef', 'is not supported; use $ref'],
    ['an identifier inside', { items: { $id: 'other' } }, '/items/$id', 'is supported only at the top of the schema'],

    ['no schema', { properties: { a: 'string' } }, '/properties/a', 'must be a schema: an object, true or false'],
    ['an unknown type', { type: 'text' }, '/type', types],
    ['a type twice', { type: ['string', 'string'] }, '/type', types],
    ['no types', { type: [] }, '/type', types],
    ['required as in draft-03', { properties: { a: { required: true } } }, '/properties/a/required', list],
    ['a name twice', { required: ['a', 'a'] }, '/required', list],
    [
      'an exclusive limit as in draft-04',
      { minimum: 1, exclusiveMinimum: true },
      '/exclusiveMinimum',
      'must be a number',
    ],
    ['a negative length', { minLength: -1 }, '/minLength', 'must be a whole number, at least 0'],
    ['half an item', { maxItems: 0.5 }, '/maxItems', 'must be a whole number, at least 0'],
    ['a multiple of nothing', { multipleOf: 0 }, '/multipleOf', 'must be a number greater than 0'],
    ['no branches', { anyOf: [] }, '/anyOf', 'must be a list of at least one schema'],
    ['branches without a list', { allOf: {} }, '/allOf', 'must be a list of at least one schema'],
    ['one value of an enum', { enum: 'a' }, '/enum', 'must be a list'],
    ['a text for true', { uniqueItems: 'yes' }, '/uniqueItems', 'must be true or false'],
    ['items of draft-07', { items: [{}] }, '/items', expect.stringContaining('prefixItems')],
    [
      'malformed dependencies',
      { dependentRequired: { a: 'b' } },
      '/dependentRequired',
      'must be an object of lists of different names',
    ],
    ['properties in a list', { properties: [] }, '/properties', 'must be an object of schemas'],
    ['a description that is none', { description: 1 }, '/description', 'must be a string'],

    ['a pattern that is none', { pattern: '(' }, '/pattern', noExpression],
    ['one with an escape that is not needed', { pattern: '\\-(' }, '/pattern', noExpression],
    ['a pattern that is a number', { pattern: 1 }, '/pattern', 'must be a string'],
    ['a name pattern that is none', { patternProperties: { 'a/b[': {} } }, '/patternProperties/a~1b[', noExpression],
    [
      '301 Unicode properties',
      { pattern: '\\p{L}\\P{L}\\p{N}'.repeat(100), not: { pattern: '\\p{N}' } },
      '/not/pattern',
      tooMuch,
    ],
  ])('%s', (_, schema, pointer, detail) => {
    expect(findSchemaMistakes(schema)).toEqual([{ detail, pointer }]);
  });

  it('names several mistakes, up to 20', () => {
    expect(findSchemaMistakes({ type: 'x', items: { pattern: '(' } }).map(({ pointer }) => pointer)).toEqual([
      '/type',
      '/items/pattern',
    ]);
    expect(findSchemaMistakes({ required: 1, allOf: Array.from({ length: 30 }, () => ({ type: 'x' })) })).toHaveLength(
      20,
    );
  });

  it('names the beginning of a place that is too long', () => {
    const name = 'n'.repeat(500);
    const schema = { properties: { [name]: { properties: { [name]: { type: 'x' } } } } };
    expect(findSchemaMistakes(schema)).toMatchObject([{ pointer: `/properties/${name}/properties` }]);
  });

  it('has one allowance for all schemas of a request', () => {
    const allowance = newSchemaAllowance();
    const long = { description: 'x'.repeat(64_000) };
    const found = Array.from({ length: 20 }, () => findSchemaMistakes(long, allowance));
    expect(found.map((mistakes) => mistakes.length)).toEqual([...Array(17).fill(0), 1, 1, 1]);
  });

  it('has in draft-07 only the keywords of draft-07', () => {
    const schema = { prefixItems: 'none', dependentRequired: 1, minContains: -1, unevaluatedItems: 0 };
    expect(findSchemaMistakes({ $schema: draft07, ...schema })).toEqual([]);
    expect(findSchemaMistakes(schema)).toHaveLength(4);
  });

  it('reads a schema with many references once', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 900 }, (_, index) => [
        `n${index}`,
        { allOf: [{ $ref: `#/$defs/n${index + 1}` }, { $ref: `#/$defs/n${index + 1}` }] },
      ]),
    );
    // There are 2^900 ways from n0 to n900. A second visit of any schema would not end.
    expect(findSchemaMistakes({ $ref: '#/$defs/n0', $defs: { ...$defs, n900: { type: 'string' } } })).toEqual([]);
  });
});
