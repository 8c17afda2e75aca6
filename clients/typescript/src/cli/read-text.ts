import { readFile } from 'node:fs/promises';
import { decodeText } from '../transfer/decode-text.ts';

/** A file that cannot be read. The message describes it. */
export class FileError extends Error {}

/**
 * The text of a file in UTF-8, without its mark.
 * @throws {FileError}
 */
export async function readText(file: string): Promise<string> {
  const bytes = await readFile(file).catch(() => {
    throw new FileError(`The file ${file} cannot be read.`);
  });
  const text = decodeText(bytes);
  if (text === undefined) throw new FileError(`The file ${file} is not UTF-8. Save it as UTF-8.`);
  return text;
}
