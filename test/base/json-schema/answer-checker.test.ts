import { afterAll, describe, expect, it } from '@jest/globals';
import {
  createAnswerChecker,
  type AnswerChecker,
  type AnswerCheckerOptions,
  type CheckResult,
  type JsonSchema,
} from '../../../src/base/json-schema/answer-checker.ts';
import { findSchemaMistakes } from '../../../src/base/json-schema/schema-mistakes.ts';
import { until } from '../../support/until.ts';

/** Far more than any check here needs, and more than a test can take: a check that ends was not stopped. */
const hours = 10 * 3_600_000;
const draft07 = 'http://json-schema.org/draft-07/schema#';

const checkers: AnswerChecker[] = [];
function newChecker(options: AnswerCheckerOptions): AnswerChecker {
  const checker = createAnswerChecker(options);
  checkers.push(checker);
  return checker;
}
afterAll(() => Promise.all(checkers.map((checker) => checker.close())));

const patient = newChecker({ timeoutMs: hours, threads: 1 });

/** Checks a value, or JSON text, against a schema that the service accepts. */
async function check(schema: JsonSchema, value: unknown, json = JSON.stringify(value)): Promise<CheckResult> {
  expect(findSchemaMistakes(schema)).toEqual([]);
  return patient.check({ schema, text: json }, { key: 'key' });
}

/** A check that compares each item with each other one: minutes. */
const endless = {
  schema: { uniqueItems: true },
  text: JSON.stringify(Array.from({ length: 90_000 }, (_, index) => [index])),
};
const short = { schema: { type: 'string' }, text: '"x"' };

/** The number of threads and channels of this process. */
const channels = (): number => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;

describe('answers', () => {
  const point07 = {
    $schema: draft07,
    $ref: '#/definitions/point',
    definitions: { point: { items: [{ type: 'number' }, { type: 'string' }], additionalItems: false } },
  };
  const point2020 = {
    $ref: '#/$defs/point',
    $defs: { point: { prefixItems: [{ type: 'number' }, { type: 'string' }], items: false } },
  };
  const tree = {
    type: 'object',
    properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
    required: ['name'],
    unevaluatedProperties: false,
  };
  const proto = JSON.parse(
    '{"properties":{"__proto__":{"type":"string"}},"required":["__proto__"],"additionalProperties":false}',
  ) as JsonSchema;

  it.each<[string, JsonSchema, valid: string, invalid: string]>([
    ['an object', { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } }, '{"a":1}', '{"a":1.5}'],
    ['positions in draft-07', point07, '[1,"a"]', '[1,"a",2]'],
    ['positions in 2020-12', point2020, '[1,"a"]', '["a",1]'],
    [
      'a $ref and what stands beside it in 2020-12',
      { $ref: '#/$defs/a', minimum: 5, $defs: { a: { type: 'number' } } },
      '5',
      '4',
    ],
    [
      'a tree',
      tree,
      '{"name":"a","children":[{"name":"b","children":[]}]}',
      '{"name":"a","children":[{"name":"b","other":1}]}',
    ],
    ['__proto__', proto, '{"__proto__":"a"}', '{"__proto__":1}'],
    ['own properties only', { required: ['__proto__'] }, '{"__proto__":1}', '{}'],
    ['own properties only', { not: { required: ['constructor'] } }, '{}', '{"constructor":1}'],
    ['equality with __proto__', { enum: [JSON.parse('{"__proto__":1}')] }, '{"__proto__":1}', '{}'],
    ['characters, not code units', { maxLength: 2 }, '"😀😀"', '"😀😀a"'],
    ['numbers above all doubles', { type: 'number', minimum: 1e308 }, '1e400', '-1e400'],
    ['numbers with a fraction of 0', { type: 'integer' }, '10.0', '10.1'],
    ['multiples of decimal fractions', { multipleOf: 0.01 }, '19.99', '19.999'],
    ['a pattern that matches a part', { pattern: '[0-9]{2}' }, '"a12b"', '"1"'],
    ['a pattern with needless escapes', { pattern: '^\\d\\-\\d\\@[\\w\\-]+$' }, '"1-2@a-b"', '"1_2@a"'],
    ['a pattern with a character of two units', { pattern: '^\\ud83d\\ude00.$' }, '"😀😀"', '"😀"'],
    [
      'patterns of names',
      { patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false },
      '{"x-a":"b"}',
      '{"y":"b"}',
    ],
    ['names', { propertyNames: { pattern: '^[a-z]+$' } }, '{"a":1}', '{"A":1}'],
  ])('%s', async (_, schema, valid, invalid) => {
    expect(await check(schema, undefined, valid)).toMatchObject({ status: 'valid' });
    expect(await check(schema, undefined, invalid)).toMatchObject({ status: 'invalid' });
  });

  it('says where the answer breaks', async () => {
    const schema = {
      properties: { lines: { items: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/line' }] } } },
      $defs: { line: { required: ['id'] } },
    };
    expect(await check({ ...schema, type: 'object' }, [])).toEqual({
      status: 'invalid',
      mistake: { type: 'mismatch', place: '', keyword: '#/type', reason: '"object", not "array"' },
    });
    expect(await check({ items: { $ref: '#/$defs/a' }, $defs: { a: { type: 'string' } } }, ['a', 1])).toEqual({
      status: 'invalid',
      mistake: { type: 'mismatch', place: '/1', keyword: '#/items/$ref/type', reason: '"string", not "number"' },
    });
    expect(await check(tree, { name: 'a', children: [{ name: 'b', x: 1 }] })).toEqual({
      status: 'invalid',
      mistake: {
        type: 'mismatch',
        place: '/children/0',
        keyword: '#/properties/children/items/$ref/unevaluatedProperties',
        reason: 'false',
      },
    });
    expect(await check(schema, { lines: ['a', {}] })).toEqual({
      status: 'invalid',
      mistake: {
        type: 'mismatch',
        place: '/lines/1',
        keyword: '#/properties/lines/items/anyOf',
        reason: '[{"type":"string"},{"$ref":"#/$defs/line"}]',
      },
    });
  });

  it.each<[string, JsonSchema, unknown, object]>([
    ['a property that is missing', { required: ['a', 'b"c'] }, { a: 1 }, { place: '', reason: '"b\\"c" is missing' }],
    ['what it has to be', { properties: { a: { enum: [1, 'x'] } } }, { a: 2 }, { place: '/a', reason: '[1,"x"]' }],
    [
      'names with special characters',
      { properties: { 'ä/~ b': { maximum: 1 } } },
      { 'ä/~ b': 2 },
      { place: '/ä~1~0 b' },
    ],
    ['no name that only the answer has', { additionalProperties: { type: 'string' } }, { Ada: 1 }, { place: '/*' }],
    [
      'no index that only looks like one',
      { additionalProperties: { type: 'string' } },
      { 5551234567: 1 },
      { place: '/*' },
    ],
    ['no reason that is long', { const: 'x'.repeat(300) }, 'y', { place: '', keyword: '#/const' }],
  ])('says %s', async (_, schema, value, mistake) => {
    const result = await check(schema, value);
    expect(result).toMatchObject({ status: 'invalid', mistake });
    if (schema['const'] !== undefined) expect(result).not.toHaveProperty('mistake.reason');
  });

  it('takes text that is not JSON as invalid', async () => {
    const mistakeOf = async (text: string): Promise<unknown> =>
      ((await check({}, undefined, text)) as { mistake?: unknown }).mistake;
    expect(await mistakeOf('{"a":')).toEqual({ type: 'not-json', after: 5, length: 5 });
    expect(await mistakeOf('')).toEqual({ type: 'not-json', after: 0, length: 0 });
    expect(await mistakeOf('{"😀":x}')).toEqual({ type: 'not-json', after: 5, length: 7 });
  });

  it.each([
    ['[1,"a"]', '[1,"a"]', false],
    [' { "b" : 1.0, "a" : [ ] }\n', '{"b":1,"a":[]}', false],
    ['{"a":1,"a":12345678901234567890}', '{"a":12345678901234567890}', true],
    ['[1e400, -1E+400, 0.1]', '[1e400,-1E+400,0.1]', true],
    ['{"__proto__": 1e400, "constructor": 1}', '{"__proto__":1e400,"constructor":1}', true],
    ['"12345678901234567890 \ud800"', '"12345678901234567890 \\ud800"', false],
  ])('gives the value of %j', async (text, json, hasInexactNumber) => {
    const object = { json: { text: json }, hasInexactNumber };
    expect(await patient.check({ text }, { key: 'key' })).toMatchObject({ status: 'valid', object });
    expect(await patient.check({ text, schema: {} }, { key: 'key' })).toMatchObject({ status: 'valid', object });
  });

  it.each([
    ['Here: {"a": [1]} and [2 ], not [3', '[{"a":[1]},[2]]'],
    ['{"a":{"b":1}', '[{"b":1}]'],
    ['["{]", {}]', '[["{]",{}]]'],
  ])('finds the objects and arrays in %j', async (text, json) => {
    expect(await patient.check({ text, anywhere: true }, { key: 'key' })).toMatchObject({
      object: { json: { text: json } },
    });
  });

  it('wants one of them to match', async () => {
    const schema = { $ref: '#/$defs/a', $defs: { a: { required: ['a'] } } };
    const among = (text: string) => patient.check({ text, schema, anywhere: true }, { key: 'key' });
    expect(await among('[] {"b":1} {"a":1}')).toMatchObject({ status: 'valid' });
    expect(await among('{"b":{"a":1}}')).toMatchObject({ status: 'invalid', mistake: { type: 'mismatch' } });
    expect(await among('a')).toEqual({ status: 'invalid', mistake: { type: 'not-json', after: 0, length: 1 } });
  });

  it('does not check formats', async () => {
    expect(await check({ format: 'email' }, 'no address')).toMatchObject({ status: 'valid' });
    expect(await check({ $schema: draft07, format: 'date' }, 'no date')).toMatchObject({ status: 'valid' });
    expect(await check({ format: '__proto__' }, 'text')).toMatchObject({ status: 'valid' });
  });

  it('ignores keywords of the other draft, and unknown ones', async () => {
    expect(await check({ $schema: draft07, prefixItems: [{ type: 'string' }] }, [1])).toMatchObject({
      status: 'valid',
    });
    expect(await check({ items: {}, additionalItems: false, 'x-schema': { $ref: 'http://[' } }, [1])).toMatchObject({
      status: 'valid',
    });
    const besideRef = { $ref: '#/definitions/a', minimum: 5, definitions: { a: { type: 'number' } } };
    expect(await check({ $schema: draft07, ...besideRef }, 1)).toMatchObject({ status: 'valid' });
  });

  it('reads an answer of 4 MiB', async () => {
    const rows = Array.from({ length: 40_000 }, (_, index) => ({ id: index, text: 'x'.repeat(80) }));
    const schema = {
      items: { properties: { id: { type: 'integer' }, text: { pattern: '^x+$' } }, required: ['id', 'text'] },
    };
    expect(await check(schema, rows)).toMatchObject({ status: 'valid' });
    expect(await check(schema, [...rows, { id: 1 }])).toMatchObject({
      status: 'invalid',
      mistake: { place: '/40000' },
    });
  });
});

describe('attacks', () => {
  it('stops a search for JSON that would take hours', async () => {
    const checker = newChecker({ readMs: 200 });
    const text = '['.repeat(4_000_000);
    expect(await checker.check({ text, anywhere: true }, { key: 'key' })).toEqual({ status: 'unverified' });
  });

  it('refuses an answer that is too deep, and goes on in the same thread', async () => {
    const schema = { items: { $ref: '#' } };
    const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(await check(schema, undefined, nested(100))).toMatchObject({ status: 'valid' });
    for (const depth of [101, 1e6]) {
      const mistake = { type: 'too-deep', limit: 100 };
      expect(await patient.check({ text: nested(depth) }, { key: 'key' })).toEqual({ status: 'invalid', mistake });
    }
    expect(await check({}, 1)).toMatchObject({ status: 'valid' });
  });

  it.each([
    ['empty objects and a number that JavaScript changes', '{},', '1e400'],
    ['numbers that JavaScript changes', '1e400,', '1'],
    // Each of these has room for 31 elements.
    ['indexes as names', '{"30":1},', '1'],
    ['empty arrays', '[],', '[]'],
  ])('gives no object of a text with too many values, and goes on in the same thread: %s', async (_, part, last) => {
    const errors: Error[] = [];
    const checker = newChecker({ readMs: hours, timeoutMs: hours, threads: 1, onError: (error) => errors.push(error) });
    for (const size of [4, 16]) {
      const text = `[${part.repeat((size * 1024 * 1024) / part.length)}${last}]`;
      expect(await checker.check({ text, schema: {} }, { key: 'key' })).toEqual({ status: 'unverified' });
    }
    // The largest number of values, in as much text.
    const values = part.includes('{') || part.includes('[') ? 99_990 : 199_990;
    const text = `[${part.repeat(values)}"${'x'.repeat(4 * 1024 * 1024 - values * part.length)}",${last}]`;
    expect(await checker.check({ text, schema: {} }, { key: 'key' })).toMatchObject({
      status: 'valid',
      object: { json: { text } },
    });
    expect(errors).toEqual([]);
  });

  it('gives no object of a text that takes too long to read, and reads the next one', async () => {
    const checker = newChecker({ readMs: 1, timeoutMs: hours, threads: 1 });
    const text = JSON.stringify('\u0001'.repeat(4_000_000));
    expect(await checker.check({ text }, { key: 'key' })).toEqual({ status: 'unverified' });
    await until(
      () => checker.check(short, { key: 'key' }),
      ({ status }) => status === 'valid',
    );
  });

  it('does not verify with a schema that leads back to itself', async () => {
    const loops = [{ $ref: '#' }, { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#' }] } } }];
    for (const schema of loops) {
      expect(await patient.check({ schema, text: '1' }, { key: 'key' })).toMatchObject({
        status: 'unverified',
        object: {},
      });
    }
  });

  it('ends a thread that needs too much memory, and checks the next answer', async () => {
    const errors: Error[] = [];
    const checker = newChecker({ timeoutMs: hours, threads: 1, onError: (error) => errors.push(error) });
    // Each item that does not match leaves an error with the text of the enum.
    const schema = { contains: { enum: ['x'.repeat(60_000)] } };
    const json = `[${'1,'.repeat(190_000)}1]`;
    expect((await checker.check({ schema, text: json }, { key: 'key' })).status).toBe('unverified');
    expect(errors).toMatchObject([{ code: 'ERR_WORKER_OUT_OF_MEMORY' }]);
    expect(await checker.check(short, { key: 'key' })).toMatchObject({ status: 'valid' });
  });

  const doubling = {
    $ref: '#/$defs/n0',
    $defs: {
      ...Object.fromEntries(
        Array.from({ length: 500 }, (_, index) => [
          `n${index}`,
          { allOf: [{ $ref: `#/$defs/n${index + 1}` }, { $ref: `#/$defs/n${index + 1}` }] },
        ]),
      ),
      n500: { type: 'string' },
    },
  };
  const branches = { anyOf: Array.from({ length: 1500 }, (_, index) => ({ contains: { enum: [[`${index}`]] } })) };
  const nestedBranches = { anyOf: [1, 2, 3].map(() => ({ items: { $ref: '#' }, type: 'array', minItems: 1 })) };

  it.each<[string, JsonSchema, string]>([
    ['references that double 500 times', doubling, '"x"'],
    ['different items', endless.schema, endless.text],
    ['1,500 branches', branches, endless.text],
    ['branches in branches', nestedBranches, `${'['.repeat(60)}${']'.repeat(60)}`],
    ['a pattern of 2^100 steps', { pattern: '^(a+)+$' }, `"${'a'.repeat(100)}!"`],
    ['a name pattern of 2^100 steps', { patternProperties: { '^(a|a)*$': {} } }, `{"${'a'.repeat(100)}!":1}`],
    ['repetitions of repetitions', { pattern: '((((a{1000}){1000}){1000}){1000})' }, `"${'a'.repeat(1_000_000)}"`],
  ])('stops after its time: %s', async (_, schema, json) => {
    expect(findSchemaMistakes(schema)).toEqual([]);
    const checker = newChecker({ timeoutMs: 50, threads: 1 });
    expect((await checker.check({ schema, text: json }, { key: 'key' })).status).toBe('unverified');
    // A new thread takes the next check.
    await until(
      () => checker.check(short, { key: 'key' }),
      ({ status }) => status === 'valid',
    );
    await checker.close();
  });

  it('delays neither the event loop nor other checks', async () => {
    const checker = newChecker({ timeoutMs: hours, threads: 2 });
    let isOver = false;
    const stuck = checker.check(endless, { key: 'attacker' }).finally(() => {
      isOver = true;
    });
    for (let index = 0; index < 20; index += 1) {
      expect(await checker.check(short, { key: 'other' })).toMatchObject({ status: 'valid' });
    }
    expect(isOver).toBe(false);
    await checker.close();
    expect((await stuck).status).toBe('unverified');
  });

  it('gives no key all threads, and a key its next check after one that is aborted, running or waiting', async () => {
    const checker = newChecker({ timeoutMs: hours, threads: 2 });
    const leaving = new AbortController();
    const { signal } = leaving;
    const left = Array.from({ length: 3 }, () => checker.check(endless, { key: 'attacker', signal }));
    const waiting = checker.check(short, { key: 'attacker' });
    expect(await checker.check(short, { key: 'other' })).toMatchObject({ status: 'valid' });
    leaving.abort();
    expect((await Promise.all(left)).map(({ status }) => status)).toEqual(left.map(() => 'unverified'));
    expect(await waiting).toMatchObject({ status: 'valid' });
    expect(await checker.check(short, { key: 'attacker', signal })).toEqual({ status: 'unverified' });
  });

  it('lets a key with many checks wait for others, and refuses what does not fit', async () => {
    const checker = newChecker({ timeoutMs: hours, threads: 1, maxWaiting: 8 });
    const order: string[] = [];
    const enter = async (name: string, key: string): Promise<void> => {
      const { status } = await checker.check(short, { key });
      order.push(`${name} ${status}`);
    };
    await Promise.all([enter('a1', 'a'), enter('a2', 'a'), enter('a3', 'a'), enter('a4', 'a'), enter('b1', 'b')]);
    expect(order).toEqual(['a4 unverified', 'a1 valid', 'a2 valid', 'b1 valid', 'a3 valid']);
  });
});

describe('closing', () => {
  it('leaves no thread, and verifies nothing afterwards', async () => {
    const before = channels();
    const checker = createAnswerChecker({ timeoutMs: hours, threads: 2, maxWaiting: 8 });
    expect(await checker.check(short, { key: 'a' })).toMatchObject({ status: 'valid' });
    const pending = [endless, endless, endless, short].map((job, index) => checker.check(job, { key: String(index) }));
    await checker.close();
    expect((await Promise.all(pending)).map(({ status }) => status)).toEqual(pending.map(() => 'unverified'));
    expect(await checker.check(short, { key: 'a' })).toEqual({ status: 'unverified' });
    expect(channels()).toBe(before);
  });

  it('ends threads that are about to start', async () => {
    const before = channels();
    const checker = createAnswerChecker({ timeoutMs: hours });
    const pending = checker.check(short, { key: 'a' });
    await checker.close();
    await pending;
    expect(channels()).toBe(before);
  });
});
