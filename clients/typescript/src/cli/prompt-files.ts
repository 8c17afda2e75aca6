import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { PromptGateway } from '../prompt-gateway.ts';
import { isObject, type PromptFile } from '../transfer/converted.ts';
import { NoServiceError } from './read-prompts.ts';
import { FileError, readText } from './read-text.ts';

const slugForm = /^[a-z0-9]+(-[a-z0-9]+)*$/;
/**
 * Writes each stored prompt into a file. Files that are the same already are not written.
 * @param all also the earlier versions, and labels
 */
export async function pull(
  gateway: PromptGateway,
  { folder, all }: { readonly folder: string; readonly all: boolean },
  write: (text: string) => void,
): Promise<void> {
  const prompts = await readStored(gateway, all ? 'all' : 'current');
  await mkdir(folder, { recursive: true });
  const left = new Set(await fileNames(folder));
  let written = 0;
  for (const { labels, ...prompt } of prompts) {
    const name = `${prompt.slug}.json`;
    left.delete(name);
    const { versions, ...head } = prompt;
    // The note of the only version belongs to the service. Its number tells a push what the file came from.
    const kept = all ? versions : versions.map(({ note: _, ...version }) => version);
    const content = { ...head, ...(all && labels !== undefined && { labels }), versions: kept };
    if (await writePrompt(folder, content)) written += 1;
  }
  write(`${prompts.length} prompts, ${written} files written.\n`);
  for (const name of left) write(`${name}: there is no such prompt any more.\n`);
}

/** Writes the file of a prompt. @returns false if it is the same already */
export async function writePrompt(
  folder: string,
  prompt: PromptFile,
  name: string = `${prompt.slug}.json`,
): Promise<boolean> {
  const file = path.join(folder, name);
  const text = `${JSON.stringify(prompt, null, 2)}\n`;
  if ((await readFile(file, 'utf8').catch(() => undefined)) === text) return false;
  await writeFile(file, text);
  return true;
}

/** The stored prompts, as an export has them. */
export async function readStored(gateway: PromptGateway, versions: 'all' | 'current'): Promise<PromptFile[]> {
  const text: unknown = await gateway.prompts.export({ versions });
  // The server at the address may be another one, and slugs become names of files. So they are checked.
  try {
    const prompts = String(text)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as PromptFile);
    if (prompts.every(({ slug, versions: all }) => slugForm.test(slug) && Array.isArray(all))) return prompts;
  } catch {
    // It is no JSON.
  }
  throw new NoServiceError('The answer is not an export of prompts.');
}

async function fileNames(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names.filter((name) => name.endsWith('.json')).sort();
}

/** A file that is an object in JSON. What it contains is for the service to judge. */
export interface ReadFile {
  readonly name: string;
  readonly prompt: PromptFile;
  /** Characters. */
  readonly length: number;
}

/** A file that is none. */
export interface BrokenFile {
  readonly name: string;
  readonly broken: string;
}

/** Reads the files of a folder. @throws {FileError} if it cannot be read */
export async function readFiles(folder: string): Promise<(ReadFile | BrokenFile)[]> {
  const names = await fileNames(folder).catch(() => {
    throw new FileError(`The folder ${folder} cannot be read.`);
  });
  const files = names.map(async (name): Promise<ReadFile | BrokenFile> => {
    const text = await readText(path.join(folder, name)).catch((error: unknown) => {
      if (!(error instanceof FileError)) throw error;
      return undefined;
    });
    if (text === undefined) return { name, broken: 'cannot be read, or is not UTF-8' };
    try {
      const prompt: unknown = JSON.parse(text);
      if (!isObject(prompt)) return { name, broken: 'is not a prompt' };
      return { name, prompt: prompt as unknown as PromptFile, length: text.length };
    } catch {
      return { name, broken: 'is not JSON' };
    }
  });
  return await Promise.all(files);
}
