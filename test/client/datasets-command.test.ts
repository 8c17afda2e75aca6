/** `datasets push` and `datasets pull`, with files in the forms that promptfoo documents. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runCli } from '../../clients/typescript/src/cli/cli.ts';
import { setUp } from '../support/per-operation.ts';

const setup = setUp();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'datasets-'));
});
afterEach(() => rm(folder, { recursive: true }));

interface Run {
  readonly code: number;
  readonly output: string;
  readonly errors: readonly string[];
}

async function run(args: readonly string[], key = setup.service.adminKey): Promise<Run> {
  let [output, errors] = ['', ''];
  const environment = { PROMPT_GATEWAY_URL: setup.service.url, PROMPT_GATEWAY_API_KEY: key };
  const code = await runCli(['datasets', ...args], environment, {
    write: (text) => (output += text),
    writeError: (text) => (errors += text),
    maxRetries: 0,
  });
  const lines = errors.replaceAll(`${folder}/`, '').split('\n');
  return { code, output: output.replaceAll(`${folder}/`, ''), errors: lines.filter((line) => line !== '') };
}

async function push(name: string, file: string, text: string): Promise<Run> {
  await writeFile(path.join(folder, file), text);
  return await run(['push', name, path.join(folder, file)]);
}

async function casesOf(name: string, version = 1): Promise<unknown[]> {
  const { body } = await setup.service.call('GET', `/api/v1/datasets/${name}/versions/${version}/cases?limit=100`);
  return body.data as unknown[];
}

/** Pushes a file whose cases the service takes, and returns them. */
async function stored(name: string, file: string, text: string): Promise<unknown[]> {
  expect(await push(name, file, text)).toMatchObject({ code: 0, errors: [] });
  return await casesOf(name);
}

/** What a file is refused for. */
async function refusal(file: string, text: string): Promise<readonly string[]> {
  const { code, output, errors } = await push('refused', file, text);
  expect([code, output]).toEqual([1, 'Nothing was stored.\n']);
  expect((await setup.service.call('GET', '/api/v1/datasets/refused')).status).toBe(404);
  return errors.map((line) => line.replace(`${file}:`, ''));
}

const withoutIds = (cases: readonly unknown[]): unknown[] =>
  cases.map((one) => {
    const { id: _, ...rest } = one as { id: string };
    return rest;
  });

describe('push of JSON Lines', () => {
  const lines = '{"id":"a","variables":{"n":1},"expected":"one"}\n\n{"id":"b"}\n';

  it('stores the cases as they are, and says if they are the same', async () => {
    expect(await push('lines', 'a.jsonl', lines)).toMatchObject({ code: 0, output: 'lines: version 1, 2 cases.\n' });
    expect(await push('lines', 'a.jsonl', lines)).toMatchObject({
      code: 0,
      output: 'lines: unchanged, version 1, 2 cases.\n',
    });
    expect((await push('lines', 'a.jsonl', '{"id":"b"}\r\n')).output).toBe('lines: version 2, 1 case.\n');
    expect(await casesOf('lines')).toEqual([{ id: 'a', variables: { n: 1 }, expected: 'one' }, { id: 'b' }]);
  });

  it('takes tests of promptfoo among them', async () => {
    const text = `{"id":"own"}\n{"vars": {"x": 5, "y": 3}, "assert": [{"type": "equals", "value": "8"}]}\n`;
    expect(withoutIds(await stored('mixed', 'tests.jsonl', text))).toEqual([
      {},
      { variables: { x: 5, y: 3 }, checks: [{ type: 'equals', value: '8' }] },
    ]);
  });

  it('names what is wrong with the lines of the file, also if the service says it', async () => {
    expect(await refusal('a.jsonl', '{"id":"a"}\n\n{"vars":{},"assert":[{"type":"javascript"}]}\n{\n')).toEqual([
      '3: the service has no check "javascript"',
      '4: is not JSON',
    ]);
    const checks = '"checks":[{"type":"contains"}]';
    expect(await refusal('a.jsonl', `{"id":"a"}\n\n{"id":"a"}\n{"id":"b",${checks}}\n`)).toEqual([
      '3: /id has the same id as line 1',
      '4: /checks/0/value is required',
    ]);
    expect(await refusal('a.jsonl', '\n')).toEqual([' has no cases']);
  });
});

describe('push of a table', () => {
  it('makes a variable of each column, and checks of __expected', async () => {
    const text = [
      'question,context,__expected1,__expected2,__description,__metric,__metadata:level,__metadata:tags[],__threshold',
      '"What is 6 * 7?", none ,equals: 42,not-contains:about,Arithmetic,exact,easy,"math,a\\,b",',
      '"Say ""Paris"",\nin two lines",,Paris,,Arithmetic,,,,',
      '"Slow?",,latency(1000),"contains-any: <b>,</span>",,,,,',
      '',
      '"Note: plain text",,Note: it is text,is-json,,,,,',
      '',
    ].join('\n');
    const cases = await stored('table', 'tests.csv', `\uFEFF${text}`);
    expect(cases).toMatchObject([{ id: 'Arithmetic' }, { id: 'Arithmetic 2' }, {}, {}]);
    expect(withoutIds(cases)).toEqual([
      {
        variables: { question: 'What is 6 * 7?', context: 'none' },
        checks: [
          { type: 'equals', value: '42', metric: 'exact' },
          { type: 'not-contains', value: 'about', metric: 'exact' },
        ],
        tags: ['level=easy', 'math', 'a,b'],
      },
      {
        variables: { question: 'Say "Paris",\nin two lines', context: '' },
        checks: [{ type: 'equals', value: 'Paris' }],
      },
      {
        variables: { question: 'Slow?', context: '' },
        checks: [
          { type: 'latency', threshold: 1_000 },
          { type: 'contains-any', value: ['<b>', '</span>'] },
        ],
      },
      {
        variables: { question: 'Note: plain text', context: '' },
        checks: [{ type: 'equals', value: 'Note: it is text' }, { type: 'is-json' }],
      },
    ]);
  });

  it('takes thresholds of columns of their own, for one check or for all', async () => {
    const head = 'q,__expected,__expected2,__config:__expected2:threshold';
    expect(withoutIds(await stored('config', 'a.csv', `${head}\nx,contains:x,cost,0.01\n`))).toEqual([
      {
        variables: { q: 'x' },
        checks: [
          { type: 'contains', value: 'x' },
          { type: 'cost', threshold: 0.01 },
        ],
      },
    ]);
    const all = 'q,__expected1,__expected2,__config:__expected:threshold\nx,cost,latency,5';
    expect(withoutIds(await stored('config-all', 'a.csv', all))).toMatchObject([
      {
        checks: [
          { type: 'cost', threshold: 5 },
          { type: 'latency', threshold: 5 },
        ],
      },
    ]);
  });

  it('takes a table without checks, and with one column', async () => {
    expect(withoutIds(await stored('one-column', 'a.csv', 'city\r\nParis\r\nRome'))).toEqual([
      { variables: { city: 'Paris' } },
      { variables: { city: 'Rome' } },
    ]);
  });

  it('names what is not converted with the line of its row', async () => {
    const text = [
      'q,__expected,__prefix,__unknown',
      '"two',
      'lines",llm-rubric: is polite,,',
      'a,latency: 5,,',
      'b,similar(0.8):Hello,You:,',
      'c,file://check.js,,',
      'd,icontains-all: a,,',
      'e,contains-json: {,,',
      '{{other}},contains: {{q | upper}},,',
      'f,x',
    ].join('\n');
    expect(await refusal('tests.csv', text)).toEqual([
      '1: the column __unknown is not converted',
      '2: the service has no check "llm-rubric"',
      '4: latency needs a threshold',
      '4: latency has no value',
      '5: __prefix is not converted',
      '5: the service has no check "similar"',
      '6: the service has no check "file"',
      '7: the service has no check "icontains-all"',
      '8: the schema of contains-json is not JSON',
      '9: the value of q has a placeholder, which is not filled in here',
      '9: {{q | upper}} is more than the name of a variable',
      '10: has 2 cells, the first line has 4',
    ]);
    expect(await refusal('tests.csv', 'q\na\n"b" c\n')).toEqual([
      '3: has a quote that is not closed, or text after a closing quote',
    ]);
    expect(await refusal('tests.csv', '')).toEqual([' has no cases']);
  });
});

describe('push of a configuration of promptfoo', () => {
  it('takes tests with their defaults, and a case for each value of a list', async () => {
    const text = `
description: Translations
prompts: ['Translate {{input}} into {{language}}']
providers: [openai:gpt-4.1-mini]
defaultTest:
  vars:
    language: French
  assert:
    - type: not-icontains
      value: 'as an AI'
  metadata:
    suite: smoke
tests:
  - description: Hello in two languages
    vars:
      language: [French, German]
      input: Hello
    assert:
      - &short
        type: latency
        threshold: 2000
        metric: speed
      - type: contains
        value: '{{ language }}'
        weight: 2
    metadata:
      tags: [short, greeting]
  - vars:
      input: 'Numbers: 1'
      context: {deep: [1, true]}
    assert:
      - *short
      - type: contains-all
        value: [1, un]
      - type: is-json
        value: {type: object, required: [text]}
      - type: contains-json
        value: '{"type": "array"}'
      - type: equals
        value: {text: one}
`;
    const rest = [
      { type: 'not-icontains', value: 'as an AI' },
      { type: 'latency', threshold: 2_000, metric: 'speed' },
    ];
    const cases = await stored('yaml', 'promptfooconfig.yaml', text);
    expect(cases).toMatchObject([{ id: 'Hello in two languages' }, { id: 'Hello in two languages 2' }, {}]);
    const hello = (language: string): object => ({
      variables: { input: 'Hello', language },
      checks: [...rest, { type: 'contains', value: '{{ language }}', weight: 2 }],
      tags: ['suite=smoke', 'short', 'greeting'],
    });
    expect(withoutIds(cases)).toEqual([
      hello('French'),
      hello('German'),
      {
        variables: { language: 'French', input: 'Numbers: 1', context: { deep: [1, true] } },
        checks: [
          ...rest,
          { type: 'contains-all', value: ['1', 'un'] },
          { type: 'is-json', value: { type: 'object', required: ['text'] } },
          { type: 'contains-json', value: { type: 'array' } },
          { type: 'equals', value: { text: 'one' } },
        ],
        tags: ['suite=smoke'],
      },
    ]);
  });

  it('takes a list of tests in JSON, and lists as values where promptfoo does', async () => {
    const tests = [
      { vars: { topic: ['a', 'b'] }, options: { disableVarExpansion: true } },
      { vars: {}, assert: [{ type: 'is-valid-openai-tools-call' }, { type: 'finish-reason', value: 'stop' }] },
    ];
    expect(withoutIds(await stored('json', 'tests.json', JSON.stringify(tests)))).toEqual([
      { variables: { topic: ['a', 'b'] } },
      { checks: [{ type: 'is-valid-openai-tools-call' }, { type: 'finish-reason', value: 'stop' }] },
    ]);
  });

  it('names what is not converted with its line', async () => {
    const text = `defaultTest:
  options:
    provider: openai:gpt-4.1
scenarios: []
tests:
  - file://more.yaml
  - vars: file://vars.yaml
  - vars:
      image: file://a.png
    provider: fast-model
    threshold: 0.5
    metadata:
      nested: {a: 1}
    assert:
      - type: llm-rubric
        value: is polite
      - type: assert-set
        assert: []
      - type: contains
        value: file://expected.txt
        transform: output.trim()
      - type: regex
        value: a
        weight: 0
        threshold: 0.5
      - type: regex
        value: [a]
      - type: contains-any
        value: 5
      - type: is-valid-openai-tools-call
        value: x
  - 17
  - assert: none
  - vars: {none: []}
  - vars: {a: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], b: &all [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], c: *all, d: *all}
`;
    expect(await refusal('tests.yml', text)).toEqual([
      '3: provider is not converted',
      '4: scenarios are not converted',
      '6: names another file: push file://more.yaml by itself',
      '7: vars of another file are not converted',
      '9: the value of image is in another file, which is not read',
      '10: provider is not converted',
      '11: threshold is not converted',
      '13: nested is neither a word nor a list of words',
      '15: the service has no check "llm-rubric"',
      '17: the service has no check "assert-set"',
      '20: the value of contains is in another file, which is not read',
      '21: transform of contains is not converted',
      '24: a check with weight 0 decides nothing: leave it out',
      '25: regex has no threshold',
      '27: regex needs a text',
      '29: contains-any needs a list of texts',
      '31: is-valid-openai-tools-call has no value',
      '32: is not a test',
      '33: assert is not a list',
      '34: a variable has an empty list of values',
      '35: the lists of its variables make 11000 cases',
    ]);
    expect(await refusal('tests.yaml', 'tests: file://tests.csv')).toEqual([
      '1: names another file: push file://tests.csv by itself',
    ]);
  });

  it('refuses what is no list of tests', async () => {
    const error = async (file: string, text: string): Promise<readonly string[]> => {
      const { code, errors } = await push('none', file, text);
      expect(code).toBe(1);
      return errors;
    };
    expect(await error('a.yaml', 'prompts: []')).toEqual(['a.yaml has no list of tests.']);
    expect(await error('a.yaml', 'a: [')).toEqual(['a.yaml is not YAML.']);
    expect(await error('a.json', '{"a": ')).toEqual(['a.json is not JSON.']);
    expect(await error('a.xlsx', '')).toEqual([
      'a.xlsx: cases are in files that end in .jsonl, .csv, .yaml, .yml or .json.',
    ]);
  });
});

describe('pull', () => {
  it('writes the cases of the current version, which a push takes', async () => {
    await push('pulled', 'a.jsonl', '{"id":"old"}\n');
    await push('pulled', 'a.jsonl', '{"id":"a","variables":{"text":"é"}}\n{"id":"b"}\n');
    const file = path.join(folder, 'pulled.jsonl');
    expect(await run(['pull', 'pulled', file])).toEqual({
      code: 0,
      output: 'pulled.jsonl: version 2, 2 cases.\n',
      errors: [],
    });
    expect(await readFile(file, 'utf8')).toBe('{"id":"a","variables":{"text":"é"}}\n{"id":"b"}\n');
    expect((await run(['push', 'pulled', file])).output).toBe('pulled: unchanged, version 2, 2 cases.\n');
    expect(await run(['pull', 'pulled', folder])).toMatchObject({
      code: 1,
      errors: [`The file ${folder} cannot be written.`],
    });
  });

  it('says what the service refuses', async () => {
    expect(await run(['pull', 'absent'])).toMatchObject({
      code: 1,
      errors: ['No data set has the name "absent". (404)'],
    });
    const key = await setup.service.createKey('prompts:read');
    expect((await run(['pull', 'absent'], key)).errors[0]).toMatch(/datasets:read.*\(403\)$/);
  });
});

it('refuses a file that is not UTF-8, and a table with a column twice', async () => {
  const file = path.join(folder, 'latin.csv');
  await writeFile(file, Buffer.from('text\nGrüße\n', 'latin1'));
  expect(await run(['push', 'latin', file])).toEqual({
    code: 1,
    output: '',
    errors: ['The file latin.csv is not UTF-8. Save it as UTF-8.'],
  });
  expect(await refusal('a.csv', 'text,other,text\na,b,c\n')).toEqual(['1: has the column "text" more than once']);
  expect(await refusal('a.csv', '__expected,__expected\na,b\n')).toEqual([
    '1: has the column "__expected" more than once',
  ]);
  expect(await stored('marked', 'a.csv', '\uFEFFtext\nGrüße\n')).toMatchObject([{ variables: { text: 'Grüße' } }]);
});

it('2 for other arguments; 1 without the file', async () => {
  for (const args of [[], ['push'], ['push', 'a'], ['pull'], ['pull', 'a', 'b', 'c'], ['drop', 'a', 'b']]) {
    expect(await run(args)).toMatchObject({ code: 2 });
  }
  const { code, errors } = await run(['push', 'a', 'missing.csv']);
  expect([code, errors]).toEqual([1, ['The file missing.csv cannot be read.']]);
});
