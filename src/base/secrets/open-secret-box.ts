import { ensureSecretKey, parseSecretKey, readSecretKey } from './secret-key-file.ts';
import { createSecretBox, type SecretBox } from './secret-box.ts';
import { messageOf } from '../runtime/system-error.ts';

/** There is no key to encrypt secrets. The message is for the operator. */
export class SecretKeyError extends Error {
  override readonly name = 'SecretKeyError';
}

/**
 * Creates the box for secrets in the database.
 *
 * @param keys the configured keys, the current one first; without any, the key in the data folder is used, which is
 *   created if missing
 * @param isReadOnly whether none may be created
 * @throws SecretKeyError if there is no key and none can be stored
 */
export async function openSecretBox(keys: readonly string[], dataDir: string, isReadOnly = false): Promise<SecretBox> {
  const [key, ...previous] = keys.flatMap((text) => parseSecretKey(text) ?? []);
  return createSecretBox(key ?? (await keyOfFolder(dataDir, isReadOnly)), previous);
}

async function keyOfFolder(dataDir: string, isReadOnly: boolean): Promise<Buffer> {
  try {
    return await (isReadOnly ? readSecretKey(dataDir) : ensureSecretKey(dataDir));
  } catch (cause) {
    if (isReadOnly) {
      throw new SecretKeyError(
        `SECRETS_KEY is not set, there is no key in DATA_DIR, and READ_ONLY=on creates none (${messageOf(cause)}). Set SECRETS_KEY to the key of the data.`,
        { cause },
      );
    }
    throw new SecretKeyError(
      `SECRETS_KEY is not set, and a key cannot be stored in DATA_DIR (${messageOf(cause)}). Set SECRETS_KEY to 32 random bytes in hex or base64.`,
      { cause },
    );
  }
}
