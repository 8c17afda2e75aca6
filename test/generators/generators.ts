import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { contract } from '../support/schema-arbitraries.ts';
import { exampleAnswers } from './answers.ts';
import type { Workplace } from './workplace.ts';

/** A generator of clients. All its programs run in the folder of a workplace, which contains `openapi.json`. */
export interface Generator {
  readonly name: string;
  readonly version: string;
  /** The settings without which it does not work. */
  readonly needs?: string;
  /** Installs it and generates a client. */
  generate(place: Workplace): Promise<void>;
  /** Compiles the client, with the program that uses it. */
  compile(place: Workplace): Promise<void>;
  /** Runs the program, if the generator makes more than types. Returns what it prints. */
  call?(place: Workplace): Promise<string>;
}

const root = path.join(import.meta.dirname, '../..');
const openapiGenerator = '7.16.0';
const typescript = 'typescript@5.9.3';

/** Creates an environment of Python in the folder. Returns the path of its interpreter. */
async function installPython({ folder, run }: Workplace, ...packages: string[]): Promise<string> {
  await run('python3', ['-m', 'venv', 'tools']);
  const python = path.join(folder, 'tools/bin/python');
  await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages]);
  return python;
}

async function installNpm({ run, write }: Workplace, ...packages: string[]): Promise<void> {
  await write('package.json', '{ "private": true, "type": "module" }');
  await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts', ...packages]);
}

/** Checks the types of `call.ts` and of the client in `client/`, and makes one file of both. */
async function compileTypeScript({ run }: Workplace): Promise<void> {
  const options = ['--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler', '--skipLibCheck'];
  const types = ['--typeRoots', path.join(root, 'node_modules/@types'), '--types', 'node'];
  await run('node_modules/.bin/tsc', [
    '--noEmit',
    '--strict',
    '--allowImportingTsExtensions',
    ...options,
    ...types,
    'call.ts',
    'client/index.ts',
  ]);
  const esbuild = path.join(root, 'node_modules/.bin/esbuild');
  await run(esbuild, [
    'call.ts',
    '--bundle',
    '--platform=node',
    '--format=esm',
    '--packages=external',
    '--outfile=call.mjs',
    '--log-level=error',
  ]);
}

/** Generates with openapi-generator, whose package on PyPI contains its Java program. */
async function runOpenapiGenerator(place: Workplace, generator: string, ...settings: string[]): Promise<void> {
  const python = await installPython(place, `openapi-generator-cli==${openapiGenerator}`);
  const program = path.join(path.dirname(python), 'openapi-generator-cli');
  await place.run(program, ['generate', '-i', 'openapi.json', '-g', generator, '-o', 'client', ...settings]);
}

/** Downloads the modules that a client in Go imports, and compiles all packages of a folder. */
async function compileGo({ run }: Workplace, folder: string): Promise<void> {
  await run('go', ['mod', 'tidy'], folder);
  await run('go', ['build', '-o', 'caller', './call'], folder);
}

const generators: readonly Generator[] = [
  {
    name: 'openapi-python-client',
    version: '0.29.1',
    needs:
      'content_type_overrides: {application/jsonl: text/plain, application/x-ndjson: application/octet-stream}, ruff on the PATH',
    async generate(place) {
      const python = await installPython(place, `openapi-python-client==${this.version}`);
      // Lines of JSON are a text to it.
      const overrides = { 'application/jsonl': 'text/plain', 'application/x-ndjson': 'application/octet-stream' };
      await place.write('settings.json', JSON.stringify({ content_type_overrides: overrides }));
      // It finds `ruff`, which formats the client, by PATH.
      const PATH = `${path.dirname(python)}:${process.env['PATH']}`;
      const settings = ['--config', 'settings.json', '--meta', 'none', '--fail-on-warning'];
      const generate = ['generate', '--path', 'openapi.json', '--output-path', 'client', ...settings];
      await place.run('env', [`PATH=${PATH}`, 'openapi-python-client', ...generate]);
    },
    // The client reads every example of an answer: unchanged, and with a new value in each value list, as a later release
    // may send it.
    async compile({ run, write, copy }) {
      await write('answers.json', JSON.stringify({ today: exampleAnswers(false), later: exampleAnswers(true) }));
      await copy('read_answers.py', 'read_answers.py');
      await run('tools/bin/python', ['read_answers.py', 'answers.json']);
    },
    async call({ run, copy }) {
      await copy('openapi_python_client.py', 'call.py');
      return await run('tools/bin/python', ['call.py']);
    },
  },
  {
    name: 'openapi-generator-python',
    version: openapiGenerator,
    async generate(place) {
      await runOpenapiGenerator(place, 'python', '--package-name', 'gateway');
    },
    async compile({ run }) {
      await run('tools/bin/python', ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', './client']);
      await run('tools/bin/python', ['-c', 'import gateway; [getattr(gateway, name) for name in gateway.__all__]']);
    },
    async call({ run, copy }) {
      await copy('openapi_generator.py', 'call.py');
      return await run('tools/bin/python', ['call.py']);
    },
  },
  {
    name: 'openapi-generator-java',
    version: openapiGenerator,
    needs: '--schema-mappings of the guide "Generate a client"',
    async generate(place) {
      const guide = await readFile(path.join(root, 'openapi/guides/91-generate-a-client.md'), 'utf8');
      const [, mappings = ''] = /^--schema-mappings (.+)$/m.exec(guide) ?? [];
      await runOpenapiGenerator(place, 'java', '--library', 'native', '--schema-mappings', mappings);
    },
    async compile({ run, copy }) {
      await copy('Call.java', 'client/src/main/java/Call.java');
      await run('mvn', ['--quiet', '--batch-mode', '-Dmaven.test.skip=true', 'package'], 'client');
    },
    async call({ run }) {
      return await run('java', ['-cp', 'target/classes:target/lib/*', 'Call'], 'client');
    },
  },
  {
    name: 'openapi-generator-go',
    version: openapiGenerator,
    async generate(place) {
      await runOpenapiGenerator(
        place,
        'go',
        ...['--git-host', 'example.com', '--git-user-id', 'example', '--git-repo-id', 'gateway'],
        ...['--additional-properties', 'packageName=gateway'],
        ...['--global-property', 'apiTests=false,modelTests=false'],
      );
    },
    async compile(place) {
      await place.copy('openapi_generator.go', 'client/call/main.go');
      await compileGo(place, 'client');
    },
    call: async ({ run }) => await run('./caller', [], 'client'),
  },
  {
    name: 'oapi-codegen',
    version: '2.8.0',
    async generate({ folder, run, write }) {
      const program = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen';
      await run('env', [`GOBIN=${path.join(folder, 'tools')}`, 'go', 'install', `${program}@v${this.version}`]);
      await write(
        'go.mod',
        'module example.com/example/gateway\n\ngo 1.24\n\nrequire github.com/oapi-codegen/runtime v1.8.0\n',
      );
      await write('gateway/.keep', '');
      const settings = ['-package', 'gateway', '-generate', 'types,client', '-o', 'gateway/client.go'];
      await run('tools/oapi-codegen', [...settings, 'openapi.json']);
    },
    async compile(place) {
      await place.copy('oapi_codegen.go', 'call/main.go');
      await compileGo(place, '.');
    },
    call: async ({ run }) => await run('./caller', []),
  },
  {
    name: 'hey-api',
    version: '0.99.0',
    async generate(place) {
      await installNpm(place, `@hey-api/openapi-ts@${this.version}`, typescript);
      await place.run('node_modules/.bin/openapi-ts', ['-i', 'openapi.json', '-o', 'client', '--silent']);
    },
    async compile(place) {
      await place.copy('hey-api.ts', 'call.ts');
      await compileTypeScript(place);
    },
    call: async ({ run }) => await run(process.execPath, ['call.mjs']),
  },
  {
    name: 'kubb',
    version: '4.39.3',
    needs: "all plugins in the same version; client: 'axios', because that of fetch takes no header that is a number",
    async generate(place) {
      const packages = ['cli', 'core', 'plugin-client', 'plugin-oas', 'plugin-ts'];
      const versions = packages.map((name) => `@kubb/${name}@${this.version}`);
      await installNpm(place, ...versions, 'axios@1.21.1', typescript);
      await place.copy('kubb.config.mjs', 'kubb.config.mjs');
      await place.run('node_modules/.bin/kubb', ['generate', '--config', 'kubb.config.mjs']);
    },
    async compile(place) {
      await place.copy('kubb.ts', 'call.ts');
      await compileTypeScript(place);
    },
    call: async ({ run }) => await run(process.execPath, ['call.mjs']),
  },
  {
    name: 'openapi-typescript',
    version: '7.13.0',
    needs: 'openapi-fetch 0.17.0',
    async generate(place) {
      await installNpm(place, `openapi-typescript@${this.version}`, 'openapi-fetch@0.17.0', typescript);
      await place.run('node_modules/.bin/openapi-typescript', ['openapi.json', '-o', 'client/index.ts']);
    },
    async compile(place) {
      await place.copy('openapi-fetch.ts', 'call.ts');
      await compileTypeScript(place);
    },
    call: async ({ run }) => await run(process.execPath, ['call.mjs']),
  },
  {
    name: 'openapi-generator-rust',
    version: openapiGenerator,
    async generate(place) {
      const properties = 'packageName=gateway,supportAsync=false';
      await runOpenapiGenerator(place, 'rust', '--additional-properties', properties);
    },
    async compile(place) {
      await place.copy('openapi_generator.rs', 'client/src/bin/call.rs');
      // The service is reached without TLS, whose libraries not every machine has.
      await place.run('cargo', ['build', '--quiet', '--no-default-features'], 'client');
    },
    call: async ({ run }) => await run('target/debug/call', [], 'client'),
  },
  {
    name: 'datamodel-code-generator',
    version: '0.89.0',
    async generate(place) {
      const python = await installPython(place, `datamodel-code-generator==${this.version}`, 'pydantic==2.14.3');
      const program = path.join(path.dirname(python), 'datamodel-codegen');
      const settings = ['--input-file-type', 'openapi', '--output-model-type', 'pydantic_v2.BaseModel'];
      await place.run(program, ['--input', 'openapi.json', '--output', 'models.py', ...settings]);
    },
    async compile({ run, write, copy }) {
      await copy('read_models.py', 'read_models.py');
      const examples = Object.entries(contract.components.schemas).map(([name, schema]) => [name, schema['examples']]);
      await write('examples.json', JSON.stringify(Object.fromEntries(examples)));
      await run('tools/bin/python', ['read_models.py', 'examples.json']);
    },
  },
];

/**
 * The generators with these names; all if there are none.
 *
 * @throws Error if there is no generator of a name
 */
export function chosenGenerators(names: readonly string[]): readonly Generator[] {
  const unknown = names.filter((name) => !generators.some((generator) => generator.name === name));
  if (unknown.length > 0) throw new Error(`there is no generator ${unknown.join(', ')}`);
  return names.length === 0 ? generators : generators.filter(({ name }) => names.includes(name));
}
