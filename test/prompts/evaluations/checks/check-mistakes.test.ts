import { expect, it } from '@jest/globals';
import type { Check } from '../../../../src/prompts/evaluations/checks/check-answer.ts';
import { checkMistakes } from '../../../../src/prompts/evaluations/checks/check-mistakes.ts';

const noExpression = 'is not a regular expression of ECMA-262 (flag u)';
const noText = 'must be a text with at least one character';

it.each<[Check, object[]]>([
  [{ type: 'regex', value: '[' }, [{ detail: noExpression, pointer: '/0/value' }]],
  [{ type: 'not-regex', value: 'a{2}\\d' }, []],
  [{ type: 'regex', value: '{{expected}}(' }, []],
  [{ type: 'regex', value: String.raw`\{{expected}}(` }, [{ detail: noExpression, pointer: '/0/value' }]],
  [{ type: 'is-json' }, []],
  [{ type: 'is-json', value: { type: 'object' } }, []],
  [{ type: 'not-is-json', value: 'schema' }, [{ detail: 'must be an object', pointer: '/0/value' }]],
  [
    { type: 'contains-json', value: { properties: { a: { pattern: '(' } } } },
    [{ detail: noExpression, pointer: '/0/value/properties/a/pattern' }],
  ],
  [{ type: 'contains', value: '(' }, []],
  [{ type: 'not-cost', threshold: 0 }, []],
  [{ type: 'cost' }, [{ detail: 'is required', pointer: '/0/threshold' }]],
  [{ type: 'latency', threshold: 1, value: 1 }, [{ detail: 'is not for this type', pointer: '/0/value' }]],
  [
    { type: 'is-json', threshold: 1 },
    [{ detail: 'is only for cost, latency and llm-rubric', pointer: '/0/threshold' }],
  ],
  [{ type: 'is-valid-openai-tools-call' }, []],
  [{ type: 'not-is-valid-openai-tools-call', value: '' }, [{ detail: 'is not for this type', pointer: '/0/value' }]],
  [{ type: 'equals' }, [{ detail: 'is required', pointer: '/0/value' }]],
  [{ type: 'equals', value: '' }, []],
  [{ type: 'equals', value: false }, []],
  [{ type: 'contains' }, [{ detail: 'is required', pointer: '/0/value' }]],
  [{ type: 'icontains', value: '' }, [{ detail: noText, pointer: '/0/value' }]],
  [{ type: 'not-starts-with', value: 5 }, [{ detail: noText, pointer: '/0/value' }]],
  [{ type: 'finish-reason', value: ['stop'] }, [{ detail: noText, pointer: '/0/value' }]],
  [{ type: 'regex', value: {} }, [{ detail: noText, pointer: '/0/value' }]],
  [{ type: 'contains-all', value: 'a,b' }, []],
  [
    { type: 'contains-any', value: ['a', 5, ''] },
    ['/0/value/1', '/0/value/2'].map((pointer) => ({ detail: noText, pointer })),
  ],
  [{ type: 'contains-any', value: { a: 1 } }, [{ detail: noText, pointer: '/0/value' }]],
])('%j', (check, mistakes) => {
  expect(checkMistakes([check])).toEqual(mistakes);
});
