import { ensureSecretKey, parseSecretKey } from './secret-key-file.ts';
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
 * @throws SecretKeyError if there is no key and none can be stored
 */
export async function openSecretBox(keys: readonly string[], dataDir: string): Promise<SecretBox> {
  const [key, ...previous] = keys.flatMap((text) => parseSecretKey(text) ?? []);
  return createSecretBox(key ?? (await keyOfFolder(dataDir)), previous);
}

async function keyOfFolder(dataDir: string): Promise<Buffer> {
  try {
    return await ensureSecretKey(dataDir);
  } catch (cause) {
    throw new SecretKeyError(
      `SECRETS_KEY is not set, and a key cannot be stored in DATA_DIR (${messageOf(cause)}). Set SECRETS_KEY to 32 random bytes in hex or base64.`,
      { cause },
    );
  }
}
