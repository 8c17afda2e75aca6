import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** Stored encrypted text: `v1.<key id>.<nonce, ciphertext and tag in base64url>`. */
export type Sealed = string & { readonly sealed: unique symbol };

/** What a key is to a box: the one that encrypts, one that only decrypts, or not configured. */
export type KeyUse = 'current' | 'former' | 'missing';

/** Encrypts text that must not be readable in the database or its dumps. */
export interface SecretBox {
  /** The id of the key that encrypts: 16 hexadecimal digits, which do not reveal it. */
  readonly keyId: string;
  /** The id of the key that encrypted a text, and its use. It is not decrypted. */
  keyOf(sealed: Sealed): { readonly keyId: string; readonly use: KeyUse };
  /** @param record the owner of the text; the same name decrypts it */
  seal(text: string, record: string): Sealed;
  /**
   * @throws SecretUnreadableError if the key is not configured, or the text was changed or belongs to another record
   */
  open(sealed: Sealed, record: string): string;
  /** The text encrypted with the current key. It is unchanged if it has that key, or if its key is not configured. */
  renew(sealed: Sealed, record: string): Sealed;
}

/** A stored secret cannot be decrypted. The message contains neither secret nor key. */
export class SecretUnreadableError extends Error {
  override readonly name = 'SecretUnreadableError';
}

const algorithm = 'aes-256-gcm';
/** NIST SP 800-38D recommends 96 bits. Random ones are safe for 2^32 texts under one key (section 8.3). */
const nonceBytes = 12;
const tagBytes = 16;
export const keyBytes = 32;

/**
 * Creates a box. Key id and record are authenticated with the text (associated data), so that an encrypted text cannot
 * be moved to another record in the database.
 *
 * @param key encrypts and decrypts; 32 bytes
 * @param previous earlier keys, which only decrypt
 */
export function createSecretBox(key: Uint8Array, previous: readonly Uint8Array[] = []): SecretBox {
  const current = keyId(key);
  const keys = new Map([...previous, key].map((each) => [keyId(each), each]));
  const box: SecretBox = {
    keyId: current,
    keyOf(sealed) {
      const id = sealed.split('.')[1] ?? '';
      return { keyId: id, use: id === current ? 'current' : keys.has(id) ? 'former' : 'missing' };
    },
    seal(text, record) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
      cipher.setAAD(associatedData(current, record));
      const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return `v1.${current}.${Buffer.concat(parts).toString('base64url')}` as Sealed;
    },
    open(sealed, record) {
      const [, id = '', encoded = ''] = /^v1\.([0-9a-f]{16})\.([\w-]+)$/.exec(sealed) ?? [];
      const opener = keys.get(id);
      if (opener === undefined)
        throw new SecretUnreadableError(`${record} is encrypted with the key ${id}, which is not configured.`);
      const bytes = Buffer.from(encoded, 'base64url');
      try {
        const decipher = createDecipheriv(algorithm, opener, bytes.subarray(0, nonceBytes), {
          authTagLength: tagBytes,
        });
        decipher.setAAD(associatedData(id, record));
        decipher.setAuthTag(bytes.subarray(-tagBytes));
        return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8');
      } catch (cause) {
        throw new SecretUnreadableError(`${record} was changed or belongs to another record.`, { cause });
      }
    },
    renew(sealed, record) {
      if (sealed.startsWith(`v1.${current}.`)) return sealed;
      try {
        return box.seal(box.open(sealed, record), record);
      } catch (error) {
        if (error instanceof SecretUnreadableError) return sealed;
        throw error;
      }
    },
  };
  return box;
}

/** The id of a key, which does not reveal it: the first 8 bytes of its SHA-256, in hex. */
function keyId(key: Uint8Array): string {
  if (key.length !== keyBytes) throw new RangeError(`A key has ${keyBytes} bytes.`);
  return createHash('sha256').update('prompt-gateway key id').update(key).digest('hex').slice(0, 16);
}

function associatedData(id: string, record: string): Buffer {
  return Buffer.from(`v1\n${id}\n${record}`);
}
