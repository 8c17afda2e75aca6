import { readFile } from 'node:fs/promises';

/** A file that cannot be read. The message describes it. */
export class FileError extends Error {}

/**
 * The text of a file in UTF-8, without its mark. Another encoding would become other characters, so it is refused.
 * @throws {FileError}
 */
export async function readText(file: string): Promise<string> {
  const bytes = await readFile(file).catch(() => {
    throw new FileError(`The file ${file} cannot be read.`);
  });
  // UTF-16 without a mark is valid UTF-8 with NUL.
  if (!bytes.includes(0)) {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      // It is another encoding.
    }
  }
  throw new FileError(`The file ${file} is not UTF-8. Save it as UTF-8.`);
}
