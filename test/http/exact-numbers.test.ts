import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isExact } from '../../src/base/runtime/inexact-numbers.ts';
import { startTestService, type Answer, type TestService } from '../support/service.ts';

const prompts = '/api/v1/prompts';
const differs = 'inexact-number';
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  const messages = [{ role: 'user', content: '{{value}}' }];
  const body = { name: 'Repeat', slug: 'repeat', messages, variables: { value: {} }, selected_provider: 'echo' };
  expect((await service.call('POST', prompts, { body })).status).toBe(201);
});
afterAll(() => service.close());

/** Sends numbers exactly as they are written here. */
const send = (method: string, path: string, body: string): Promise<Answer> =>
  service.call(method, path, { body, differs });
const invoke = (value: string): Promise<Answer> =>
  send('POST', `${prompts}/repeat/invoke`, `{"variables": {"value": ${value}}}`);

const changed = [
  ...['1234567890123456789', '-1234567890123456789', '9007199254740993', '12345678901234567.5', '0.12345678901234567'],
  ...['0.1000000000000000055511151231257827', '1.0000000000000000001', '1e999', '-1e400', '1E+400', '1e-400', '1e309'],
  ...['99999999999999999999', '123456789012345678e-5', `1${'0'.repeat(400)}`, `0.${'0'.repeat(400)}1`],
];
const kept: [string, string][] = [
  ...['0', '0.1', '-2.5', '9007199254740992', '1234567890123456800', '0.1234567890123456', '5e-324'].map(
    (number): [string, string] => [number, number],
  ),
  ['1e23', '1e+23'],
  ['1E2', '100'],
  ['1.0', '1'],
  ['-0', '0'],
  ['0e999', '0'],
  ['100000000000000000000', '100000000000000000000'],
  ['1.7976931348623157e308', '1.7976931348623157e+308'],
  ['0.00000000000000000000000000001', '1e-29'],
];

describe('a number that would be changed', () => {
  it.each(changed)('is refused in variables: %s', async (number) => {
    const { status, body } = await invoke(number);
    expect([status, body.type]).toEqual([400, 'urn:prompt-gateway:problem:malformed-body']);
    expect(body.errors).toEqual([
      { detail: 'is a number that a double cannot hold; send it as a string', pointer: '#/variables/value' },
    ]);
  });

  it.each([
    [
      'POST',
      prompts,
      '{"name": "x", "messages": [], "test_settings": [1, {"a/b": [0.5, {"n": NUMBER}]}]}',
      '#/test_settings/1/a~1b/1/n',
    ],
    ['PUT', `${prompts}/repeat`, '{"test_settings": NUMBER}', '#/test_settings'],
    [
      'POST',
      `${prompts}/repeat/test`,
      '{"variables": {"a": "1, 2 {[", "\\u0062\\"": [[], {}, NUMBER]}}',
      '#/variables/b"/2',
    ],
    ['POST', '/v1/orders', '{"items": [{"quantity": 1}, {"quantity": NUMBER}]}', '#/items/1/quantity'],
    ['POST', '/v1/products', '{"price": NUMBER}', '#/price'],
  ])('is refused at %s %s', async (method, path, body, pointer) => {
    const answer = await send(method, path, body.replace('NUMBER', '9007199254740993'));
    expect([answer.status, answer.body.errors?.[0].pointer]).toEqual([400, pointer]);
  });

  it('is found after strings that look like numbers', async () => {
    const text = JSON.stringify(`"1e999" \\ [12345678901234567890, ${'9'.repeat(400)}] \\"`);
    expect((await invoke(text)).status).toBe(200);
    expect((await invoke(`[${text}, 1e999]`)).body.errors[0].pointer).toBe('#/variables/value/1');
  });
});

describe('a number that keeps its value', () => {
  it.each(kept)('reaches the provider: %s', async (number, text) => {
    const { status, body } = await invoke(number);
    expect([status, body.text]).toEqual([200, text]);
  });

  it('is unchanged in test_settings', async () => {
    const settings = `[${kept.map(([number]) => number).join(', ')}]`;
    const { status, body } = await send('PUT', `${prompts}/repeat`, `{"test_settings": ${settings}}`);
    expect([status, body.test_settings]).toEqual([200, JSON.parse(settings.replace('-0', '0'))]);
  });
});

describe('isExact', () => {
  it('accepts all doubles as JavaScript writes them', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        expect(isExact(JSON.stringify(number))).toBe(true);
        expect(isExact(number.toExponential())).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('compares a literal with the double that is written for it', () => {
    const digits = (most: number): fc.Arbitrary<string> =>
      fc.array(fc.constantFrom(...'0001234567899'), { minLength: 1, maxLength: most }).map((all) => all.join(''));
    const literal = fc
      .tuple(
        fc.constantFrom('', '-'),
        digits(22),
        fc.option(digits(22)),
        fc.option(fc.integer({ min: -340, max: 330 })),
      )
      .map(([sign, whole, fraction, power]) =>
        [
          sign,
          whole.replace(/^0+(?=\d)/, ''),
          fraction === null ? '' : `.${fraction}`,
          power === null ? '' : `e${power}`,
        ].join(''),
      );
    fc.assert(
      fc.property(literal, (text) => {
        const value = Number(text);
        const expected = Number.isFinite(value) && scaled(text) === scaled(String(value));
        expect([text, isExact(text)]).toEqual([text, expected]);
      }),
      { numRuns: 5_000 },
    );
  });
});

/** The exact value of a JSON number without its sign, multiplied by 10^800. */
function scaled(text: string): bigint {
  const [, whole = '', fraction = '', power = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e(.+))?$/i.exec(text) ?? [];
  return BigInt(whole + fraction) * 10n ** BigInt(800 + Number(power) - fraction.length);
}
