import { afterAll, describe, expect, it } from '@jest/globals';
import { createAnswerChecker } from '../../../../src/base/json-schema/answer-checker.ts';
import {
  checkAnswer,
  type Check,
  type CheckedAnswer,
  type CheckedCase,
  type CheckRuntime,
  type CheckResult,
} from '../../../../src/prompts/evaluations/checks/check-answer.ts';

/** Far more than a check needs. */
const checker = createAnswerChecker({ timeoutMs: 3_600_000 });
afterAll(() => checker.close());
const check: CheckRuntime['check'] = (job) => checker.check(job, { key: 'key' });
const runtime = { check, turns: () => undefined, askJudge: () => Promise.resolve(undefined) };

const weather = {
  name: 'weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const said: CheckedAnswer = {
  ...{ text: '', finishReason: 'stop', toolCalls: [], tools: [weather], cost: 0.01, latencyMs: 900 },
};

async function result(check: Check, answer: Partial<CheckedAnswer>, of: CheckedCase = {}): Promise<CheckResult> {
  const { results } = await checkAnswer([check], { ...said, ...answer }, of, runtime);
  const [only] = results;
  if (only === undefined || results.length > 1) throw new Error('One check has one result.');
  return only;
}

/** Whether a check passes, its reason, and whether its opposite passes. */
async function both(
  check: Check,
  answer: Partial<CheckedAnswer>,
  of?: CheckedCase,
): Promise<[boolean, string, boolean]> {
  const { pass, reason } = await result(check, answer, of);
  const opposite = await result({ ...check, type: `not-${check.type}` as Check['type'] }, answer, of);
  expect(opposite.reason).toBe(reason);
  return [pass, reason, opposite.pass];
}

const priority = { type: 'object', properties: { priority: { enum: ['low', 'high'] } }, required: ['priority'] };
const calls = (...toolCalls: CheckedAnswer['toolCalls']): Partial<CheckedAnswer> => ({ toolCalls });
const text = (words: string): Partial<CheckedAnswer> => ({ text: words });

describe('types', () => {
  it.each<[Check, Partial<CheckedAnswer>, boolean, string]>([
    [{ type: 'equals', value: 'Paris' }, text('Paris'), true, 'The answer is "Paris".'],
    [{ type: 'equals', value: 'Paris' }, text('Paris.'), false, 'The answer is not "Paris".'],
    [{ type: 'equals', value: '' }, text(''), true, 'The answer is "".'],
    [{ type: 'equals', value: 5 }, text(' 5\n'), true, 'The answer is "5".'],
    [{ type: 'equals', value: '5' }, text('5.0'), false, 'The answer is not "5".'],
    [{ type: 'equals', value: true }, text('yes'), false, 'The answer is not "true".'],
    [
      { type: 'equals', value: { a: 1, b: [2] } },
      text('{"b": [2], "a": 1}'),
      true,
      'The answer is "{\\"a\\":1,\\"b\\":[2]}".',
    ],
    [{ type: 'equals', value: '{"a": 1}' }, text('{"a":1}'), true, 'The answer is "{\\"a\\": 1}".'],
    [{ type: 'equals', value: '{"a":' }, text('{"a":1}'), false, 'The answer is not "{\\"a\\":".'],
    [{ type: 'equals', value: [1, 2] }, text('[2,1]'), false, 'The answer is not "[1,2]".'],
    [{ type: 'contains', value: 'ell' }, text('Hello'), true, 'The answer contains "ell".'],
    [{ type: 'contains', value: 'ELL' }, text('Hello'), false, 'The answer does not contain "ELL".'],
    [{ type: 'icontains', value: 'ELL' }, text('Hello'), true, 'The answer contains "ell".'],
    [{ type: 'icontains', value: 'x' }, text('Hello'), false, 'The answer does not contain "x".'],
    [{ type: 'contains-all', value: ['a', 'b'] }, text('abc'), true, 'The answer contains all of "a, b".'],
    [{ type: 'contains-all', value: 'a, x' }, text('abc'), false, 'The answer does not contain "x".'],
    [{ type: 'contains-any', value: ['x', 'b'] }, text('abc'), true, 'The answer contains "b".'],
    [{ type: 'contains-any', value: 'x, "a,b"' }, text('a,b'), true, 'The answer contains "a,b".'],
    [{ type: 'contains-any', value: 'x, "a,b"' }, text('a b'), false, 'The answer contains none of "x, a,b".'],
    [{ type: 'starts-with', value: 'He' }, text('Hello'), true, 'The answer starts with "He".'],
    [{ type: 'starts-with', value: 'lo' }, text('Hello'), false, 'The answer does not start with "lo".'],
    [{ type: 'regex', value: '\\bl{2}|\\d+$' }, text('room\n42'), true, 'The answer matches "\\\\bl{2}|\\\\d+$".'],
    [{ type: 'regex', value: '^\\p{Lu}' }, text('élan'), false, 'The answer does not match "^\\\\p{Lu}".'],
    [{ type: 'is-json' }, text('[1'), false, 'The answer is not JSON: it ends too early (2 characters).'],
    [{ type: 'is-json' }, text('{"a":1}'), true, 'The answer is JSON.'],
    [
      { type: 'is-json', value: priority },
      text('{"priority":"low"}'),
      true,
      'The answer is JSON that matches the schema.',
    ],
    [
      { type: 'is-json', value: priority },
      text('{"priority":"none"}'),
      false,
      'The answer does not match the schema at /priority (#/properties/priority/enum: ["low","high"]).',
    ],
    [{ type: 'contains-json' }, text('Here: {"a": [1]}!'), true, 'The answer contains JSON.'],
    [{ type: 'contains-json' }, text('Here [not} {"json": '), false, 'The answer contains no JSON.'],
    [
      { type: 'contains-json', value: priority },
      text('Not [1], not {"a": "{"}, but ```json\n{"priority": "high"}\n```'),
      true,
      'The answer contains JSON that matches the schema.',
    ],
    [
      { type: 'contains-json', value: priority },
      text('Only [1] and [{"priority": "high"}]'),
      false,
      'The answer contains no JSON that matches the schema.',
    ],
    [{ type: 'finish-reason', value: 'stop' }, {}, true, 'Generation ended with "stop".'],
    [
      { type: 'finish-reason', value: 'tool_calls' },
      { finishReason: 'tool-calls' },
      true,
      'Generation ended with "tool-calls".',
    ],
    [
      { type: 'finish-reason', value: 'stop' },
      { finishReason: 'length' },
      false,
      'Generation ended with "length", not "stop".',
    ],
    [
      { type: 'is-valid-openai-tools-call' },
      calls({ name: 'weather', arguments: '{"city":"Paris"}' }),
      true,
      'The answer calls tools of the prompt, with arguments that match their schemas.',
    ],
    [{ type: 'is-valid-openai-tools-call' }, {}, false, 'The answer calls no tool.'],
    [
      { type: 'is-valid-openai-tools-call' },
      calls({ name: 'weather', arguments: '{"city":"Paris"}' }, { name: 'time', arguments: '{}' }),
      false,
      '"time" is not a tool of the prompt.',
    ],
    [
      { type: 'is-valid-openai-tools-call' },
      calls({ name: 'weather', arguments: '{}' }),
      false,
      'The call of "weather" does not match the schema at its top (#/required: "city" is missing).',
    ],
    [{ type: 'cost', threshold: 0.01 }, {}, true, 'The call cost 0.01 US dollars, at most 0.01.'],
    [{ type: 'cost', threshold: 0.001 }, {}, false, 'The call cost 0.01 US dollars, more than 0.001.'],
    [{ type: 'latency', threshold: 900 }, {}, true, 'The call took 900 ms, at most 900.'],
    [{ type: 'latency', threshold: 899 }, {}, false, 'The call took 900 ms, more than 899.'],
  ])('%j of %j: %s', async (check, answer, pass, reason) => {
    expect(await both(check, answer)).toEqual([pass, reason, !pass]);
  });
});

describe('what fails also with not-', () => {
  it.each<[string, Check, Partial<CheckedAnswer>, CheckedCase, string]>([
    ['an unknown cost', { type: 'cost', threshold: 1 }, { cost: undefined }, {}, 'The cost of the call is unknown.'],
    [
      'a part that is not there',
      { type: 'contains', value: 'x', at: '/a/1' },
      text('{"a":["x"]}'),
      {},
      'The answer has no /a/1.',
    ],
    [
      'a name of every object',
      { type: 'contains', value: 'x', at: '/constructor' },
      text('{}'),
      {},
      'The answer has no /constructor.',
    ],
    [
      'the length of a list',
      { type: 'equals', value: 1, at: '/length' },
      text('[1]'),
      {},
      'The answer has no /length.',
    ],
    [
      'a part of what is not JSON',
      { type: 'equals', value: 'x', at: '/a' },
      text('no'),
      {},
      'The answer is not JSON at character 1.',
    ],
    ['a variable without value', { type: 'equals', value: '{{expected}}' }, text('x'), {}, 'No value for: expected.'],
    [
      'an empty value',
      { type: 'contains', value: '{{expected}}' },
      text('x'),
      { expected: '' },
      'The value of the check is empty.',
    ],
    [
      'an empty text among others',
      { type: 'contains-any', value: ['y', '{{x}}'] },
      text('x'),
      { variables: { x: '' } },
      'The value of the check is empty.',
    ],
    [
      'an empty list',
      { type: 'contains-all', value: '{{expected}}' },
      text('x'),
      { expected: [] },
      'The value of the check is empty.',
    ],
    [
      'an expression that cannot be read',
      { type: 'regex', value: '{{expected}}' },
      text('x'),
      { expected: '(' },
      '"(" is not a regular expression of ECMA-262 (flag u).',
    ],
    [
      'a schema that cannot be read',
      { type: 'is-json', value: { pattern: '{{expected}}' } },
      text('1'),
      { expected: '(' },
      'The schema is not a regular expression of ECMA-262 (flag u) at /pattern.',
    ],
    [
      'a value that is too long, of values that are none',
      { type: 'equals', value: Array.from({ length: 40 }, () => Array.from({ length: 1_000 }, () => '{{x}}')) },
      text('[]'),
      { variables: { x: Array.from({ length: 9_000 }, (_, index) => `xxxxxxxxxxxxxxxxxx${index}`) } },
      'The value of the check is too long.',
    ],
    [
      'a value that is too long',
      { type: 'equals', value: ['{{x}},{{x}}', '{{x}}.'] },
      text('[]'),
      { variables: { x: 'x'.repeat(400_000) } },
      'The value of the check is too long.',
    ],
    [
      'JSON that is too deep',
      { type: 'is-json' },
      text('['.repeat(101) + ']'.repeat(101)),
      {},
      'The answer is nested deeper than 100 levels.',
    ],
  ])('%s', async (_what, check, answer, of, reason) => {
    expect(await both(check, answer, of)).toEqual([false, reason, false]);
  });

  it('what is not found out in time', async () => {
    const stopped = createAnswerChecker({ timeoutMs: 1 });
    const answer = { ...said, text: 'a'.repeat(50) };
    const checks: Check[] = [
      { type: 'regex', value: '(a+)+b' },
      { type: 'not-regex', value: '(a+)+b' },
    ];
    const { pass, results } = await checkAnswer(
      checks,
      answer,
      {},
      { ...runtime, check: (job) => stopped.check(job, { key: 'key' }) },
    );
    await stopped.close();
    const reason = 'The answer could not be checked in time.';
    expect(pass).toBe(false);
    expect(results).toEqual(checks.map(({ type }) => ({ type, pass: false, score: 0, reason, isUndecided: true })));
  });
});

describe('at', () => {
  const answer = text('{"priority": "high", "n": {"a/b": [10, {"deep": null}]}}');

  it.each<[Check, string]>([
    [{ type: 'equals', value: 'high', at: '/priority' }, '/priority of the answer is "high".'],
    [{ type: 'equals', value: 10, at: '/n/a~1b/0' }, '/n/a~1b/0 of the answer is "10".'],
    [{ type: 'equals', value: '10', at: '/n/a~1b/0' }, '/n/a~1b/0 of the answer is "10".'],
    [{ type: 'is-json', at: '/n/a~1b/1/deep' }, '/n/a~1b/1/deep of the answer is JSON.'],
    [{ type: 'contains', value: '"deep":null', at: '/n' }, '/n of the answer contains "\\"deep\\":null".'],
    [
      { type: 'is-json', value: { enum: ['low', 'high'] }, at: '/priority' },
      '/priority of the answer is JSON that matches the schema.',
    ],
    [{ type: 'is-json', value: priority, at: '' }, 'The answer is JSON that matches the schema.'],
  ])('%j', async (check, reason) => {
    expect(await both(check, answer)).toEqual([true, reason, false]);
  });
});

describe('values of the case', () => {
  const of: CheckedCase = {
    expected: { city: 'Paris', n: 2 },
    variables: { name: 'Ada', words: ['x', 'Ada'], nothing: null },
  };

  it.each<[Check, string]>([
    [{ type: 'equals', value: '{{expected}}' }, '{"n":2,"city":"Paris"}'],
    [{ type: 'equals', value: { city: 'Paris', n: '{{ n|2 }}' } }, '{"city":"Paris","n":"2 "}'],
    [{ type: 'equals', value: [{ to: ['Dear {{name}}', '{{name}}'] }] }, '[{"to":["Dear Ada","Ada"]}]'],
    [{ type: 'contains', value: 'is {{expected}}.' }, 'It is {"city":"Paris","n":2}.'],
    [{ type: 'contains-any', value: '{{words}}' }, 'Hello Ada'],
    [{ type: 'contains-all', value: '{{name}}, {{other|Grace}}' }, 'Grace and Ada'],
    [{ type: 'regex', value: '^{{name}}$' }, 'Ada'],
    [{ type: 'contains', value: String.raw`\{{name}}` }, '{{name}}'],
    [{ type: 'is-json', value: { const: '{{expected}}' } }, '{"city":"Paris","n":2}'],
  ])('%j', async (check, answer) => {
    const { pass, reason } = await result(check, text(answer), of);
    expect([pass, reason]).toEqual([true, expect.any(String)]);
  });

  it('never reads a value as a template', async () => {
    const { reason } = await result({ type: 'equals', value: '{{a}}!' }, text(''), {
      variables: { a: '{{b}}', b: 'c' },
    });
    expect(reason).toBe('The answer is not "{{b}}!".');
  });

  it('takes a variable of the name if nothing is expected', async () => {
    const check: Check = { type: 'equals', value: '{{expected}}' };
    expect(await result(check, text('x'), { variables: { expected: 'x' } })).toMatchObject({ pass: true });
    expect(await result(check, text('x'), { expected: 'y', variables: { expected: 'x' } })).toMatchObject({
      pass: false,
    });
  });
});

describe('all checks together', () => {
  it('passes if each does, with the mean by weight as score', async () => {
    const checks: Check[] = [
      { type: 'contains', value: 'a', weight: 3, metric: 'tone' },
      { type: 'contains', value: 'b' },
    ];
    expect(await checkAnswer(checks, { ...said, text: 'ab' }, {}, runtime)).toMatchObject({ pass: true, score: 1 });
    const { pass, score, results } = await checkAnswer(checks, { ...said, text: 'a' }, {}, runtime);
    expect([pass, score]).toEqual([false, 0.75]);
    expect(results).toEqual([
      { type: 'contains', metric: 'tone', pass: true, score: 1, reason: 'The answer contains "a".' },
      { type: 'contains', pass: false, score: 0, reason: 'The answer does not contain "b".' },
    ]);
  });

  it('does not pass with a failed check whose weight vanishes', async () => {
    const checks: Check[] = [
      { type: 'contains', value: 'b', weight: 1e-30 },
      { type: 'contains', value: 'a', weight: 1_000 },
    ];
    expect(await checkAnswer(checks, { ...said, text: 'a' }, {}, runtime)).toMatchObject({ pass: false });
  });

  it('does not pass without checks', async () => {
    expect(await checkAnswer([], said, {}, runtime)).toEqual({ pass: false, score: 0, results: [] });
  });

  it('ends when it is aborted', async () => {
    const reason = new Error('left');
    const checks: Check[] = [{ type: 'is-json' }];
    await expect(checkAnswer(checks, said, {}, runtime, AbortSignal.abort(reason))).rejects.toBe(reason);
    const leaving = new AbortController();
    const left: CheckRuntime['check'] = () => {
      leaving.abort(reason);
      return Promise.resolve({ status: 'unverified' });
    };
    await expect(checkAnswer(checks, said, {}, { ...runtime, check: left }, leaving.signal)).rejects.toBe(reason);
  });

  it('reads JSON once', async () => {
    let reads = 0;
    const counting: CheckRuntime['check'] = (job) => {
      reads += 1;
      return check(job);
    };
    const checks: Check[] = ['/a', '/b'].map((at) => ({ type: 'equals', value: 1, at }));
    const { pass } = await checkAnswer(checks, { ...said, text: '{"a":1,"b":1}' }, {}, { ...runtime, check: counting });
    expect([pass, reads]).toEqual([true, 1]);
  });
});
