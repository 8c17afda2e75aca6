import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import type { OpenApiDocument, Schema } from './contract-document.ts';

const run = promisify(execFile);

export interface ProblemEntry {
  status: number;
  title: string;
  /** The meaning of the problem, for the reference page. */
  description: string;
  /** What the caller can do. */
  remedy: string;
  /** The service did nothing, so any request can be repeated. */
  changed_nothing?: boolean;
}

/** Bundles `openapi/openapi.yaml` with Redocly into one JSON document. */
export async function bundleContract(root: string): Promise<OpenApiDocument> {
  return (await bundle(root, 'openapi/openapi.yaml')) as OpenApiDocument;
}

interface Bundle {
  info: object;
  components: { schemas: Record<string, Schema> };
}

/** Sets the name of each schema as its title. Code generators and the reference use the title. */
function withTitles(document: Bundle): Bundle {
  const schemas = Object.entries(document.components.schemas).map(([title, schema]) => [title, { title, ...schema }]);
  const components = { ...document.components, schemas: Object.fromEntries(schemas) as Record<string, Schema> };
  return { ...document, components };
}

/**
 * Bundles a document with Redocly and the configuration in its folder. Sets the version of the package.
 *
 * @param source the path of the document in the repository
 */
export async function bundle(root: string, source: string): Promise<unknown> {
  return await withTemporaryFolder('contract-', async (folder) => {
    const target = path.join(folder, 'bundle.json');
    await redocly(root, ['bundle', source, '--config', `${path.dirname(source)}/redocly.yaml`, '--output', target]);
    const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { version: string };
    const document = withTitles(JSON.parse(await readFile(target, 'utf8')) as Bundle);
    return { ...document, info: { ...document.info, version } };
  });
}

/** Calls `use` with a folder that is deleted afterwards. */
async function withTemporaryFolder<T>(prefix: string, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), prefix));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs the Redocly command line of this project, offline and without output. If it fails, the error contains its
 * output.
 */
async function redocly(root: string, args: readonly string[]): Promise<void> {
  const cli = path.join(root, 'node_modules/@redocly/cli/bin/cli.js');
  const env = {
    ...process.env,
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    NODE_ENV: 'production',
  };
  try {
    await run(process.execPath, [cli, ...args], { cwd: root, env, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`redocly ${args[0] ?? ''} failed:\n${stdout}${stderr}`);
  }
}

/** Reads `openapi/problems.yaml`: problem slug to status, title, description and remedy. */
export async function readProblems(root: string): Promise<Record<string, ProblemEntry>> {
  return (await readYaml(root, 'openapi/problems.yaml')) as Record<string, ProblemEntry>;
}

/** Reads the schemas of errors in the form of APIs of others, by name. */
export async function readErrorForms(root: string): Promise<Record<string, Schema>> {
  return {
    CompatibleError: (await readYaml(root, 'openapi/compatible-error.yaml')) as Schema,
    McpError: (await readYaml(root, 'openapi/mcp-error.yaml')) as Schema,
    AnthropicError: (await readYaml(root, 'openapi/anthropic-error.yaml')) as Schema,
  };
}

async function readYaml(root: string, name: string): Promise<unknown> {
  return parse(await readFile(path.join(root, name), 'utf8'));
}
