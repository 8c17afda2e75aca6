import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { FileError, writePrompt } from './prompt-files.ts';
import type { Convert, ConvertOptions, Source } from '../transfer/converted.ts';
import { converters } from '../transfer.ts';

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
 * @throws {FileError} @throws {FormatError}
 */
export async function convertFiles(
  { convert, files, folder, provider }: ConvertedFiles,
  { write, writeError }: { readonly write: (text: string) => void; readonly writeError: (text: string) => void },
): Promise<void> {
  const parseYaml = inYaml.has(convert) ? await loadYaml() : JSON.parse;
  const sources = await Promise.all(files.map(read));
  const { prompts, notes } = convert(sources, { provider, parseYaml });
  await mkdir(folder, { recursive: true });
  for (const prompt of prompts) await writePrompt(folder, prompt);
  for (const { prompt, detail } of notes) writeError(`${prompt}: ${detail}\n`);
  write(`${prompts.length} prompts written to ${folder}.\n`);
}

async function read(file: string): Promise<Source> {
  try {
    return { name: path.basename(file), text: await readFile(file, 'utf8') };
  } catch {
    throw new FileError(`The file ${file} cannot be read.`);
  }
}

/** It is no dependency of the package, because only these formats need it. */
async function loadYaml(): Promise<ConvertOptions['parseYaml']> {
  try {
    const { parse } = await import('yaml');
    return (text) => parse(text) as unknown;
  } catch {
    throw new FileError('This format needs the package yaml: npm install yaml');
  }
}
