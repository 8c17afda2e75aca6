import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { components } from '../generated/types.ts';
import type { PromptGateway } from '../prompt-gateway.ts';
import { inBatches } from '../transfer/batches.ts';
import type { PromptFile } from '../transfer/converted.ts';
import { NoServiceError } from './read-prompts.ts';

type Schemas = components['schemas'];
type Imported = Schemas['PromptImportResult']['results'][number];

/** A file that cannot be read. The message describes it. */
export class FileError extends Error {}

const slugForm = /^[a-z0-9]+(-[a-z0-9]+)*$/;
/**
 * Writes each stored prompt into a file. Files that are the same already are not written.
 * @param all also the earlier versions, and labels
 */
export async function pull(
  gateway: PromptGateway,
  { folder, all }: { readonly folder: string; readonly all: boolean },
  write: (text: string) => void,
): Promise<true> {
  const prompts = readLines(await gateway.prompts.export({ versions: all ? 'all' : 'current' }));
  await mkdir(folder, { recursive: true });
  const left = new Set(await fileNames(folder));
  let written = 0;
  for (const { labels, ...prompt } of prompts) {
    const name = `${prompt.slug}.json`;
    left.delete(name);
    const { versions, ...head } = prompt;
    // Number and note of the only version belong to the service. A push of a changed file makes another version.
    const kept = all ? versions : versions.map(({ note: _, ...version }) => ({ ...version, version: 1 }));
    const content = { ...head, ...(all && labels !== undefined && { labels }), versions: kept };
    if (await writePrompt(folder, content)) written += 1;
  }
  write(`${prompts.length} prompts, ${written} files written.\n`);
  for (const name of left) write(`${name}: there is no such prompt any more.\n`);
  return true;
}

export interface PushOptions {
  readonly folder: string;
  readonly isDryRun: boolean;
  /** Whether the labels of the files are set where there is none of this name. */
  readonly setsLabels: boolean;
}

/** Stores the prompts of files, or prints what would become of them. @returns false if one of them is refused */
export async function push(
  gateway: PromptGateway,
  { folder, isDryRun, setsLabels }: PushOptions,
  { write, writeError }: { readonly write: (text: string) => void; readonly writeError: (text: string) => void },
): Promise<boolean> {
  const files = await readFiles(folder, setsLabels);
  const batches = inBatches(files);
  const send = async (dryRun: boolean): Promise<Imported[]> => {
    const results: Imported[] = [];
    for (const batch of batches) {
      const prompts = batch.map(({ prompt }) => prompt);
      const body = { prompts, conflicts: 'new-version' as const, dry_run: dryRun };
      results.push(...(await gateway.prompts.import(body)).results);
    }
    return results;
  };
  // All of them are checked before the first is stored.
  const checked = await send(true);
  const isRefused = checked.some(({ status }) => status === 'refused');
  const results = isDryRun || isRefused ? checked : await send(false);
  for (const [index, { status, errors = [], notes = [] }] of results.entries()) {
    const name = files[index]?.name ?? '';
    const findings = [...errors, ...notes].map(({ detail, pointer }) => `  ${placeIn(pointer)}: ${detail}\n`);
    if (status === 'refused') writeError(`${name}: refused\n${findings.join('')}`);
    else if (status !== 'unchanged') write(`${name}: ${status}\n${findings.join('')}`);
  }
  const count = (wanted: string): string => `${results.filter(({ status }) => status === wanted).length} ${wanted}`;
  const counts = ['created', 'updated', 'unchanged', ...(isRefused ? ['refused'] : [])].map(count).join(', ');
  write(`${counts}.${isDryRun || isRefused ? ' Nothing was stored.' : ''}\n`);
  return !isRefused;
}

/** Writes the file of a prompt. @returns false if it is the same already */
export async function writePrompt(folder: string, prompt: PromptFile): Promise<boolean> {
  const file = path.join(folder, `${prompt.slug}.json`);
  const text = `${JSON.stringify(prompt, null, 2)}\n`;
  if ((await readFile(file, 'utf8').catch(() => undefined)) === text) return false;
  await writeFile(file, text);
  return true;
}

/** The place in a file, from that in a request. */
function placeIn(pointer: string): string {
  return pointer.replace(/^#\/prompts\/\d+\/?/, '') || 'all';
}

/** The server at the address may be another one, and slugs become names of files. So they are checked. */
function readLines(text: unknown): PromptFile[] {
  try {
    const prompts = String(text)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as PromptFile);
    if (prompts.every(({ slug, versions }) => slugForm.test(slug) && Array.isArray(versions))) return prompts;
  } catch {
    // It is no JSON.
  }
  throw new NoServiceError('The answer is not an export of prompts.');
}

async function fileNames(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names.filter((name) => name.endsWith('.json')).sort();
}

interface File {
  readonly name: string;
  readonly prompt: PromptFile;
  readonly length: number;
}

async function readFiles(folder: string, withLabels: boolean): Promise<File[]> {
  const names = await fileNames(folder).catch(() => {
    throw new FileError(`The folder ${folder} cannot be read.`);
  });
  const files = names.map(async (name): Promise<File> => {
    const text = await readFile(path.join(folder, name), 'utf8');
    try {
      const { labels, ...prompt } = JSON.parse(text) as PromptFile;
      const wanted = withLabels && labels !== undefined ? { ...prompt, labels } : prompt;
      return { name, prompt: wanted, length: text.length };
    } catch {
      throw new FileError(`${name} is not JSON.`);
    }
  });
  return await Promise.all(files);
}
