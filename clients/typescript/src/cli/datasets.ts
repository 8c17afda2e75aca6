import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ProblemError } from '../errors.ts';
import type { PromptGateway } from '../prompt-gateway.ts';
import { convertCases, isYaml } from '../transfer/cases.ts';
import { loadYaml } from './load-yaml.ts';
import { escapeInvisible } from './quote.ts';
import { FileError, readText } from './read-text.ts';

interface World {
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
}

/**
 * Stores the cases of a file as a data set, and prints what is wrong, with file and line.
 * @returns the stored version; undefined if one case is wrong, and nothing is stored
 * @throws {FileError} @throws {FormatError} @throws {GatewayError}
 */
export async function pushDataset(
  open: () => PromptGateway,
  name: string,
  file: string,
  { write, writeError }: World,
): Promise<{ name: string; version: number } | undefined> {
  const source = { name: path.basename(file), text: await readText(file) };
  const parseYaml = isYaml(file) ? await loadYaml() : noYaml;
  const { cases, mistakes } = convertCases(source, { parseYaml });
  const print = (line: number | undefined, detail: string): void => {
    writeError(`${file}${line === undefined ? '' : `:${line}`}: ${escapeInvisible(detail)}\n`);
  };
  for (const { line, detail } of mistakes) print(line, detail);
  if (mistakes.length === 0 && cases.length === 0) print(undefined, 'has no cases');
  if (mistakes.length > 0 || cases.length === 0) return nothingStored(write);
  const datasets = open().datasets;
  try {
    const before = await datasets.get(name).catch(unlessMissing);
    const { version, cases: count } = await datasets.set(name, cases.map(({ text }) => `${text}\n`).join(''));
    const isSame = before?.version === version;
    write(`${name}: ${isSame ? 'unchanged, ' : ''}version ${version}, ${count} ${count === 1 ? 'case' : 'cases'}.\n`);
    return { name, version };
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.errors === undefined) throw error;
    for (const { line, pointer, detail } of error.problem.errors) {
      // Its lines are those that were sent.
      const of = line === undefined ? undefined : cases[line - 1]?.line;
      print(of, `${pointer === undefined || pointer === '#' ? '' : `${pointer.slice(1)} `}${detail}`);
    }
    return nothingStored(write);
  }
}

/**
 * Writes the cases of the current version of a data set as JSON Lines.
 * @throws {FileError} @throws {GatewayError}
 */
export async function pullDataset(
  open: () => PromptGateway,
  name: string,
  file: string,
  { write }: World,
): Promise<void> {
  const { datasets } = open();
  const { version, cases } = await datasets.get(name);
  const lines = await datasets.exportCases(name, version);
  await writeFile(file, lines).catch(() => {
    throw new FileError(`The file ${file} cannot be written.`);
  });
  write(`${file}: version ${version}, ${cases} ${cases === 1 ? 'case' : 'cases'}.\n`);
}

function noYaml(): never {
  throw new Error('only files of YAML and JSON are parsed by it');
}

function nothingStored(write: World['write']): undefined {
  write('Nothing was stored.\n');
  return undefined;
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof ProblemError && error.status === 404) return undefined;
  throw error;
}
