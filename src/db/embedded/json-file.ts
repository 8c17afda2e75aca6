import { randomUUID } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { hasCode } from '../../runtime/system-error.ts';

/** The value in a JSON file, undefined when the file is missing. @throws SyntaxError when it is not JSON */
export async function readJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  return JSON.parse(text) as unknown;
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
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

/** True for the error of a file or folder that does not exist. */
export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT');
}
