import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { problem, setUp } from '../../../support/per-operation.ts';
import { datasetsPath, setDataset } from './datasets-harness.ts';

const setup = setUp();
const set = (name: string, lines: readonly string[], headers = {}) => setDataset(setup.service, name, lines, headers);
const send = (name: string, body: string, headers = {}) =>
  setup.service.call('PUT', `${datasetsPath}/${name}`, {
    body,
    headers: { 'Content-Type': 'application/x-ndjson', ...headers },
  });
const casesOf = async (name: string, version: number): Promise<string> =>
  (await setup.service.call('GET', `${datasetsPath}/${name}/versions/${version}/export`)).text;
const caseOf = (id: number): string => JSON.stringify({ id: `case-${id}`, variables: { text: 'x'.repeat(200) } });

describe('201', () => {
  it('creates a data set', async () => {
    const { status, body, headers } = await set('new', ['{"id":"a","variables":{"n":1}}', '', '{"id":"b"}']);
    expect(status).toBe(201);
    const stored = '{"id":"a","variables":{"n":1}}\n{"id":"b"}\n';
    expect(body).toMatchObject({ name: 'new', version: 1, cases: 2, bytes: stored.length });
    expect(body.digest).toBe(createHash('sha256').update(stored).digest('hex'));
    expect(headers['location']).toBe(`${datasetsPath}/new`);
    expect(await casesOf('new', 1)).toBe(stored);
    const { headers: read } = await setup.service.call('GET', `${datasetsPath}/new`);
    expect(headers['etag']).toBe(read['etag']);
  });

  it('gives ids to cases without one, made of variables and messages', async () => {
    const message = { role: 'user', content: 'Hi' };
    const { body } = await set('ids', [
      '{"variables":{"a":1,"b":{"c":2,"d":3}}}',
      JSON.stringify({ messages: [message] }),
      '{}',
    ]);
    expect(body.cases).toBe(3);
    const same = await set('ids-again', ['{"variables":{"b":{"d":3,"c":2},"a":1},"expected":"x"}']);
    const idOf = (text: string): string => (JSON.parse(text.split('\n')[0] ?? '') as { id: string }).id;
    expect(idOf(await casesOf('ids', 1))).toMatch(/^[0-9a-f]{32}$/);
    expect(idOf(await casesOf('ids-again', 1))).toBe(idOf(await casesOf('ids', 1)));
    expect(same.status).toBe(201);
  });

  it('takes 10,000 cases, in any pieces, and reads them from any place', async () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => caseOf(index));
    expect((await set('many', lines)).body).toMatchObject({ cases: 10_000 });
    expect(await casesOf('many', 1)).toBe(lines.map((line) => `${line}\n`).join(''));
    const page = await setup.service.call('GET', `${datasetsPath}/many/versions/1/cases?offset=9950&limit=100`);
    expect(page.body.data.map(({ id }: { id: string }) => id)).toEqual(
      Array.from({ length: 50 }, (_, index) => `case-${9_950 + index}`),
    );
    const more = await set('many', [...lines, '{"id":"one-more"}']);
    expect([more.status, more.body.errors]).toEqual([
      422,
      [{ line: 10_001, pointer: '#', detail: 'is one more than the 10000 cases of a data set' }],
    ]);
  });

  it('takes 16 MiB in lines of 256 KiB', async () => {
    const line = (index: number): string => {
      const start = `{"id":"${index}","variables":{"text":"`;
      return `${start}${'é'.repeat((262_143 - start.length - 3) / 2)}"}}`;
    };
    const lines = Array.from({ length: 64 }, (_, index) => line(index));
    expect(Buffer.byteLength(lines[0] ?? '')).toBeGreaterThan(262_140);
    expect((await set('large', lines)).body).toMatchObject({ cases: 64, version: 1 });
    const page = await setup.service.call('GET', `${datasetsPath}/large/versions/1/cases?limit=100`);
    expect(page.body.data.length).toBe(31);
    expect(await casesOf('large', 1)).toBe(lines.map((text) => `${text}\n`).join(''));
  });
});

describe('200', () => {
  it('makes a version of other cases, and none of the same', async () => {
    await set('changing', ['{"id":"a"}']);
    const second = await set('changing', ['{"id":"b"}']);
    expect([second.status, second.body.version]).toEqual([200, 2]);
    const same = await set('changing', ['  { "id" : "b" }  ']);
    expect([same.status, same.body]).toEqual([200, second.body]);
    expect(same.headers['etag']).toBe(second.headers['etag']);
    expect(await casesOf('changing', 1)).toBe('{"id":"a"}\n');
  });

  it('keeps the newest 20 versions', async () => {
    for (let version = 1; version <= 22; version += 1) await set('kept', [`{"id":"${version}"}`]);
    const { body } = await setup.service.call('GET', `${datasetsPath}/kept/versions?limit=100`);
    const numbers = body.data.map(({ version }: { version: number }) => version);
    expect([numbers.length, numbers[0], numbers.at(-1)]).toEqual([20, 22, 3]);
    const gone = await setup.service.call('GET', `${datasetsPath}/kept/versions/2/cases`);
    expect([gone.status, gone.body.type]).toEqual([404, problem('version-not-found')]);
  });

  it('makes a version for each of many writers at once', async () => {
    await set('contended', ['{"id":"0"}']);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => set('contended', [`{"id":"w${index}"}`])),
    );
    expect(answers.map(({ body }) => body.version).sort()).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });
});

describe('400', () => {
  it('refuses no body', async () => {
    const { status, body } = await setup.service.call('PUT', `${datasetsPath}/empty`, { differs: 'empty-body' });
    expect([status, body.type]).toEqual([400, problem('invalid-request')]);
  });
});

describe('403', () => {
  it('refuses a key that may only read', async () => {
    const key = await setup.service.createKey('datasets:read');
    const { status, body } = await setup.service.call('PUT', `${datasetsPath}/new`, {
      key,
      body: '{}',
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
    expect([status, body.type]).toEqual([403, problem('insufficient-scope')]);
  });
});

describe('409', () => {
  it('refuses the 1,001st data set', async () => {
    const names = Array.from({ length: 1_000 }, (_, index) => `full-${index}`);
    const { db } = setup.database;
    const first = await db.collection('datasets').findOne({});
    await db.collection<{ _id: string }>('datasets').insertMany(names.map((name) => ({ ...first, _id: name })));
    const { status, body } = await set('one-too-many', ['{}']);
    await db.collection<{ _id: string }>('datasets').deleteMany({ _id: { $in: names } });
    expect([status, body.type]).toEqual([409, problem('too-many-datasets')]);
  });
});

describe('412', () => {
  it('refuses what is not as the caller expects', async () => {
    const { headers } = await set('expected', ['{"id":"a"}']);
    const tag = headers['etag'] ?? '';
    for (const condition of [{ 'If-None-Match': '*' }, { 'If-Match': '"other"' }] as Record<string, string>[]) {
      const { status, body } = await set('expected', ['{"id":"b"}'], condition);
      expect([status, body.type]).toEqual([412, problem('precondition-failed')]);
    }
    expect((await set('absent', ['{}'], { 'If-Match': '*' })).status).toBe(412);
    expect((await set('expected', ['{"id":"b"}'], { 'If-Match': tag })).status).toBe(200);
    expect((await set('expected', ['{"id":"c"}'], { 'If-Match': tag })).status).toBe(412);
    expect((await set('absent', ['{}'], { 'If-None-Match': '*' })).status).toBe(201);
  });
});

describe('413', () => {
  it('refuses more than 16 MiB, also of unknown length', async () => {
    const line = `{"variables":{"text":"${'x'.repeat(250_000)}"}}`;
    const lines = Array.from({ length: 70 }, (_, index) => line.replace('x', String(index % 10)));
    expect((await set('too-large', lines)).status).toBe(413);
    const chunked = await fetch(`${setup.service.url}${datasetsPath}/too-large`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/x-ndjson', Authorization: `Bearer ${setup.service.adminKey}` },
      body: ReadableStream.from(
        (async function* () {
          for (let index = 0; index < 80; index += 1) {
            yield Buffer.from(`{"id":"${index}","variables":{"text":"${'x'.repeat(250_000)}"}}\n`);
          }
          await Promise.resolve();
        })(),
      ),
      duplex: 'half',
    } as RequestInit).catch(() => undefined);
    // The connection is closed; a client may see that first.
    expect([413, undefined]).toContain(chunked?.status);
    expect((await setup.service.call('GET', `${datasetsPath}/too-large`)).status).toBe(404);
  });
});

describe('415', () => {
  it('refuses JSON', async () => {
    const { status, body } = await setup.service.call('PUT', `${datasetsPath}/json`, { body: {}, differs: 'lines' });
    expect([status, body.type]).toEqual([415, problem('unsupported-media-type')]);
    expect(body.detail).toBe('Send the body as Content-Type: application/x-ndjson.');
  });
});

describe('422', () => {
  it.each<[string, string, object[]]>([
    [
      'what is not JSON',
      '{"id":"a"}\n{"id":\n',
      [{ line: 2, pointer: '#', detail: 'is not valid JSON (at end of JSON input)' }],
    ],
    ['what is no case', '[]', [{ line: 1, pointer: '#', detail: 'must be object' }]],
    [
      'an unknown member',
      '\n{"expcted":1}',
      [{ line: 2, pointer: '#/expcted', detail: expect.stringContaining('is unknown') }],
    ],
    [
      'a check without a type, and a wrong variable',
      '{"checks":[{}]}\n{"variables":{"a b":1}}',
      [
        { line: 1, pointer: '#/checks/0/type', detail: 'is required' },
        { line: 2, pointer: '#/variables/a b', detail: 'is not an allowed name' },
      ],
    ],
    [
      'a check whose expression or schema cannot be read',
      String.raw`{"checks":[{"type":"regex","value":"("}]}
{"id":"b","checks":[{"type":"not-is-json","value":{"type":"text"}}]}`,
      [
        { line: 1, pointer: '#/checks/0/value', detail: 'is not a regular expression of ECMA-262 (flag u)' },
        { line: 2, pointer: '#/checks/0/value/type', detail: expect.stringContaining('must be one of') },
      ],
    ],
    [
      'a line that is too long',
      `{"id":"${'x'.repeat(262_140)}"}\n{}`,
      [{ line: 1, pointer: '#', detail: 'has more than 262144 bytes' }],
    ],
    [
      'a number that a double cannot hold',
      '{"variables":{"n":12345678901234567890}}',
      [
        {
          line: 1,
          pointer: '#/variables/n',
          detail: 'is a number that a double cannot hold; send it as a string',
        },
      ],
    ],
    [
      'half a surrogate pair',
      '{"id":"\\ud800"}',
      [{ line: 1, pointer: '#', detail: 'contains an unpaired surrogate escape' }],
    ],
    ['equal ids', '{"id":"a"}\n{}\n{"id":"a"}', [{ line: 3, pointer: '#/id', detail: 'has the same id as line 1' }]],
    [
      'equal cases',
      '{"variables":{"a":1}}\n{"variables":{"a":1},"expected":2}',
      [{ line: 2, pointer: '#', detail: 'has the same variables and messages as line 1' }],
    ],
  ])('names %s', async (_what, text, errors) => {
    const { status, body } = await send('refused', text);
    expect([status, body.type, body.errors]).toEqual([422, problem('dataset-refused'), errors]);
    expect((await setup.service.call('GET', `${datasetsPath}/refused`)).status).toBe(404);
  });

  it('names 20 of many lines', async () => {
    const { body } = await set('refused', Array<string>(10_000).fill('{'));
    expect(body.errors.map(({ line }: { line: number }) => line)).toEqual(
      Array.from({ length: 20 }, (_, at) => at + 1),
    );
  });

  it('names lines that are not UTF-8', async () => {
    const answer = await fetch(`${setup.service.url}${datasetsPath}/refused`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/x-ndjson', Authorization: `Bearer ${setup.service.adminKey}` },
      body: Buffer.concat([Buffer.from('{"id":"a"}\n{"id":"'), Buffer.from([0xff]), Buffer.from('"}\n')]),
    });
    expect([answer.status, ((await answer.json()) as { errors: object[] }).errors]).toEqual([
      422,
      [{ line: 2, pointer: '#', detail: 'is not valid UTF-8' }],
    ]);
  });

  it('refuses a body without a case', async () => {
    const { status, body } = await send('refused', '\n\n');
    expect([status, body.type]).toEqual([422, problem('dataset-refused')]);
  });
});

describe('a body that breaks off', () => {
  it('changes nothing, and leaves nothing behind', async () => {
    const { port } = new URL(setup.service.url);
    const socket = connect(Number(port), '127.0.0.1');
    const head = [
      `PUT ${datasetsPath}/cut HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${setup.service.adminKey}`,
      'Content-Type: application/x-ndjson',
      'Content-Length: 5000000',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    for (let index = 0; index < 10; index += 1) {
      socket.write(`{"id":"${index}","variables":{"text":"${randomBytes(100_000).toString('hex')}"}}\n`);
    }
    const versions = setup.database.db.collection('dataset_versions');
    while ((await versions.countDocuments({ pending: { $exists: true } })) === 0) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    socket.destroy();
    while ((await versions.countDocuments({ pending: { $exists: true } })) > 0) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect((await setup.service.call('GET', `${datasetsPath}/cut`)).status).toBe(404);
  });
});
