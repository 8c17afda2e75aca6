import { createServer, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import ts from 'typescript';
import { runCli } from '../../clients/typescript/src/cli/cli.ts';
import type { PromptContent } from '../../clients/typescript/src/cli/read-prompts.ts';
import { renderPromptTypes } from '../../clients/typescript/src/cli/render-prompt-types.ts';
import { renderSchemaType } from '../../clients/typescript/src/cli/render-schema-type.ts';
import { runSettings } from '../support/run-settings.ts';

const apiKey = 'pgw_00000000000000000000000000000000_the-secret-part';

interface Run {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** Runs the program with these arguments and no other environment variables. */
async function run(args: readonly string[], environment: Record<string, string> = {}): Promise<Run> {
  let output = '';
  let errors = '';
  const code = await runCli(args, environment, {
    write: (text) => (output += text),
    writeError: (text) => (errors += text),
    maxRetries: 0,
  });
  return { code, output, errors };
}

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

/** Starts a server in place of the service, and runs the program on it. */
async function runOn(listener: RequestListener, ...options: string[]): Promise<Run> {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return await run(['types', ...options], { PROMPT_GATEWAY_URL: url, PROMPT_GATEWAY_API_KEY: apiKey });
}

function answering(status: number, body: string, type = 'application/json'): RequestListener {
  return (_request, response) => response.writeHead(status, { 'content-type': type }).end(body);
}

const prompt = (change: Partial<PromptContent> = {}): PromptContent => ({
  slug: 'greeter',
  name: 'Greeter',
  messages: [{ content: '{{greeting}} {{name}} {{tone|warm}}' }],
  variables: { name: { required: true, description: 'Whom to greet' } },
  ...change,
});

describe('the options', () => {
  it.each([[['--help']], [['-h']], [['types', '--help']]])('%j prints the help on standard output', async (args) => {
    const { code, output, errors } = await run(args);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output).toContain('Usage: prompt-gateway-client types [options] > prompts.d.ts');
  });

  const complete = { PROMPT_GATEWAY_URL: 'http://127.0.0.1:8080', PROMPT_GATEWAY_API_KEY: apiKey };
  it.each([
    ['no command', [], complete, 'The commands are types, pull, diff, push, convert, datasets, evaluate and listen.'],
    [
      'another command',
      ['type'],
      complete,
      'The commands are types, pull, diff, push, convert, datasets, evaluate and listen.',
    ],
    [
      'two commands',
      ['types', apiKey],
      complete,
      'The commands are types, pull, diff, push, convert, datasets, evaluate and listen.',
    ],
    ['an unknown option', ['types', `--key=${apiKey}`], complete, "Unknown option '--key'"],
    ['an option without its value', ['types', '--api-key'], complete, "'--api-key <value>' argument missing"],
    ['no address', ['types'], { PROMPT_GATEWAY_API_KEY: apiKey }, 'set PROMPT_GATEWAY_URL, or use --url.'],
    ['no key', ['types', '--url', 'http://127.0.0.1:8080'], {}, 'set PROMPT_GATEWAY_API_KEY, or use --api-key.'],
    ['a key with a line break', ['types', '--api-key', `${apiKey}\n`], complete, 'apiKey must be an API key'],
    [
      'an invalid address',
      ['types', '--url', 'localhost:8080'],
      complete,
      'must be an http or https URL without user name',
    ],
    [
      'an address with a password',
      ['types', '--url', `http://me:${apiKey}@x`],
      complete,
      'must be an http or https URL without user name',
    ],
    [
      'an address with a query',
      ['types', '--url', `http://x/?key=${apiKey}`],
      complete,
      'must be an http or https URL without user name',
    ],
  ])('%s: exit code 2', async (_what, args, environment, message) => {
    const { code, output, errors } = await run(args, environment);
    expect({ code, output }).toEqual({ code: 2, output: '' });
    expect(errors).toContain(message);
    expect(errors).toContain('See prompt-gateway-client --help.');
    expect(errors).not.toContain(apiKey);
  });
});

describe('prompts that cannot be read', () => {
  it.each([
    [401, 'The service does not accept the API key (401).'],
    [403, 'The API key does not have the scope prompts:read (403).'],
    [429, 'The service answers with status 429.'],
    [503, 'The service answers with status 503.'],
  ])('status %i: exit code 1', async (status, message) => {
    const text = `${apiKey} \u001b[2J`;
    const problem = { type: 'urn:prompt-gateway:problem:unauthenticated', title: text, status, detail: text };
    const listener = answering(status, JSON.stringify(problem), 'application/problem+json');
    expect(await runOn(listener)).toEqual({ code: 1, output: '', errors: `${message}\n` });
  });

  const noPrompts = 'The answer is not a list of prompts. Is the address right?';
  const page = (...data: unknown[]): string => JSON.stringify({ data, pagination: { next: null } });
  it.each([
    ['a page in HTML', answering(200, '<h1>Welcome</h1>', 'text/html'), noPrompts],
    ['other JSON', answering(200, '{"hello": "world"}'), noPrompts],
    ['nothing', answering(204, ''), noPrompts],
    ['a list of something else', answering(200, page({ id: 1 })), noPrompts],
    ['a slug that is not a string', answering(200, page(prompt({ slug: {} as string }))), noPrompts],
    [
      'a default that is not a string',
      answering(200, page(prompt({ variables: { a: { default: 1 as unknown as string } } }))),
      noPrompts,
    ],
    [
      'a closed connection',
      (request) => request.socket.destroy(),
      'The service cannot be reached (UND_ERR_SOCKET). Is the address right?',
    ],
    ['a page without its position', answering(200, '{"data": []}'), noPrompts],
    ['a redirect', answering(302, ''), noPrompts],
    ['a page that is not found', answering(404, '<h1>Not found</h1>', 'text/html'), noPrompts],
    [
      'a service without this path',
      answering(404, '{"type":"urn:prompt-gateway:problem:route-not-found"}', 'application/problem+json'),
      noPrompts,
    ],
  ] as [string, RequestListener, string][])('%s: exit code 1', async (_what, listener, message) => {
    expect(await runOn(listener)).toEqual({ code: 1, output: '', errors: `${message}\n` });
  });

  /** A port below the range that systems assign, on an address of its own. */
  const nobody = 'http://127.1.2.3:4242';
  it('exit code 1 when no server listens', async () => {
    const { code, output, errors } = await run(['types', '--url', nobody, '--api-key', apiKey]);
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors).toBe('The service cannot be reached (ECONNREFUSED). Is the address right?\n');
  });

  it('nothing is written when a later page fails', async () => {
    let pages = 0;
    const { code, output, errors } = await runOn((request, response) => {
      pages++;
      const first = JSON.stringify({ data: [prompt()], pagination: { next: 'second' } });
      answering(pages === 1 ? 200 : 500, pages === 1 ? first : '{}')(request, response);
    });
    expect({ pages, code, output }).toEqual({ pages: 2, code: 1, output: '' });
    expect(errors).toBe('The service answers with status 500.\n');
  });
});

describe('the file', () => {
  it('contains every page, sorted by slug and without repetition', async () => {
    const pages = new Map([
      ['null', { data: [prompt({ slug: 'b' }), prompt({ slug: 'c' })], pagination: { next: 'more' } }],
      ['more', { data: [prompt({ slug: 'c' }), prompt({ slug: 'a' })], pagination: { next: null } }],
    ]);
    const { output, code } = await runOn((request, response) => {
      expect(request.headers.authorization).toBe(`Bearer ${apiKey}`);
      const after = new URL(request.url ?? '', 'http://x').searchParams.get('after');
      answering(200, JSON.stringify(pages.get(String(after))))(request, response);
    });
    expect(code).toBe(0);
    expect(members(output).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  describe('with --label', () => {
    const latest = { ...prompt(), version: 3 };
    const schema = { type: 'object', properties: { rank: { type: 'number' } }, required: ['rank'] };
    const first = { messages: [{ content: 'Dear {{title}}' }], response_format: { type: 'json', schema } };
    const versions = new Map([['/api/v1/prompts/greeter/versions/1', first]]);
    const labelled =
      (labels: object): RequestListener =>
      (request, response) => {
        const { pathname } = new URL(request.url ?? '', 'http://x');
        const page = { data: [{ ...latest, labels }, prompt({ slug: 'other' })], pagination: { next: null } };
        answering(200, JSON.stringify(versions.get(pathname) ?? page))(request, response);
      };

    it('has the variables and objects of the versions that labels name', async () => {
      const listener = labelled({ production: 1, staging: 3 });
      const { code, output } = await runOn(listener, '--label', 'production', '--label', 'staging');
      expect(code).toBe(0);
      expect(output).toContain(`  }
  interface LabelledPrompts {
    "production": {
      /** "Greeter" */
      "greeter": {
        "title": VariableValue;
      };
    };
    "staging": {
      /** "Greeter" */
      "greeter": {
        /** "Whom to greet" */
        "name": VariableValue;
        "greeting": VariableValue;
        /** Default: "warm" */
        "tone"?: VariableValue | null | undefined;
      };
    };
  }
  interface LabelledObjects {
    "production": {
      "greeter": {
        "rank": number;
      };
    };
  }
}
`);
    });

    it.each<[string, object, string]>([
      ['that no prompt has', { toString: 3 }, 'No prompt has the label "production".'],
      ['of a version that is none', { production: 2 }, 'The answer is not a list of prompts. Is the address right?'],
      ['that is no number', { production: '1' }, 'The answer is not a list of prompts. Is the address right?'],
    ])('exits with 1 for a label %s', async (_, labels, message) => {
      const answer = await runOn(labelled(labels), '--label', 'production');
      expect(answer).toEqual({ code: 1, output: '', errors: `${message}\n` });
    });
  });

  it('is a readable declaration', () => {
    const prompts = [prompt(), prompt({ slug: 'bare', name: 'Bare', messages: [{ content: 'Hi' }], variables: {} })];
    expect(renderPromptTypes(prompts, true)).toBe(`// Generated by \`prompt-gateway-client types\`. Do not edit.
import type { VariableValue } from 'prompt-gateway-client';

declare module 'prompt-gateway-client' {
  interface StoredPrompts {
    /** "Bare" */
    "bare": Record<string, never>;
    /** "Greeter" */
    "greeter": {
      /** "Whom to greet" */
      "name": VariableValue;
      "greeting": VariableValue;
      /** Default: "warm" */
      "tone"?: VariableValue | null | undefined;
    };
  }
  interface StoredPromptSettings {
    onlyKnown: true;
  }
}
`);
    expect(renderPromptTypes(prompts, false)).not.toContain('StoredPromptSettings');
  });

  const typeOf = (schema: unknown): string => renderSchemaType(schema, '').replaceAll(/\n */g, ' ');
  const tree = {
    type: 'object',
    properties: { value: { $ref: '#/$defs/value' }, next: { $ref: '#' } },
    required: ['value'],
    $defs: { value: { type: ['string', 'null'] } },
  };
  it.each<[unknown, string]>([
    [true, 'unknown'],
    [false, 'never'],
    [{ type: 'integer', minimum: 1 }, 'number'],
    [{ const: 'a' }, '"a"'],
    [{ type: 'string', enum: ['a', 1, null, '*/'] }, '"a" | 1 | null | "*\\/"'],
    [{ enum: [{ a: 1 }] }, 'unknown'],
    [{ type: 'array', items: { type: ['string', 'number'] } }, '(string | number)[]'],
    [{ type: 'array' }, 'unknown[]'],
    [{ type: 'array', prefixItems: [{ type: 'string' }] }, 'unknown[]'],
    [{ type: 'object' }, 'Record<string, unknown>'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    [{ type: 'object', additionalProperties: false }, 'Record<string, never>'],
    [{ type: 'object', properties: { a: {} }, required: ['a', 'b'] }, '{ "a": unknown; "b": unknown; }'],
    [{ properties: { a: { type: 'string' } } }, 'unknown'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
    [{ oneOf: [{ type: 'string' }, { pattern: 'x' }] }, 'unknown'],
    [{ allOf: [{ type: 'string' }, { minLength: 1 }] }, 'string'],
    [
      { type: 'object', required: ['a'], allOf: [{ type: 'object', required: ['b'] }] },
      '({ "a": unknown; }) & ({ "b": unknown; })',
    ],
    [tree, '{ "value": string | null; "next"?: unknown; }'],
    [{ $ref: 'https://example.com/schema' }, 'unknown'],
    [{ $ref: '#/$defs/missing' }, 'unknown'],
  ])('has the type of the schema %j', (schema, type) => {
    expect(typeOf(schema)).toBe(type);
  });

  it('stays small for a schema that refers to itself again and again', () => {
    const twice = (name: string): object => ({ type: 'object', properties: { a: { $ref: name }, b: { $ref: name } } });
    const $defs = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`d${at}`, twice(`#/$defs/d${at + 1}`)]));
    expect(renderSchemaType({ ...twice('#/$defs/d0'), $defs }, '').length).toBeLessThan(100_000);
  });

  it('has the objects of prompts with a schema', () => {
    const schema = { type: 'object', properties: { priority: { enum: ['low', 'high'] } }, required: ['priority'] };
    const prompts = [
      prompt({ slug: 'triage', response_format: { type: 'json', schema } }),
      prompt({ slug: 'any', response_format: { type: 'json' } }),
      prompt({ slug: 'text', response_format: { type: 'text' } }),
    ];
    expect(renderPromptTypes(prompts, false)).toContain(`  }
  interface StoredObjects {
    "triage": {
      "priority": "low" | "high";
    };
  }
}
`);
  });

  const hostile = fc.oneof(
    fc.constantFrom(
      '*/ } evil: never; /*',
      '"]; export const evil = 1; //',
      '`${evil}`',
      '\n// @ts-nocheck\n',
      '\u2028@ts-expect-error',
      '\\',
      '\\"',
      '*\\/',
      '__proto__',
      '\u202e\u2066evil',
      '\ud800',
      '',
    ),
    fc.string({ unit: 'binary' }),
    fc.string(),
  );

  it('declares exactly the given names, whichever characters they contain', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ slug: hostile, name: hostile, variable: hostile, text: hostile }), { maxLength: 4 }),
        (given) => {
          const prompts = given.map(({ slug, name, variable, text }) =>
            prompt({
              slug,
              name,
              messages: [],
              variables: Object.fromEntries([[variable, { description: text, default: text }]]),
            }),
          );
          const output = renderPromptTypes(prompts, false);
          const expected = new Map(given.map(({ slug, variable }) => [slug, [variable]]));
          expect(new Map(members(output).map(({ name, variables }) => [name, variables]))).toEqual(expected);
          // No other character ends a line, changes direction or is invisible; the line breaks of the file itself stay.
          expect(output.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
          expect(output).not.toMatch(/^\W*@ts-/m);
        },
      ),
      runSettings(2_000),
    );
  });
});

/** The members of `StoredPrompts` as the compiler reads them. The file must not contain anything else. */
function members(file: string): { name: string; variables: string[] }[] {
  const source = ts.createSourceFile('prompts.d.ts', file, ts.ScriptTarget.ESNext, true);
  expect((source as unknown as { parseDiagnostics: unknown[] }).parseDiagnostics).toEqual([]);
  const [imported, declared, ...more] = source.statements;
  expect(more).toEqual([]);
  if (imported === undefined || !ts.isImportDeclaration(imported)) throw new Error('no import');
  if (declared === undefined || !ts.isModuleDeclaration(declared)) throw new Error('no module');
  if (declared.body === undefined || !ts.isModuleBlock(declared.body)) throw new Error('no body');
  const [variables, ...others] = declared.body.statements;
  expect(others).toEqual([]);
  if (variables === undefined || !ts.isInterfaceDeclaration(variables)) throw new Error('no interface');
  return variables.members.map((member) => ({
    name: nameOf(member),
    variables:
      ts.isPropertySignature(member) && member.type !== undefined && ts.isTypeLiteralNode(member.type)
        ? member.type.members.map(nameOf)
        : [],
  }));
}

function nameOf({ name }: ts.TypeElement): string {
  if (name === undefined || !ts.isStringLiteral(name)) throw new Error('no quoted name');
  return name.text;
}
