import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import packageJson from '../package.json' with { type: 'json' };
import { operationTable, type OperationRow } from '../generated/operations.ts';
import { allScopes } from '../src/access/api-keys/feature.ts';
import { indexes } from '../src/app.ts';
import { outboxCollections } from '../src/webhooks/events/outbox.ts';
import { startTestService } from './support/service.ts';

/** What documents for engineers name must exist. Guides are run by `guides.system.test.ts`. */
const root = path.join(import.meta.dirname, '..');
const operations = Object.values<OperationRow>(operationTable);
const documents = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'clients/typescript/README.md'],
  ...['access', 'accounting', 'base', 'http', 'models', 'orders', 'prompts', 'storage', 'webhooks'].map(
    (wing) => `src/${wing}/README.md`,
  ),
];

interface Text {
  readonly file: string;
  readonly whole: string;
  /** Without blocks of code. */
  readonly prose: string;
  /** The code in the prose, line by line. */
  readonly lines: readonly (readonly string[])[];
}

async function readText(file: string): Promise<Text> {
  const whole = await readFile(path.join(root, file), 'utf8');
  const prose = whole.replaceAll(/^```[^]*?^```$/gm, '');
  const lines = prose.split('\n').map((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code));
  return { file, whole, prose, lines };
}

/** The names that code and contract have: of functions, fields, variables and values. */
let words: ReadonlySet<string>;
let programs: ReadonlySet<string>;
let schemas: Readonly<
  Record<string, { properties?: Record<string, { enum?: string[]; 'x-extensible-enum'?: string[] }> }>
>;
let texts: readonly Text[];

beforeAll(async () => {
  const read = async (patterns: readonly string[]): Promise<string> => {
    const files = await Array.fromAsync(glob([...patterns], { cwd: root }));
    return (await Promise.all(files.map((file) => readFile(path.join(root, file), 'utf8')))).join('\n');
  };
  const itself = path.relative(root, import.meta.filename);
  const sources = await Array.fromAsync(
    glob(['{src,clients/*/src,clients/*/bin,test}/**/*.{ts,tsx,js,mjs,py}'], { cwd: root }),
  );
  const code = [
    ...(await Promise.all(
      sources
        .filter((file) => file !== itself && !file.includes('node_modules'))
        .map((file) => readFile(path.join(root, file), 'utf8')),
    )),
    await read(['openapi/{paths,components}/**/*.yaml', 'openapi/*.{yaml,mjs}', 'asyncapi/**/*.yaml', '.env.example']),
    await read(['package.json', 'clients/*/package.json', '.dependency-cruiser.mjs', 'generated/operations.ts']),
  ].join('\n');
  words = new Set(code.match(/[A-Za-z_$][\w$]*(?:-[\w]+)*/g));
  programs = new Set(
    [...(await readFile(path.join(root, 'test/program.ts'), 'utf8')).matchAll(/^ {2}'?([\w:]+)'?: \{/gm)].map(
      ([, name = '']) => name,
    ),
  );
  ({
    components: { schemas },
  } = JSON.parse(await readFile(path.join(root, 'generated/openapi.json'), 'utf8')) as {
    components: { schemas: typeof schemas };
  });
  texts = await Promise.all(documents.map(readText));
});

/** Collects what each document names wrongly, so that one run shows all. */
function mistakesIn(find: (text: Text) => readonly string[], of: readonly Text[] = texts): string[] {
  return of.flatMap((text) => find(text).map((mistake) => `${text.file}: ${mistake}`));
}

/** A file or folder: it has a slash at its end, or the ending of a file. */
const isPath = (name: string): boolean =>
  /^[\w.@-]+(\/[\w.@-]+)*(\/|\.(ts|tsx|js|mjs|json|yaml|md))$/.test(name) && !(name in packageJson.dependencies);

/** Files that a reader or a run of the tests makes, or that stand for each of many. */
const notHere = new Set(['ask.mjs', 'feature.ts', 'coverage/contract.md']);

/** @returns where a path can be meant to begin: here, in the wing, beside its tests, or beside the path named before it */
function basesOf({ file }: Text, before: readonly string[]): string[] {
  const wing = path.dirname(file);
  const own = ['.', 'src', wing, wing.replace(/^src/, 'test'), 'clients/dashboard/src', 'clients/typescript/src'];
  const beside = before.flatMap((named) =>
    own.map((base) => path.join(base, named.endsWith('/') ? named : path.dirname(named))),
  );
  return [...own, ...beside];
}

/** The name of a program in a command line. */
const commands = /\bnpm (?:run |(?=test|start))(?:-s )?(?:(-w \S+) )?([\w:]+)(?: -- ([\w:]+))?/g;

describe('documents', () => {
  it('name files and folders that exist', () => {
    let checked = 0;
    const missing = mistakesIn((text) =>
      text.lines.flatMap((line) => {
        const before: string[] = [];
        return line.filter((name) => {
          if (!isPath(name) || notHere.has(name)) return false;
          const isThere = basesOf(text, before).some((base) =>
            existsSync(path.join(root, base, name.replace(/^prompt-gateway-client\//, 'clients/typescript/'))),
          );
          before.push(name);
          checked += 1;
          return !isThere;
        });
      }),
    );
    expect(missing).toEqual([]);
    expect(checked).toBeGreaterThan(250);
  });

  it('link to files that exist', () => {
    const missing = mistakesIn(({ file, prose }) =>
      [...prose.matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !existsSync(path.join(root, path.dirname(file), link))),
    );
    expect(missing).toEqual([]);
  });

  it('name scripts and programs that exist', () => {
    const scripts = new Set(Object.keys(packageJson.scripts));
    const unknown = mistakesIn(({ whole, lines }) => [
      ...[...whole.matchAll(commands)].flatMap(([command, workspace, script = '', program]) => {
        if (workspace !== undefined) return [];
        if (!scripts.has(script)) return [command];
        const isKnown = script !== 'program' || program === undefined || program === 'NAME' || programs.has(program);
        return isKnown ? [] : [command];
      }),
      ...lines
        .flat()
        .filter((name) => /^(test|check|bench|types|release):[\w:]+$/.test(name))
        .filter((name) => !scripts.has(name) && !programs.has(name)),
    ]);
    expect(unknown).toEqual([]);
  });

  it('name paths and methods of the contract', () => {
    const isOperation = (method: string | undefined, named: string): boolean =>
      operations.some((row) => {
        const pattern = row.path.replaceAll(/[.]/g, String.raw`\.`).replaceAll(/\{\w+\}/g, String.raw`[^/]+`);
        return (method === undefined || row.method === method) && new RegExp(`^${pattern}$`).test(named);
      });
    const unknown = mistakesIn(({ whole, lines }) => [
      ...[...whole.matchAll(/127\.0\.0\.1:8080(\/(?:api|v1|mcp|schemas)[\w/-]*)/g)]
        .map(([, named = '']) => named)
        .filter((named) => named !== '/v1' && !isOperation(undefined, named)),
      ...lines.flat().flatMap((name) => {
        const [, method, named = ''] = /^(?:(GET|POST|PUT|PATCH|DELETE) )?(\/(?:api|v1)\/[\w/{}-]+)$/.exec(name) ?? [];
        return named === '' || isOperation(method, named) ? [] : [name];
      }),
    ]);
    expect(unknown).toEqual([]);
  });

  it('name scopes that exist', () => {
    const scopes = new Set<string>(allScopes);
    const resources = new Set(allScopes.map((scope) => scope.split(':')[0]));
    const unknown = mistakesIn(({ lines }) =>
      lines
        .flat()
        .filter((name) => /^[a-z-]+:[a-z-]+$/.test(name) && resources.has(name.split(':')[0]) && !scopes.has(name)),
    );
    expect(unknown).toEqual([]);
  });

  it('name statuses that the contract has for the thing', () => {
    let checked = 0;
    const unknown = mistakesIn(({ prose }) =>
      [...prose.matchAll(/\b[Aa]n? ([a-z]+(?: [a-z]+)?) (?:ends|is) (`\w+`(?:,? (?:or )?`\w+`)*)/g)].flatMap(
        ([, thing = '', list = '']) => {
          const name = thing.replaceAll(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase());
          const status = schemas[name]?.properties?.['status'];
          const known = status?.enum ?? status?.['x-extensible-enum'];
          if (known === undefined) return [];
          const named = [...list.matchAll(/\w+/g)].map(([word]) => word).filter((word) => word !== 'or');
          checked += 1;
          return named.filter((word) => !known.includes(word)).map((word) => `a ${thing} is never ${word}`);
        },
      ),
    );
    expect(unknown).toEqual([]);
    expect(checked).toBeGreaterThan(0);
  });

  it('name variables, metrics, functions, fields and values that the code has', () => {
    const unknown = mistakesIn(({ lines }) =>
      lines
        .flat()
        .filter((name) => /^[A-Za-z_]([\w$-]*\w)?(\.[A-Za-z_]\w*)*$/.test(name) && !isPath(name))
        .filter((name) => !name.split('.').every((part) => words.has(part) || words.has(part.toLowerCase()))),
    );
    expect(unknown).toEqual([]);
  });
});

describe('README', () => {
  it('links all guides', async () => {
    const [readme = await readText('README.md')] = texts;
    const guides = await Array.fromAsync(glob('openapi/guides/*.md', { cwd: root }));
    expect(guides.filter((guide) => !readme.prose.includes(`(${guide})`))).toEqual([]);
  });

  it('limits a tag that a key has', async () => {
    const [readme = await readText('README.md')] = texts;
    const [, tag = ''] = /"scope": \{"tag": "([^"]+)"\}/.exec(readme.whole) ?? [];
    const [name = '', value = ''] = tag.split('=');
    expect(tag).not.toBe('');
    expect(readme.whole).toContain(`"tags": {"${name}": "${value}"}`);
  });
});

/** How a request breaks each step, and what it is answered if nothing before is broken. */
interface Broken {
  readonly answer: string;
  readonly path?: string;
  readonly method?: string;
  readonly key?: 'none' | 'reader' | 'exhausted';
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}
const missing = '/api/v1/prompts/00000000-0000-4000-8000-000000000000';
const steps: Readonly<Record<string, Broken>> = {
  path: { answer: '404 route-not-found', path: '/api/v1/nothing' },
  method: { answer: '405 method-not-allowed', method: 'PATCH' },
  key: { answer: '401 unauthenticated', key: 'none' },
  scope: { answer: '403 insufficient-scope', key: 'reader' },
  rate: { answer: '429 rate-limited', key: 'exhausted' },
  Accept: { answer: '406 not-acceptable', headers: { accept: 'image/png' } },
  'announced size': { answer: '413 content-too-large', body: 'x'.repeat(2 * 1024 * 1024) },
  'media type': { answer: '415 unsupported-media-type', headers: { 'content-type': 'text/plain' } },
  JSON: { answer: '400 malformed-body', body: '{' },
  parameters: { answer: '400 invalid-request unknown', path: `${missing}?unknown=1` },
  body: { answer: '400 invalid-request #/unknown', body: { unknown: 1 } },
  resource: { answer: '404 prompt-not-found' },
};

describe('src/http/README.md', () => {
  it('gives the order in which a request is refused', async () => {
    const { prose } = await readText('src/http/README.md');
    const [, list = ''] = /one order: ([^(]+) \(/.exec(prose) ?? [];
    const order = list.split(', ');
    expect(new Set(order)).toEqual(new Set(Object.keys(steps)));
    const service = await startTestService();
    const limited = { name: 'exhausted', scopes: ['prompts:write'], limits: { requests_per_minute: 1 } };
    const { key: secret } = (await service.call('POST', '/api/v1/api-keys', { body: limited })).body as { key: string };
    await service.call('PUT', missing, { key: secret, body: {} });
    const keys = { none: null, reader: await service.createKey('prompts:read'), exhausted: secret };
    const answers: string[] = [];
    for (const index of order.keys()) {
      // What breaks an earlier step wins where two steps need the same part of the request.
      const broken = order.slice(index).map((step) => steps[step] ?? { answer: '' });
      const {
        path: target = missing,
        method = 'PUT',
        key,
        body = {},
      } = Object.assign({}, ...broken.toReversed()) as Broken;
      const headers = Object.assign({}, ...broken.map((each) => each.headers)) as Record<string, string>;
      const given = { headers, body, ...(key && { key: keys[key] }) };
      const { status, body: said } = await service.call(method, target, given);
      const { type, errors = [] } = said as { type: string; errors?: { parameter?: string; pointer?: string }[] };
      const [first] = errors;
      const what = status === 400 && first !== undefined ? ` ${first.parameter ?? first.pointer ?? ''}` : '';
      answers.push(`${status} ${type.split(':').at(-1) ?? ''}${type.endsWith('malformed-body') ? '' : what}`);
    }
    await service.close();
    expect(answers).toEqual(order.map((step) => steps[step]?.answer));
  });
});

describe('ARCHITECTURE', () => {
  it('describes every collection, and those with an outbox', async () => {
    const { whole } = await readText('ARCHITECTURE.md');
    const rows = [...whole.matchAll(/^\| `(\w+)(?:_…)?` +\| (.+?) +\|/gm)].map(([, name = '', about = '']) => ({
      name,
      about,
    }));
    const known = new Set([...indexes.map(({ collection }) => collection), 'lanes', 'schema', 'invocations']);
    const named = rows.map(({ name }) => name);
    expect(named.filter((name) => !known.has(name) && !words.has(name))).toEqual([]);
    expect(named).toEqual(expect.arrayContaining([...indexes.map(({ collection }) => collection), 'lanes']));
    const withOutbox = rows.filter(({ about }) => about.includes('`outbox`')).map(({ name }) => name);
    expect(new Set(withOutbox)).toEqual(new Set(outboxCollections));
  });

  it('stays short enough to be read', async () => {
    const { whole } = await readText('ARCHITECTURE.md');
    expect(Buffer.byteLength(whole)).toBeLessThanOrEqual(12 * 1024);
  });
});
