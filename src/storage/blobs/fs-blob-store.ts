import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  assertBlobKey,
  assertBlobSize,
  storageFull,
  storageUnavailable,
  type BlobStore,
  type OpenBlob,
} from './blob-store.ts';
import { codeOf } from '../../base/runtime/system-error.ts';
import { syncFolder } from '../../base/runtime/sync-folder.ts';

/** Inside the store's folder, so that a rename stays in one file system. No key starts with a dot. */
const temporaryFolder = '.tmp';
/** Milliseconds after which a temporary file was left by a process that died. */
const abandonedAfter = 60 * 60_000;
const probeBytes = 4_096;

/**
 * Stores each object in a file of its name under a folder, which is created when needed. Several processes can share
 * it. Content types are not stored.
 */
export function createFsBlobStore(directory: string): BlobStore {
  const root = resolve(directory);
  const fileOf = (key: string): string => {
    assertBlobKey(key);
    return join(root, key);
  };
  let prepared: Promise<void> | undefined;
  /** Creates the folder and removes files of killed processes; once, and again after a failure. */
  const prepare = (): Promise<void> => {
    prepared ??= prepareFolder(root).catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
    return prepared;
  };
  return {
    async put(key, body) {
      const file = fileOf(key);
      assertBlobSize(body.byteLength);
      await available(async () => {
        await prepare();
        await writeDurably(root, file, body);
      });
    },
    async open(key) {
      const file = fileOf(key);
      return available(() => openFile(file));
    },
    async delete(key) {
      const file = fileOf(key);
      await available(async () => {
        await unlessMissing(unlink(file));
        // A folder that does not exist has no names to make durable.
        await unlessMissing(syncFolder(dirname(file)));
      });
    },
    async check() {
      await available(async () => {
        await mkdir(join(root, temporaryFolder), { recursive: true, mode: 0o700 });
        const probe = temporaryFile(root);
        try {
          // On a full disk an empty file could still be created.
          await writeFile(probe, Buffer.alloc(probeBytes), { flag: 'wx', mode: 0o600, flush: true });
        } finally {
          await rm(probe, { force: true });
        }
      });
    },
    close: () => Promise.resolve(),
  };
}

async function openFile(file: string): Promise<OpenBlob | undefined> {
  const handle = await unlessMissing(open(file, 'r'));
  if (handle === undefined) return undefined;
  try {
    const found = await handle.stat();
    // The stream closes the file.
    if (found.isFile()) return { size: found.size, content: handle.createReadStream() };
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

function temporaryFile(root: string): string {
  return join(root, temporaryFolder, randomUUID());
}

/** Writes a temporary file, makes it durable, and then renames it; the name is made durable too. */
async function writeDurably(root: string, file: string, body: Uint8Array): Promise<void> {
  const temporary = temporaryFile(root);
  try {
    await writeFile(temporary, body, { flag: 'wx', mode: 0o600, flush: true });
    await makeFolder(dirname(file));
    await rename(temporary, file);
    await syncFolder(dirname(file));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Creates a folder with its parents, with durable names. */
async function makeFolder(folder: string): Promise<void> {
  const firstMade = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (firstMade === undefined) return;
  for (let made = folder; made.length >= firstMade.length; made = dirname(made)) await syncFolder(dirname(made));
}

async function prepareFolder(root: string): Promise<void> {
  const folder = join(root, temporaryFolder);
  await makeFolder(folder);
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    const written = (await unlessMissing(stat(file)))?.mtimeMs ?? Infinity;
    if (Date.now() - written > abandonedAfter) await rm(file, { force: true });
  }
}

/** Undefined if there is no such file: a part of its path is missing or is a file, or it is a folder. */
async function unlessMissing<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

/** Converts errors of the file system (full, read-only, no permission …) to the 503 problems. */
async function available<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined) throw error;
    throw code === 'ENOSPC' || code === 'EDQUOT' ? storageFull(error) : storageUnavailable(error);
  }
}
