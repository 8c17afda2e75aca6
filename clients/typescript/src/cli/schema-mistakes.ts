import { isObject } from '../transfer/converted.ts';
import type { Finding } from './import-files.ts';

/**
 * The places where a value breaks a JSON Schema (2020-12) without references. Conditions, such as `if` and `not`, are not
 * looked at: the service does that.
 */
export function schemaMistakes(schema: unknown, value: unknown, pointer = '#'): Finding[] {
  if (!isObject(schema)) return [];
  const here = (detail: string): Finding[] => [{ pointer, detail }];
  const types = [schema['type'] ?? []].flat();
  if (types.length > 0 && !types.some((type) => isOf(type, value))) return here(`must be ${types.join(' or ')}`);
  if (Array.isArray(schema['enum']) && !schema['enum'].includes(value)) {
    return here(`must be one of ${schema['enum'].join(', ')}`);
  }
  const [word, size, unit] = measure(value);
  const [least, most] = [schema[`min${word}`], schema[`max${word}`]];
  if (typeof least === 'number' && size < least) return here(`must be >= ${least}${unit}`);
  if (typeof most === 'number' && size > most) return here(`must be <= ${most}${unit}`);
  if (typeof value === 'string') {
    const { pattern } = schema;
    return typeof pattern === 'string' && !new RegExp(pattern, 'u').test(value) ? here(`must match ${pattern}`) : [];
  }
  return [...ofOptions(schema['anyOf'], value, pointer), ...ofMembers(schema, value, pointer)];
}

function ofMembers(schema: Readonly<Record<string, unknown>>, value: unknown, pointer: string): Finding[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => schemaMistakes(schema['items'], item, `${pointer}/${index}`));
  }
  if (!isObject(value)) return [];
  const { required, propertyNames, additionalProperties } = schema;
  const properties = new Map(isObject(schema['properties']) ? Object.entries(schema['properties']) : []);
  const missing = (Array.isArray(required) ? required : []).filter((name) => !Object.hasOwn(value, String(name)));
  return [
    ...missing.map((name) => ({ pointer: `${pointer}/${name}`, detail: 'is required' })),
    ...Object.entries(value).flatMap(([name, member]) => {
      const place = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (properties.has(name)) return schemaMistakes(properties.get(name), member, place);
      if (additionalProperties === false) return [{ pointer: place, detail: 'is unknown' }];
      return [...schemaMistakes(propertyNames, name, place), ...schemaMistakes(additionalProperties, member, place)];
    }),
  ];
}

/** The mistakes of the option that a value is most like: one that is wrong only further inside. */
function ofOptions(options: unknown, value: unknown, pointer: string): Finding[] {
  const all = (Array.isArray(options) ? options : []).map((option) => schemaMistakes(option, value, pointer));
  if (all.some((mistakes) => mistakes.length === 0)) return [];
  return all.find((mistakes) => mistakes.every((mistake) => mistake.pointer !== pointer)) ?? all[0] ?? [];
}

/** What the limits of a value are called in a schema, and what they count. */
function measure(value: unknown): readonly [word: string, size: number, unit: string] {
  if (typeof value === 'number') return ['imum', value, ''];
  if (typeof value === 'string') return ['Length', Array.from(value).length, ' characters'];
  if (Array.isArray(value)) return ['Items', value.length, ' items'];
  return ['Properties', isObject(value) ? Object.keys(value).length : 0, ' members'];
}

function isOf(type: unknown, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  return type === (value === null ? 'null' : typeof value);
}
