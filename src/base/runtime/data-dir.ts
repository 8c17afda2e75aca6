import { randomUUID } from 'node:crypto';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode, messageOf } from './system-error.ts';

/** Nothing can be stored in DATA_DIR. The message is for the operator. */
export class DataDirError extends Error {
  override readonly name = 'DataDirError';
}

/**
 * Creates the data folder with its parents, and writes a file to check that this is possible.
 *
 * @throws DataDirError
 */
export async function prepareDataDir(dataDir: string): Promise<void> {
  try {
    await makeFolder(dataDir);
    const probe = join(dataDir, `.probe-${randomUUID()}`);
    try {
      // On a full disk an empty file could still be created.
      await writeFile(probe, Buffer.alloc(4_096), { flag: 'wx', mode: 0o600, flush: true });
    } finally {
      await rm(probe, { force: true });
    }
  } catch (cause) {
    throw new DataDirError(
      `Data cannot be stored in ${dataDir} (${messageOf(cause)}). Set DATA_DIR to a folder that this user can write to.`,
      { cause },
    );
  }
}

/**
 * Creates a folder and its parents one at a time: Node's recursive mkdir never ends in a folder that cannot contain
 * others, such as /proc.
 */
export async function makeFolder(folder: string): Promise<void> {
  try {
    if ((await stat(folder)).isDirectory()) return;
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    await makeFolder(dirname(folder));
  }
  await mkdir(folder).catch((error: unknown) => {
    // Another process was faster, or there is a file of this name, which the probe finds.
    if (!hasCode(error, 'EEXIST')) throw error;
  });
}
