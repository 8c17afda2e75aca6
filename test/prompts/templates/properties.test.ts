import { describe, expect, it } from '@jest/globals';
import { cpuMilliseconds, linearWorkMs } from '../../support/cpu-time.ts';
import fc from 'fast-check';
import {
  MissingVariablesError,
  parseTemplate,
  renderTemplate,
  RenderedPromptTooLargeError,
  type VariableDefinitions,
} from '../../../src/prompts/templates/render.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * The rules as one regular expression: simple, but too slow for the service (its `.*?` searches for `}}` repeatedly).
 */
const grammar = /\\\{\{|\{\{[ \t]*([A-Za-z_][A-Za-z0-9_.-]{0,63})[ \t]*(?:\}\}|\|([\s\S]*?)\}\})/g;

/** The text, or the missing names. */
function reference(template: string, declared: VariableDefinitions, supplied: Values): string | readonly string[] {
  const missing: string[] = [];
  const text = template.replace(grammar, (_match: string, name: string | undefined, inline: string | undefined) => {
    if (name === undefined) return '{{';
    const value = Object.hasOwn(supplied, name) ? supplied[name] : null;
    if (typeof value === 'string') return value;
    if (value !== null) return JSON.stringify(value);
    const definition = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (definition?.required === true) missing.push(name);
    else if (definition?.default !== undefined) return definition.default;
    else if (inline !== undefined) return inline;
    else if (definition === undefined) missing.push(name);
    return '';
  });
  for (const [name, definition] of Object.entries(declared)) {
    if (definition.required === true && (Object.hasOwn(supplied, name) ? supplied[name] : null) === null)
      missing.push(name);
  }
  return missing.length > 0 ? [...new Set(missing)] : text;
}

function rendered(template: string, declared: VariableDefinitions, supplied: Values): string | readonly string[] {
  try {
    return renderTemplate(parseTemplate(template), declared, supplied);
  } catch (error) {
    if (error instanceof MissingVariablesError) return error.names;
    throw error;
  }
}

const names = ['a', 'b', 'A.b-c_1', '_', '__proto__', 'constructor', 'toString', 'n'.repeat(64)];
const name = fc.constantFrom(...names);
const fragment = fc.oneof(
  fc.constantFrom('{', '{{', '}', '}}', '|', '\\', ' ', '\t', '\n', '$&', '1', 'é', '"', '😀'),
  name,
  fc.string({ maxLength: 5, unit: 'binary' }),
  name.map((known) => `{{${known}}}`),
  fc.tuple(name, fc.string({ maxLength: 4 })).map(([known, inline]) => `{{ ${known} |${inline}}}`),
);
const template = fc.array(fragment, { maxLength: 20 }).map((fragments) => fragments.join(''));

/** Objects as `JSON.parse` creates them: `__proto__` is an own property. */
function jsonObject<T>(value: fc.Arbitrary<T>): fc.Arbitrary<Readonly<Record<string, T>>> {
  return fc.uniqueArray(fc.tuple(name, value), { selector: ([known]) => known, maxLength: 6 }).map((entries) => {
    const object: Record<string, T> = {};
    for (const [known, own] of entries)
      Object.defineProperty(object, known, { value: own, enumerable: true, configurable: true, writable: true });
    return object;
  });
}

const supplied = jsonObject(fc.oneof(fc.string({ unit: 'binary' }), template, fc.jsonValue()));
const declared = jsonObject(fc.record({ default: template, required: fc.boolean() }, { requiredKeys: [] }));

describe('template properties', () => {
  it('equals the reference for any input', () => {
    fc.assert(
      fc.property(template, declared, supplied, (text, definitions, values) => {
        expect(rendered(text, definitions, values)).toEqual(reference(text, definitions, values));
      }),
      { numRuns: 5000 },
    );
  });

  it('equals the reference for every short text of special characters', () => {
    const characters = ['{', '}', '|', '\\', 'a', ' '];
    let texts = [''];
    for (let length = 1; length <= 7; length++) {
      texts = texts.flatMap((text) => characters.map((character) => text + character));
      for (const text of texts) {
        const actual = rendered(text, {}, { a: 'A' });
        const expected = reference(text, {}, { a: 'A' });
        if (String(actual) !== String(expected)) throw new Error(`${JSON.stringify(text)} gives ${String(actual)}`);
      }
    }
  });

  it('throws only its two errors', () => {
    fc.assert(
      fc.property(template, declared, supplied, fc.nat({ max: 50 }), (text, definitions, values, maxLength) => {
        try {
          const result = renderTemplate(parseTemplate(text), definitions, values, { maxLength });
          expect(result.length).toBeLessThanOrEqual(maxLength);
        } catch (error) {
          expect([MissingVariablesError, RenderedPromptTooLargeError]).toContain((error as Error).constructor);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('renders a text with escaped openings as the original text', () => {
    fc.assert(
      fc.property(template, (text) => {
        expect(rendered(text.replaceAll('{{', '\\{{'), {}, {})).toBe(text);
      }),
    );
  });
});

/** Each is 1 MiB. Linear work takes milliseconds; repeated scanning takes minutes. */
describe('hostile templates', () => {
  const mebibyte = 1024 * 1024;
  const filled = (unit: string): string => unit.repeat(Math.ceil(mebibyte / unit.length)).slice(0, mebibyte);
  const hostile: Record<string, string> = {
    'openings only': filled('{{'),
    'unclosed names': filled('{{a'),
    'unclosed defaults': filled('{{a|'),
    'unclosed defaults after the last close': `}}${filled('{{a|')}`,
    'unclosed defaults with one brace each': filled('{{a|}'),
    'a name and blanks': `{{ a${filled(' ')}`,
    'names and blanks': filled('{{ a    \t'),
    'blanks before a name': `{{${filled(' ')}`,
    backslashes: filled('\\'),
    escapes: filled('\\{{'),
    'backslashes before an opening': `${filled('\\')}{{a}}`,
    'long names': filled(`{{${'n'.repeat(64)}`),
    'a name without an end': `{{${filled('n')}}}`,
    closings: filled('}}'),
    'empty braces': filled('{{}}'),
    'nested braces': `${'{'.repeat(mebibyte / 2)}a${'}'.repeat(mebibyte / 2)}`,
    placeholders: filled('{{a}}'),
    'inline defaults': filled('{{b|x}}'),
    'different names': Array.from({ length: 80_000 }, (_, index) => `{{v${index}|}}`).join(''),
  };

  it.each(Object.entries(hostile))('%s', (_title, text) => {
    expect(cpuMilliseconds(() => rendered(text, {}, { a: 'A' }))).toBeLessThan(linearWorkMs);
  });
});
