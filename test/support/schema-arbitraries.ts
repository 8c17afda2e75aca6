import fc from 'fast-check';
import document from '../../generated/openapi.json' with { type: 'json' };
import { resolve, type OpenApiDocument, type Schema } from '../../src/codegen/contract-document.ts';

export interface SchemaArbitraryOptions {
  /** One in this number of values is a slip: wrong, borderline or hostile. Without it, there are no slips. */
  readonly slipOneIn?: number;
  /**
   * Values with a meaning for the service, such as ids of existing resources, by the name of a property or parameter or
   * of a schema.
   */
  readonly hints?: Readonly<Record<string, readonly unknown[]>>;
  /** The weight of a hint against a random value; 1 by default. */
  readonly hintWeight?: number;
}

/** The bundled contract, to resolve references. */
export const contract = document as unknown as OpenApiDocument;

/**
 * Values that a schema of the contract allows, with slips if the options ask for them. Each object, array and scalar
 * slips independently, so most wrong values are wrong in one place.
 */
export function valuesOf(reference: Schema, options: SchemaArbitraryOptions = {}, name = ''): fc.Arbitrary<unknown> {
  const schema = resolve(contract, reference);
  const { slipOneIn, hints = {}, hintWeight = 1 } = options;
  const known = [...(hints[name] ?? []), ...(hints[schemaName(reference)] ?? [])];
  const right = fc.oneof(
    { weight: 1, arbitrary: rightValues(schema, options) },
    ...(known.length > 0 ? [{ weight: hintWeight, arbitrary: fc.constantFrom(...known) }] : []),
  );
  if (slipOneIn === undefined) return right;
  return fc.oneof(
    { weight: slipOneIn - 1, arbitrary: right },
    { weight: 1, arbitrary: fc.oneof(hostileValues, borderValues(schema)) },
  );
}

/** The name of the referenced schema; empty for an inline schema. */
function schemaName({ $ref }: Schema): string {
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : '';
}

/** Member names that must have no special effect. */
export const hostileNames = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '$where', '$set', '$gt', '$$ROOT'],
  ...['a.b', 'a.$', '.', '', ' ', 'ſ', '名', 'unknown', 'Name', 'id', '_id', 'x'.repeat(64), 'x'.repeat(65)],
];

/** Texts with a meaning for other programs: operators, templates, header lines, paths, terminals. */
const hostileTexts = [
  ...['', ' ', '\u0000', '\ufeff', '\u2028', '\ud800', 'a\udfff', '😀', 'null', 'true', '0', 'NaN', '{"$ne":null}'],
  ...['$where', '$ne', '__proto__', '{{constructor}}', '{{a|b}}', '\\{{', '{{', '${7*7}', '../../etc/passwd'],
  ...['a\r\nX-Injected: yes', "'; return true; //", '\u001b[2J', '.*', '(a+)+$', 'ﬃ', 'x'.repeat(201), 'é'.repeat(81)],
];

/** Values that no schema of the contract expects, except schemas that allow anything. */
const hostileValues: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], 0, -0, -1, 0.5, 1e21, -1e308, 2 ** 31, 2 ** 53),
  fc.constantFrom(...hostileTexts),
  fc
    .tuple(
      fc.constantFrom('$ne', '$gt', '$in', '$where', '$regex', '$expr', '$set', '__proto__', 'constructor', 'toString'),
      fc.constantFrom<unknown>(null, '', 1, [], {}, 'sleep(100)', { polluted: true }),
    )
    .map((member) => Object.fromEntries([member])),
  fc.integer({ min: 60, max: 70 }).map((depth) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown),
);

/** Texts without a format: any Unicode characters, and placeholders. */
const freeTexts = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 40) }) },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', minLength, maxLength: Math.min(maxLength, 20) }) },
    { weight: 1, arbitrary: fc.constantFrom(...hostileTexts).filter((text) => fits(text, minLength, maxLength)) },
  );

/** JSON Schema counts characters, not UTF-16 units, and the service accepts no lone surrogates. */
function fits(text: string, minLength: number, maxLength: number): boolean {
  const { length } = [...text];
  return text.isWellFormed() && length >= minLength && length <= maxLength;
}

function rightValues(schema: Schema, options: SchemaArbitraryOptions): fc.Arbitrary<unknown> {
  if (schema['const'] !== undefined) return fc.constant(schema['const']);
  if (Array.isArray(schema['enum'])) return fc.constantFrom<unknown>(...(schema['enum'] as unknown[]));
  const { type, anyOf, oneOf = anyOf } = schema;
  if (Array.isArray(oneOf)) {
    return fc.oneof(...(oneOf as Schema[]).map((one) => rightValues(resolve(contract, one), options)));
  }
  if (Array.isArray(type))
    return fc.oneof(...type.map((one) => rightValues({ ...schema, type: one as string }, options)));
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.oneof(
        fc.integer({ min: number(schema, 'minimum', 0), max: Math.min(number(schema, 'maximum', 100), 100) }),
        fc.constantFrom(schema['minimum'], schema['maximum']),
      );
    case 'string':
      return texts(schema);
    case 'array':
      return arrays(schema, options);
    case 'object':
      return objects(schema, options);
    default:
      return fc.jsonValue({ maxDepth: 3 });
  }
}

function arrays(schema: Schema, options: SchemaArbitraryOptions): fc.Arbitrary<unknown[]> {
  const items = valuesOf(schema['items'] as Schema, options);
  const bounds = {
    minLength: number(schema, 'minItems', 0),
    maxLength: Math.min(number(schema, 'maxItems', 4), 4),
  };
  if (schema['uniqueItems'] !== true) return fc.array(items, bounds);
  return fc.uniqueArray(items, { ...bounds, selector: (item) => JSON.stringify(item) });
}

const day = String.raw`\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])`;
/** Of formats that the contract gives without a pattern. */
const patterns: Readonly<Record<string, string>> = {
  date: `^${day}$`,
  'date-time': String.raw`^${day}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`,
};

function texts(schema: Schema): fc.Arbitrary<string> {
  const minLength = number(schema, 'minLength', 0);
  const maxLength = number(schema, 'maxLength', 200);
  const excluded = (schema['not'] as Schema | undefined)?.['pattern'];
  const pattern = schema['pattern'] ?? patterns[String(schema['format'])];
  if (typeof pattern !== 'string' || pattern === '\\S') return freeTexts(minLength, maxLength);
  const matching = fc
    .stringMatching(new RegExp(pattern, 'u'), { maxLength })
    .filter((text) => typeof excluded !== 'string' || !new RegExp(excluded, 'u').test(text));
  if (!String(schema['format']).includes('date')) return matching;
  const times = fc.oneof({ weight: 3, arbitrary: matching }, { weight: 1, arbitrary: matching.chain(atTheBorder) });
  // The patterns allow days that do not exist.
  return times.map((text) => text.replace(/-(29|3\d)(?=T|$)/, '-28'));
}

/**
 * Moves a date, or a date and time, to the limits of common programs. Random values rarely reach the first and last of
 * the ten thousand years, and never a limit that an offset crosses.
 */
function atTheBorder(text: string): fc.Arbitrary<string> {
  const days = fc.constantFrom('0000-01-01', '0000-12-31', '0001-01-01', '1969-12-31', '1970-01-01', '9999-12-31');
  const offsets = fc.constantFrom('-23:59', '-00:00', '+23:59');
  return fc
    .tuple(days, offsets)
    .map(([day, offset]) => text.replace(/^.{10}/, day).replace(/(?<=T.*)[+-]..:..$/, offset));
}

function objects(schema: Schema, options: SchemaArbitraryOptions): fc.Arbitrary<object> {
  const { slipOneIn } = options;
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  const required = new Set((schema['required'] ?? []) as string[]);
  const members = properties.map(([name, property]) =>
    fc.option(fc.tuple(fc.constant(name), valuesOf(property, options, name)), {
      // The member is missing in some of the objects.
      freq: required.has(name) ? (slipOneIn ?? 2 ** 30) : 2,
    }),
  );
  const least = number(schema, 'minProperties', 0);
  const most = number(schema, 'maxProperties', Infinity);
  const ownMembers = fc.tuple(...members).filter((own) => {
    const { length } = own.filter((member) => member !== null);
    return properties.length === 0 || (length >= least && length <= most);
  });
  const additional = schema['additionalProperties'];
  const names = schema['propertyNames'] as Schema | undefined;
  const open = typeof additional === 'object' || additional === true;
  const others = fc.array(
    fc.tuple(
      names === undefined ? freeTexts(0, 20) : texts(resolve(contract, names)),
      valuesOf(typeof additional === 'object' && additional !== null ? (additional as Schema) : {}, options),
    ),
    { maxLength: open ? 4 : 0 },
  );
  const slips = fc.array(fc.tuple(fc.constantFrom(...hostileNames), hostileValues), { minLength: 1, maxLength: 2 });
  const slipped = fc.oneof(
    { weight: (slipOneIn ?? 2) - 1, arbitrary: fc.constant([]) },
    { weight: slipOneIn === undefined ? 0 : 1, arbitrary: slips },
  );
  return fc.tuple(ownMembers, others, slipped).map(([own, rest, more]) =>
    // Makes `__proto__` an ordinary member.
    Object.fromEntries([...own.filter((member) => member !== null), ...rest, ...more]),
  );
}

/** Values just inside and just outside the bounds of a schema. */
function borderValues(schema: Schema): fc.Arbitrary<unknown> {
  const bound = (keyword: string): number[] => {
    const value = schema[keyword];
    return typeof value === 'number' && value <= 2 ** 53 ? [value - 1, value, value + 1] : [];
  };
  const lengths = [...bound('minLength'), ...bound('maxLength')].filter((length) => length >= 0 && length <= 5_000);
  const counts = [...bound('minItems'), ...bound('maxItems')].filter((count) => count >= 0 && count <= 300);
  const item = schema['items'] as Schema | undefined;
  const candidates: fc.Arbitrary<unknown>[] = [];
  const amounts = [...bound('minimum'), ...bound('maximum')];
  if (amounts.length > 0) candidates.push(fc.constantFrom(...amounts));
  if (lengths.length > 0) {
    candidates.push(
      fc
        .tuple(fc.constantFrom('a', '7', '😀', 'é', '~'), fc.constantFrom(...lengths))
        .map(([unit, length]) => unit.repeat(length)),
    );
  }
  if (counts.length > 0 && item !== undefined) {
    candidates.push(
      fc
        .tuple(valuesOf(item), fc.constantFrom(...counts))
        .map(([value, count]) => Array.from({ length: count }, () => value)),
    );
  }
  if (schema['maxProperties'] !== undefined) {
    const member = schema['additionalProperties'];
    candidates.push(
      fc
        .tuple(
          valuesOf(typeof member === 'object' ? (member as Schema) : {}),
          fc.constantFrom(...bound('maxProperties')),
        )
        .map(([value, count]) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`v${index}`, value]))),
    );
  }
  if (typeof schema['pattern'] === 'string') {
    candidates.push(
      texts(schema).chain((text) =>
        fc.constantFrom(`${text}\n`, ` ${text}`, text.toUpperCase(), `${text}-`, text + text),
      ),
    );
  }
  return candidates.length === 0 ? hostileValues : fc.oneof(...candidates);
}

function number(schema: Schema, keyword: string, otherwise: number): number {
  const value = schema[keyword];
  return typeof value === 'number' ? value : otherwise;
}
