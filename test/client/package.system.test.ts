import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { publint } from 'publint';
import packageJson from '../../package.json' with { type: 'json' };
import clientPackageJson from '../../clients/typescript/package.json' with { type: 'json' };
import { buildPackage, expectedOutput, installPackage, type Stranger } from '../package/stranger.ts';
import { startTestService, type TestService } from '../support/service.ts';

const root = path.join(import.meta.dirname, '../..');
const documentedUrl = 'http://127.0.0.1:8080';

let service: TestService;
let stranger: Stranger;
let settings: Record<string, string>;

beforeAll(async () => {
  [service] = await Promise.all([startTestService(), buildPackage()]);
  stranger = await installPackage(service.url, 'repository');
  const key = service.adminKey;
  settings = { PROMPT_GATEWAY_URL: service.url, PROMPT_GATEWAY_API_KEY: key, API_KEY: key };
  const messages = [{ role: 'user', content: 'Write a {{tone|short}} greeting for {{name}}.' }];
  const variables = { name: { required: true } };
  const greeter = { name: 'Greeter', messages, variables, selected_provider: 'echo' };
  await service.call('POST', '/api/v1/prompts', { body: greeter });
});
afterAll(async () => {
  await stranger.remove();
  await service.close();
});

describe('the package', () => {
  it('has the version of the service', () => {
    expect(clientPackageJson.version).toBe(packageJson.version);
  });

  it('passes publint', async () => {
    const tarball = await readFile(stranger.tarball);
    const { messages } = await publint({ pack: { tarball: Uint8Array.from(tarball).buffer }, strict: true });
    expect(messages).toEqual([]);
  });

  it('has types for every way to resolve ES modules', async () => {
    const analysis = await checkPackage(createPackageFromTarballData(await readFile(stranger.tarball)));
    if (analysis.types === false) throw new Error('The package has no types.');
    expect(Object.keys(analysis.entrypoints)).toEqual(
      expect.arrayContaining(['.', './webhooks', './template', './transfer']),
    );
    // The package has no CommonJS, so these resolutions find nothing. The profile `esm-only` of attw ignores them too.
    const ignored = ['node10', 'node16-cjs'];
    const isIgnored = (problem: object): boolean =>
      'resolutionKind' in problem && ignored.includes(String(problem.resolutionKind));
    expect(analysis.problems.filter((problem) => !isIgnored(problem))).toEqual([]);
  });

  it('contains the documents, and no sources or tests', async () => {
    const installed = path.join(stranger.folder, 'node_modules/prompt-gateway-client');
    expect((await readdir(installed)).toSorted()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'README.md', 'bin', 'dist', 'package.json', 'schemas'].toSorted(),
    );
  });

  it.each([
    ['.', 14],
    ['./webhooks', 4],
  ])('%s is at most %i KB when it is minified and compressed', async (entry, limit) => {
    const { outputFiles } = await build({
      stdin: {
        contents: `export * from '${path.posix.join('prompt-gateway-client', entry)}'`,
        resolveDir: stranger.folder,
      },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
    });
    const [file] = outputFiles;
    expect(gzipSync(file?.contents ?? '', { level: 9 }).length / 1024).toBeLessThanOrEqual(limit);
  });

  it('runs on this Node', async () => {
    const { code, output, errors } = await stranger.run(process.execPath, ['program.ts'], settings);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(JSON.parse(output)).toEqual(expectedOutput(`Node ${process.versions.node}`));
  });

  it('contains the event schemas that the service serves', async () => {
    const folder = path.join(stranger.folder, 'node_modules/prompt-gateway-client/schemas');
    const names = (await readdir(folder)).filter((name) => name !== 'prompt-file.v1.json');
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) {
      const [, type = ''] = /^(\w+)\.v1\.json$/.exec(name) ?? [];
      const served = await service.call('GET', `/schemas/events/${type}/v1.json`, { key: null });
      expect(await readFile(path.join(folder, name), 'utf8')).toBe(served.text);
    }
  });
});

describe('types', () => {
  const command = path.join('node_modules', '.bin', 'prompt-gateway-client');

  beforeAll(async () => {
    const bare = { name: 'No variables', messages: [{ role: 'user', content: 'Hello' }] };
    await service.call('POST', '/api/v1/prompts', { body: bare });
    const priority = { enum: ['low', 'high'] };
    const schema = {
      type: 'object',
      properties: { priority, tags: { type: 'array', items: { type: 'string' } } },
      required: ['priority'],
    };
    const classifier = { ...bare, name: 'Classifier', response_format: { type: 'json', schema } };
    await service.call('POST', '/api/v1/prompts', { body: classifier });
  });

  /** Writes the types of the stored prompts as the README describes. */
  async function writePromptTypes(...options: readonly string[]): Promise<void> {
    const { code, output, errors } = await stranger.run(command, ['types', ...options], settings);
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    await writeFile(path.join(stranger.folder, 'prompts.d.ts'), output);
  }

  it('compile with moduleResolution nodenext, as the README does, and its programs print the shown output', async () => {
    await writePromptTypes();
    const snippets = await writeSnippets('clients/typescript/README.md');
    const [mainSnippet, ...others] = await writeSnippets('README.md');
    if (mainSnippet === undefined || others.length > 0) throw new Error('README.md has not one program.');
    expect(snippets.length).toBeGreaterThan(10);
    const programs = [
      'program.ts',
      'known-prompts.ts',
      'other-prompts.ts',
      mainSnippet.file,
      ...snippets.map(({ file }) => file),
    ];
    const node = { types: ['node'], typeRoots: [path.join(root, 'node_modules/@types')], lib: ['es2024'] };
    // The declarations of Node compile slowly. Those of the package are checked with `bundler`.
    const options = { module: 'nodenext', moduleResolution: 'nodenext', skipLibCheck: true, ...node };
    const checked = await stranger.typeCheck(['prompts.d.ts', ...programs], options);
    expect(checked).toEqual({ code: 0, output: '', errors: '' });
    for (const snippet of snippets) await runSnippet(snippet);
    // The guide in the main README has changed the prompt, and placed the same order.
    const messages = [{ role: 'user', content: 'Write a {{tone|warm}} farewell to {{name}}.' }];
    await service.call('PUT', '/api/v1/prompts/greeter', { body: { messages } });
    await runSnippet(mainSnippet);
  });

  async function runSnippet({ file, shown }: Snippet): Promise<void> {
    const ran = await stranger.run(process.execPath, [file], settings);
    expect({ file, ...ran }).toEqual({ file, code: 0, output: shown, errors: '' });
  }

  it('compile with moduleResolution bundler, and can be set to refuse unknown prompts', async () => {
    await writePromptTypes('--only-known');
    const files = ['prompts.d.ts', 'web.ts', 'known-prompts.ts', 'only-known-prompts.ts'];
    const web = { types: [], lib: ['es2022', 'dom', 'dom.iterable'] };
    const checked = await stranger.typeCheck(files, { module: 'esnext', moduleResolution: 'bundler', ...web });
    expect(checked).toEqual({ code: 0, output: '', errors: '' });
  });

  it('fails with the reason when the service refuses, and writes nothing', async () => {
    const refused = await stranger.run(command, ['types'], { ...settings, PROMPT_GATEWAY_API_KEY: 'pgw_wrong' });
    expect(refused).toEqual({ code: 1, output: '', errors: 'The service does not accept the API key (401).\n' });
    const key = await service.createKey('orders:read');
    const forbidden = await stranger.run(command, ['types'], { ...settings, PROMPT_GATEWAY_API_KEY: key });
    const message = 'The API key does not have the scope prompts:read (403).\n';
    expect(forbidden).toEqual({ code: 1, output: '', errors: message });
  });
});

/** A program in a README. */
interface Snippet {
  readonly file: string;
  /** The output block that follows it. */
  readonly shown: string;
}

/**
 * Writes each program of a README into a file, unchanged except for addresses. Later programs can continue the first
 * one.
 */
async function writeSnippets(name: string): Promise<Snippet[]> {
  const readme = await readFile(path.join(root, name), 'utf8');
  const blocks = [...readme.matchAll(/```(\w+)\n([^]*?)```/g)].map(([, language, text = '']) => ({ language, text }));
  const programs = blocks.flatMap(({ language, text: code }, index) => {
    const next = blocks[index + 1];
    return language === 'ts' ? [{ code, shown: next?.language === 'text' ? next.text : '' }] : [];
  });
  const [beginning = ''] = programs[0]?.code.split(/^const \{ text \}/m) ?? [];
  return await Promise.all(
    programs.map(async ({ code, shown }, index) => {
      const continues = index > 0 && /\b(gateway|PromptGateway)\b/.test(code);
      const isServer = code.includes('.listen(9000)');
      // Node.js 22 runs these programs, and knows no `using`.
      expect(code).not.toMatch(/\busing \w+ =/);
      const program = `${continues ? beginning : ''}${code}${isServer ? 'server.close();\n' : ''}export {};\n`;
      const file = `${name.replace(/\W+/g, '-')}-${index + 1}.ts`;
      const here = program.replaceAll(documentedUrl, service.url).replace('.listen(9000)', '.listen(0)');
      await writeFile(path.join(stranger.folder, file), here);
      return { file, shown };
    }),
  );
}
