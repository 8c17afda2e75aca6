import { statfs } from 'node:fs/promises';

/** With less space than this no storage engine can start, and a running one stops soon. */
const LEAST_BYTES = 4 * 1_048_576;

/** True when the file system of a folder is almost full. */
export async function isFull(folder: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize < LEAST_BYTES;
  } catch {
    return false;
  }
}
