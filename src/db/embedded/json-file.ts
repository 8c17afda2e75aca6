import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { hasCode } from '../../runtime/system-error.ts';

/** The text of a file, undefined when the file is missing. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** The value in a JSON file, undefined when the file is missing. @throws SyntaxError when it is not JSON */
export async function readJson(path: string): Promise<unknown> {
  const text = await readIfThere(path);
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}

/** Replaces a JSON file as {@link writePrivately} does. */
export function writeJson(path: string, value: unknown): Promise<void> {
  return writePrivately(path, `${JSON.stringify(value, null, 2)}\n`);
}

/**
 * Replaces a file that only its owner can read, in one step: a reader, and a crash, leaves the old one or the new one.
 */
export async function writePrivately(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}`;
  await writeFile(temporary, text, { flag: 'wx', mode: 0o600, flush: true });
  await rename(temporary, path);
}
