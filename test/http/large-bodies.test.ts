import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BodyScanner, longStringBytes, maxNesting, maxPlainBytes, maxValues } from '../../src/http/body-scanner.ts';
import { parseLargeBody } from '../../src/http/large-body.ts';
import { openConnection } from '../support/raw-connection.ts';
import { startTestService, type Answer, type TestService } from '../support/service.ts';
import { createTurns } from '../../src/base/runtime/turns.ts';

let service: TestService;
let path: string;
beforeAll(async () => {
  service = await startTestService();
  const messages = [{ role: 'user', content: '{{text}}' }];
  const body = { name: 'Repeat', slug: 'repeat', messages, selected_provider: 'echo' };
  expect((await service.call('POST', '/api/v1/prompts', { body })).status).toBe(201);
  path = '/api/v1/prompts/repeat/invoke';
});
afterAll(() => service.close());

/** An invocation whose body has these members besides `variables` and its `text`. */
const invoke = (more: string, text = 'x'): Promise<Answer> =>
  service.call('POST', path, { body: `{"variables":{"text":${JSON.stringify(text)}${more}}}` });
const list = (count: number, element: string): string => `[${Array.from({ length: count }, () => element).join(',')}]`;
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('a large body', () => {
  // `variables`, `text` and `a` are members too, and the body has an object around the object.
  it.each([
    ['elements', list(maxValues - 3, '{}'), list(maxValues - 2, '{}')],
    [
      'members',
      `{${Array.from({ length: maxValues - 3 }, (_, index) => `"x${index}":1`).join(',')}}`,
      `{${Array.from({ length: maxValues - 2 }, (_, index) => `"x${index}":1`).join(',')}}`,
    ],
  ])(`has at most ${maxValues} members and elements: %s`, async (_name, most, tooMany) => {
    expect((await invoke(`,"a":${most}`)).status).toBe(200);
    const { status, body } = await invoke(`,"a":${tooMany}`);
    expect([status, body.type]).toEqual([400, 'urn:prompt-gateway:problem:malformed-body']);
    expect(body.detail).toBe(`The body has more than ${maxValues} members and elements.`);
  });

  it(`has at most ${maxNesting - 1} levels`, async () => {
    const blanks = ' '.repeat(20_000);
    expect((await invoke(`,"a":${blanks}${nested(maxNesting - 2)}`)).status).toBe(200);
    for (const space of ['', blanks]) {
      const { status, body } = await invoke(`,"a":${space}${nested(maxNesting - 1)}`);
      expect([status, body.detail]).toEqual([400, `The body is nested deeper than ${maxNesting - 1} levels.`]);
    }
  });

  it('has at most 4 MiB apart from long strings', async () => {
    const long = `"${'s'.repeat(longStringBytes)}"`;
    expect((await invoke(`,"a":${list(6_000, long)}`)).status).toBe(200);
    for (const text of [' '.repeat(maxPlainBytes) + '1', `{"${'n'.repeat(maxPlainBytes)}":1}`]) {
      const { status, body } = await invoke(`,"a":${text}`);
      expect([status, body.type]).toEqual([400, 'urn:prompt-gateway:problem:malformed-body']);
      expect(body.detail).toContain(`${maxPlainBytes} bytes`);
    }
  });

  it('is refused at the first too many, while the rest is on the way', async () => {
    const connection = openConnection(service.url);
    const head = [`POST ${path} HTTP/1.1`, 'Host: test', `Authorization: Bearer ${service.adminKey}`];
    const fields = ['Content-Type: application/json', `Content-Length: ${10_000_000}`];
    connection.send(`${[...head, ...fields].join('\r\n')}\r\n\r\n{"variables":{"a":${list(maxValues, '[]')}`);
    const [answer] = await connection.answers(1);
    expect([answer?.status, answer?.headers['connection']]).toEqual([400, 'close']);
    connection.socket.destroy();
  });

  it('is refused after `100 Continue` when the caller has sent the rest, so that it receives the answer', async () => {
    const { socket, send, closed, rest } = openConnection(service.url);
    const head = [`POST ${path} HTTP/1.1`, 'Host: test', `Authorization: Bearer ${service.adminKey}`];
    const body = `{"variables":{"a":${list(maxValues, '[]')},"b":"${'x'.repeat(20_000_000)}"}}`;
    const fields = ['Content-Type: application/json', `Content-Length: ${body.length}`, 'Expect: 100-continue'];
    send(`${[...head, ...fields].join('\r\n')}\r\n\r\n`);
    await once(socket, 'data');
    const failure = await new Promise((resolve) => socket.write(body, resolve));
    socket.end();
    await closed;
    expect([failure, (await rest()).match(/HTTP\/1.1 \d+/g)]).toEqual([null, ['HTTP/1.1 100', 'HTTP/1.1 400']]);
  });

  it('is read in whatever chunks it comes', async () => {
    const text = `${'é😀漢\\\\"\\u00e9\\ud83d\\ude00'.repeat(700)}\n`;
    const bytes = Buffer.from(JSON.stringify({ variables: { text, a: [0.5, text] } }));
    for (const size of [1, 7, 4_093]) {
      const { hostname, port } = new URL(service.url);
      const headers = { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json' };
      const sent = httpRequest({ hostname, port, path, method: 'POST', headers });
      for (let at = 0; at < bytes.length; at += size) sent.write(bytes.subarray(at, at + size));
      sent.end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      const { text: answered } = JSON.parse(String(Buffer.concat(await answer.toArray()))) as { text: string };
      expect([answer.statusCode, answered === text]).toEqual([200, true]);
    }
  });

  it.each([
    ['is cut', `{"variables":{"text":"${'x'.repeat(20_000)}"`],
    ['has a control character in a long string', `{"variables":{"text":"${'x'.repeat(20_000)}\n"}}`],
    ['has an unknown escape', `{"variables":{"text":"${'x'.repeat(20_000)}\\x"}}`],
    ['has half a surrogate pair in a long string', `{"variables":{"text":"${'x'.repeat(20_000)}\\ud83d"}}`],
    ['has half a surrogate pair elsewhere', `{"variables":{"text":"${'x'.repeat(20_000)}","a":"\\ud83d"}}`],
    ['has a number that is not exact', `{"variables":{"text":"${'x'.repeat(20_000)}","a":12345678901234567890}}`],
  ])('is malformed if it %s', async (_name, body) => {
    const answer = await service.call('POST', path, { body, differs: 'inexact-number' });
    expect([answer.status, answer.body.type]).toEqual([400, 'urn:prompt-gateway:problem:malformed-body']);
  });
});

describe('the parser of large bodies', () => {
  const parse = async (bytes: Buffer, ends: readonly number[] = []): Promise<{ value: unknown; values: number }> => {
    const scanner = new BodyScanner();
    let from = 0;
    for (const end of [...ends.map((each) => each % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
      expect(scanner.scan(bytes.subarray(from, end))).toBeUndefined();
      from = end;
    }
    return { value: await parseLargeBody(bytes, scanner.longStrings, createTurns()), values: scanner.values };
  };
  const ends = fc.array(fc.nat(), { maxLength: 20 });
  const longText = fc
    .tuple(fc.string({ unit: 'binary', minLength: 1 }), fc.integer({ min: 1, max: 3_000 }))
    .map(([text, times]) => text.repeat(times).toWellFormed());
  const json = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', maxDepth: 5 },
      ...[fc.constant(null), fc.boolean(), fc.integer(), fc.string({ unit: 'binary' }), longText],
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(fc.oneof(fc.string(), longText, fc.constant('__proto__')), tie('value'), { maxKeys: 5 }),
    ),
  })).value;
  const count = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? Object.values(value).reduce((sum: number, member) => sum + 1 + count(member), 0)
      : 0;

  it('agrees with JSON.parse, however the bytes arrive', async () => {
    await fc.assert(
      fc.asyncProperty(json, ends, fc.boolean(), fc.boolean(), async (made, pieces, escapes, blanks) => {
        const plain = JSON.stringify(made, undefined, blanks ? 2 : 0);
        const text = escapes
          ? plain.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          : plain;
        const { value, values } = await parse(Buffer.from(text), pieces);
        expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
        expect(values).toBe(count(made));
      }),
    );
  });

  it('refuses what JSON.parse refuses', async () => {
    const broken = fc.tuple(json, fc.nat(), fc.constantFrom('', '"', '\\', '\n', '{', ']', ',', '\0'));
    await fc.assert(
      fc.asyncProperty(broken, ends, async ([made, place, character], pieces) => {
        const whole = JSON.stringify([made]);
        const at = place % whole.length;
        const text = whole.slice(0, at) + character + whole.slice(at + 1);
        let expected: string | undefined;
        try {
          expected = JSON.stringify(JSON.parse(text));
        } catch {
          expected = undefined;
        }
        fc.pre(text.isWellFormed());
        const found = await parse(Buffer.from(text), pieces).then(
          ({ value }) => JSON.stringify(value),
          () => undefined,
        );
        expect(found).toBe(expected);
      }),
    );
  });
});
