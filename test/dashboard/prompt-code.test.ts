import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import vm from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { templateRanges } from '../../clients/dashboard/src/screens/prompts/code/template-ranges.ts';
import { parseJson } from '../../clients/dashboard/src/screens/prompts/content/exact-json.ts';
import { curlOf, typeScriptOf } from '../../clients/dashboard/src/screens/prompts/playground/code-of-call.ts';

const run = promisify(execFile);

describe('the call as code', () => {
  const hostile = `'; touch /tmp/hacked; echo '"$(id)\`id\`$HOME\\!\n\t\r\u0000\u001b[31m\u009b\u202e\u2028{{x}} \u{1f600}\ud800`;
  const call = {
    baseUrl: 'http://127.0.0.1:8080/a/gateway',
    slug: 'greeter',
    body: JSON.parse(
      JSON.stringify({ variables: { a: hostile, 'b.c-d': [1, null, true] } }).replace(
        '"a":',
        '"__proto__":{"polluted":true},"a":',
      ),
    ),
    cacheControl: 'max-age=60',
  };

  it.each([
    [false, '-sS', call.body],
    [true, '-sSN', { ...call.body, stream: true }],
  ])('gives curl each value as it is, in a POSIX shell (streamed: %s)', async (isStreamed, option, sent) => {
    const code = curlOf({ ...call, isStreamed });
    const { stdout } = await run('sh', ['-c', `curl() { printf '%s\\n\\001' "$@"; }; ${code}`], {
      env: { PROMPT_GATEWAY_API_KEY: 'pgw_key' },
    });
    const args = stdout.split('\n\u0001');
    expect(args.slice(0, -2)).toEqual([
      option,
      'http://127.0.0.1:8080/a/gateway/api/v1/prompts/greeter/invoke',
      '-H',
      'Authorization: Bearer pgw_key',
      '-H',
      'Content-Type: application/json',
      '-H',
      'Cache-Control: max-age=60',
      '--data-raw',
    ]);
    expect(JSON.stringify(JSON.parse(args.at(-2) ?? ''))).toBe(JSON.stringify(sent));
    expect(code).not.toMatch(/[\u0000-\u0009\u007f-\u009f\u202e\u2028]/);
  });

  it.each([false, true])('gives the client each value as it is (streamed: %s)', async (isStreamed) => {
    const code = typeScriptOf({ ...call, isStreamed });
    const calls: unknown[] = [];
    class PromptGateway {
      readonly options: unknown;
      constructor(options: unknown) {
        this.options = options;
      }
      readonly prompts = {
        invoke: (...args: unknown[]) => {
          calls.push(this.options, ...args);
          return Promise.resolve({ text: 'Hello Ada' });
        },
        stream: (...args: unknown[]) => {
          calls.push(this.options, ...args);
          return { textStream: () => ['Hello', ' Ada'] };
        },
      };
    }
    const body = code.replace(/^import .*\n/, '');
    const written: string[] = [];
    const write = (text: string): void => {
      written.push(text);
    };
    const globals = { PromptGateway, process: { env: {}, stdout: { write } }, console: { log: write } };
    await vm.runInNewContext(`(async () => {${body}})()`, globals);
    expect(written).toEqual(isStreamed ? ['Hello', ' Ada'] : ['Hello Ada']);
    expect(JSON.stringify(calls)).toBe(
      JSON.stringify([
        { baseUrl: call.baseUrl, apiKey: '' },
        'greeter',
        call.body,
        { headers: { 'Cache-Control': 'max-age=60' } },
      ]),
    );
    expect(code).not.toMatch(/[\u0000-\u0009\u007f-\u009f\u202e\u2028]/);
  });
});

describe('the places of placeholders', () => {
  it('are those of the language, for every template of the test vectors', async () => {
    const file = path.join(import.meta.dirname, '../prompts/templates/vectors.json');
    const { cases } = JSON.parse(await readFile(file, 'utf8')) as { cases: { template: string }[] };
    // The rules as one regular expression, as the tests of the renderer have them.
    const grammar = /\\\{\{|\{\{[ \t]*([A-Za-z_][A-Za-z0-9_.-]{0,63})[ \t]*(?:\}\}|\|([\s\S]*?)\}\})/g;
    for (const { template } of cases) {
      const expected = Array.from(template.matchAll(grammar), ([text, name, fallback]) => ({ text, name, fallback }));
      const found = templateRanges(template).flatMap((range): object[] => {
        if (range.kind === 'stray') return [];
        const text = template.slice(range.from, range.to);
        if (range.kind === 'escape') return [{ text, name: undefined, fallback: undefined }];
        const { name, nameFrom, defaultFrom, to } = range;
        expect(template.slice(nameFrom, nameFrom + name.length)).toBe(name);
        const fallback = defaultFrom === undefined ? undefined : template.slice(defaultFrom, to - 2);
        return [{ text, name, fallback }];
      });
      expect(found).toEqual(expected);
    }
    expect(cases.length).toBeGreaterThan(50);
  });

  it('show braces that begin no placeholder', () => {
    expect(templateRanges('\\{{a}} {{ b|c}} {{d e}} {{{f}}}').map(({ kind, from }) => [kind, from])).toEqual([
      ['escape', 0],
      ['placeholder', 7],
      ['stray', 16],
      ['placeholder', 25],
    ]);
  });
});

describe('JSON that is typed', () => {
  it.each(['12345678901234567890', '{"a":[1e999]}', '0.12345678901234567891'])('refuses to round %s', (text) => {
    expect(parseJson(text).error?.kind).toBe('inexact');
  });

  it.each(['{"a":1.50}', '[0, -0.0, 1e23, 9007199254740991]', '"12345678901234567890"'])('takes %s', (text) => {
    expect(parseJson(text)).toEqual({ value: JSON.parse(text) as unknown });
  });

  it('says what is no JSON', () => {
    expect(parseJson('{').error?.kind).toBe('syntax');
  });
});
