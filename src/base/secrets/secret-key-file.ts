import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keyBytes } from './secret-box.ts';
import { hasCode } from '../runtime/system-error.ts';
import { syncFolder } from '../runtime/sync-folder.ts';

/** The name of the file with the key, in base64. With this file and the database, anyone can read the secrets. */
const fileName = 'secrets.key';

/**
 * Reads the key of a data folder. If there is none yet, creates one that only this user can read (mode 0600). Several
 * processes can do this at the same time; all get the same key.
 *
 * @throws Error if the file does not contain a key
 */
export async function ensureSecretKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, fileName);
  const existing = await readKey(path);
  if (existing !== undefined) return existing;
  await mkdir(dataDir, { recursive: true });
  const temporary = `${path}.${randomUUID()}`;
  const content = `${randomBytes(keyBytes).toString('base64')}\n`;
  await writeFile(temporary, content, { flag: 'wx', mode: 0o600, flush: true });
  try {
    // Fails if another process was first; a rename would replace its key.
    await link(temporary, path);
    await syncFolder(dataDir);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await unlink(temporary);
  }
  const key = await readKey(path);
  if (key === undefined) throw new Error(`${path} disappeared.`);
  return key;
}

/** A configured key: 32 bytes in base64, base64url or hex. Undefined for any other text. */
export function parseSecretKey(text: string): Buffer | undefined {
  const encoding = /^[0-9a-f]{64}$/i.test(text) ? 'hex' : /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? 'base64' : undefined;
  return encoding === undefined ? undefined : Buffer.from(text, encoding);
}

/** Reads the key of a data folder. @throws Error if there is none, or the file does not contain a key */
export async function readSecretKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, fileName);
  const key = await readKey(path);
  if (key === undefined) throw new Error(`there is no ${path}`);
  return key;
}

async function readKey(path: string): Promise<Buffer | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  const key = parseSecretKey(text.trim());
  if (key === undefined) throw new Error(`${path} does not hold a key of ${keyBytes} bytes in base64.`);
  return key;
}
