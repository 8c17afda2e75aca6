import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadYaml } from './load-yaml.ts';
import { writePrompt } from './prompt-files.ts';
import { readText } from './read-text.ts';
import { schemaMistakes } from './schema-mistakes.ts';
import type { ParsedYaml } from '../transfer/cases.ts';
import type { Convert, ConvertOptions, Source } from '../transfer/converted.ts';
import { converters } from '../transfer.ts';

/** Of this module, and of the one that is built from it. */
const promptFileSchema = new URL('../../schemas/prompt-file.v1.json', import.meta.url);

/** The formats that contain YAML. */
const inYaml: ReadonlySet<Convert> = new Set([converters.promptfoo, converters.markdown]);

export interface ConvertedFiles {
  readonly convert: Convert;
  readonly files: readonly string[];
  readonly folder: string;
  readonly provider: string | undefined;
}

/**
 * Writes the prompts of other tools as files of this one, and prints what does not map.
 * @returns whether they can be stored as they are, and give models the same text
 * @throws {FileError} @throws {FormatError}
 */
export async function convertFiles(
  { convert, files, folder, provider }: ConvertedFiles,
  { write, writeError }: { readonly write: (text: string) => void; readonly writeError: (text: string) => void },
): Promise<boolean> {
  const parseYaml = inYaml.has(convert) ? valuesOf(await loadYaml()) : JSON.parse;
  const sources = await Promise.all(files.map(read));
  const { prompts, notes } = convert(sources, { provider, parseYaml });
  if (prompts.length > 0) await mkdir(folder, { recursive: true });
  for (const prompt of prompts) await writePrompt(folder, prompt);
  for (const { prompt, detail, isMistake } of notes) {
    writeError(`${prompt}: ${isMistake === true ? 'mistake: ' : ''}${detail}\n`);
  }
  if (prompts.length === 0) {
    writeError(`No prompts come from ${files.join(', ')}.\n`);
    write('No prompts were written.\n');
    return false;
  }
  const schema: unknown = JSON.parse(await readText(fileURLToPath(promptFileSchema)));
  const mistakes = prompts.map((prompt) => ({ name: `${prompt.slug}.json`, all: schemaMistakes(schema, prompt) }));
  for (const { name, all } of mistakes) {
    for (const { pointer, detail } of all) writeError(`${name}${pointer}: mistake: ${detail}\n`);
  }
  const isRight =
    prompts.length > 0 && !notes.some(({ isMistake }) => isMistake) && mistakes.every(({ all }) => all.length === 0);
  write(
    `${prompts.length} prompts written to ${folder}.${isRight ? '' : ' Correct the mistakes before you store them.'}\n`,
  );
  return isRight;
}

async function read(file: string): Promise<Source> {
  return { name: path.basename(file), text: await readText(file) };
}

function valuesOf(parse: (text: string) => ParsedYaml): ConvertOptions['parseYaml'] {
  return (text) => parse(text).value;
}
