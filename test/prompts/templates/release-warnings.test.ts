import { describe, expect, it } from '@jest/globals';
import * as clientTemplates from '../../../clients/typescript/src/template.ts';
import * as serviceTemplates from '../../../src/prompts/templates/release-warnings.ts';

type Contract = Partial<serviceTemplates.PromptContract>;

const saying = (content: string): Contract => ({ messages: [{ content }] });
const hello = saying('Hello {{name}}.');
const text = { type: 'string' };
const object = (properties: object, ...required: string[]): object => ({ type: 'object', properties, required });
const tool = (name: string, parameters = {}): Contract => ({ tools: [{ name, parameters }] });
const answer = (schema?: object): Contract => ({ response_format: { type: 'json', schema } });

/** The older and the newer version, and the warnings about the move: `code pointer: detail`. */
const cases: readonly (readonly [what: string, before: Contract, after: Contract, warnings: readonly string[]])[] = [
  ['a variable that a text uses', {}, hello, ['variable-required #/variables/name: is new and required']],
  [
    'a variable of an image',
    {},
    { messages: [{ content: [{ type: 'image', url: '{{name}}' }] }] },
    ['variable-required #/variables/name: is new and required'],
  ],
  [
    'a declared variable',
    {},
    { variables: { name: { required: true } } },
    ['variable-required #/variables/name: is new and required'],
  ],
  ['a new variable with a default', {}, saying('Hello {{name|you}}.'), []],
  ['a new optional variable', {}, { ...hello, variables: { name: {} } }, []],
  [
    'a variable that lost its default',
    saying('Hello {{name|you}}.'),
    hello,
    ['variable-required #/variables/name: is required now'],
  ],
  [
    'a variable that was optional',
    { ...hello, variables: { name: { default: 'you' } } },
    { ...hello, variables: { name: { default: 'you', required: true } } },
    ['variable-required #/variables/name: is required now'],
  ],
  [
    'a variable that is optional now',
    { ...hello, variables: { name: { required: true } } },
    { ...hello, variables: { name: {} } },
    [],
  ],
  ['another default', saying('Hello {{name|you}}.'), saying('Hello {{name|all}}.'), []],
  ['a variable that is gone', hello, {}, ['variable-removed #/variables/name: is gone; a value for it is ignored']],
  [
    'a variable that is gone where only known ones are accepted',
    { ...hello, strict: true },
    { strict: true },
    ['variable-removed #/variables/name: is gone; a value for it is refused'],
  ],
  ['a variable that is declared and no longer used', hello, { variables: { name: {} } }, []],
  [
    'another name',
    hello,
    saying('Hello {{first.name}}.'),
    [
      'variable-required #/variables/first.name: is new and required',
      'variable-removed #/variables/name: is gone; a value for it is ignored',
    ],
  ],
  [
    'only known variables',
    {},
    { strict: true },
    ['variables-strict #/strict: is true now; unknown variables are refused'],
  ],
  ['unknown variables, too', { strict: true }, { strict: false }, []],

  [
    'a new tool',
    tool('find'),
    {
      tools: [
        { name: 'list', parameters: {} },
        { name: 'find', parameters: {} },
      ],
    },
    ['tool-added #/tools/0: the tool "list" is new; callers have to run it'],
  ],
  [
    'a tool that is gone',
    {
      tools: [
        { name: 'list', parameters: {} },
        { name: 'find', parameters: {} },
      ],
    },
    tool('list'),
    ['tool-removed #/tools/1: the tool "find" is gone'],
  ],
  ['no tools', tool('find'), { tools: null }, ['tool-removed #/tools/0: the tool "find" is gone']],
  [
    'a tool that lost a parameter',
    tool('find', object({ a: text })),
    tool('find', object({})),
    ['tool-narrowed #/tools/0/parameters/properties/a: of the tool "find": is gone'],
  ],
  [
    'a tool with a new required parameter',
    tool('find', object({})),
    tool('find', object({ a: text }, 'a')),
    ['tool-narrowed #/tools/0/parameters/properties/a: of the tool "find": is new and required'],
  ],
  ['a tool with a new optional parameter', tool('find', object({})), tool('find', object({ a: text })), []],
  [
    'a tool with fewer values',
    tool('find', { properties: { a: { enum: [1, 2] } } }),
    tool('find', { properties: { a: { enum: [1] } } }),
    ['tool-narrowed #/tools/0/parameters/properties/a: of the tool "find": can no longer be 2'],
  ],
  [
    'a tool with more values',
    tool('find', { properties: { a: { enum: [1] } } }),
    tool('find', { properties: { a: { enum: [1, 2] } } }),
    ['tool-widened #/tools/0/parameters/properties/a: of the tool "find": can also be 2'],
  ],
  [
    'a tool with a doubtful change',
    tool('find', { pattern: 'a' }),
    tool('find', { pattern: 'b' }),
    ['schema-changed #/tools/0/parameters: of the tool "find": pattern is "b" now; it was "a"'],
  ],

  [
    'JSON in place of text',
    {},
    answer(object({})),
    ['answer-format-changed #/response_format: the answer is json now; it was text'],
  ],
  [
    'text in place of JSON',
    answer(object({})),
    { response_format: null },
    ['answer-format-changed #/response_format: the answer is text now; it was json'],
  ],
  ['text that is named', {}, { response_format: { type: 'text' } }, []],
  [
    'any JSON',
    answer(object({})),
    answer(),
    ['answer-weakened #/response_format/schema: is gone; the answer can be any JSON'],
  ],
  ['a schema for any JSON', answer(), answer(object({})), []],
  [
    'an answer that lost a property',
    answer(object({ a: text })),
    answer(object({})),
    ['answer-weakened #/response_format/schema/properties/a: is gone'],
  ],
  [
    'an answer with an optional property',
    answer(object({ a: text }, 'a')),
    answer(object({ a: text })),
    ['answer-weakened #/response_format/schema/properties/a: can be absent now'],
  ],
  [
    'an answer with a wider property',
    answer(object({ a: text })),
    answer(object({ a: { type: ['string', 'null'] } })),
    ['answer-weakened #/response_format/schema/properties/a: is string or null now; it was string'],
  ],
  [
    'an answer with another type',
    answer(object({ a: text })),
    answer(object({ a: { type: 'number' } })),
    ['answer-weakened #/response_format/schema/properties/a: is number now; it was string'],
  ],
  [
    'an answer that says more',
    answer(object({ a: text })),
    answer(object({ a: { ...text, maxLength: 9 }, b: text }, 'a', 'b')),
    [],
  ],
  [
    'an answer with a doubtful change',
    answer({ format: 'date' }),
    answer({ format: 'time' }),
    ['schema-changed #/response_format/schema: format is "time" now; it was "date"'],
  ],

  [
    'several',
    { ...hello, ...tool('a'), ...answer({}) },
    { ...tool('b') },
    [
      'variable-removed #/variables/name: is gone; a value for it is ignored',
      'tool-added #/tools/0: the tool "b" is new; callers have to run it',
      'tool-removed #/tools/0: the tool "a" is gone',
      'answer-format-changed #/response_format: the answer is text now; it was json',
    ],
  ],
];

describe.each([
  ['service', serviceTemplates],
  ['client', clientTemplates],
])('release warnings of the %s', (_whose, { releaseWarnings }) => {
  const compare = (before: Contract, after: Contract): serviceTemplates.ReleaseWarning[] =>
    releaseWarnings({ messages: [], ...before }, { messages: [], ...after });

  it.each(cases)('about %s', (_what, before, after, warnings) => {
    const found = compare(before, after).map(({ code, pointer, detail }) => `${code} ${pointer}: ${detail}`);
    expect(found).toEqual(warnings);
    expect(compare(after, after)).toEqual([]);
  });

  it('are at most 20', () => {
    const names = Array.from({ length: 30 }, (_, index) => `{{v${index}}}`);
    expect(compare({}, saying(names.join('')))).toHaveLength(20);
  });

  it('have pointers of at most 256 characters, to a place around it', () => {
    const long = (schema: object): object => object({ ['x'.repeat(100)]: object({ ['y'.repeat(200)]: schema }) });
    expect(compare(answer(long(text)), answer(long({})))).toEqual([
      expect.objectContaining({ pointer: `#/response_format/schema/properties/${'x'.repeat(100)}/properties` }),
    ]);
  });
});
