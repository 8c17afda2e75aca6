import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { keyBytes, SecretUnreadableError, type Sealed, type SecretBox } from '../../base/secrets/secret-box.ts';

/**
 * The content of an invocation, encrypted with a key of its own, which is encrypted with the service's key. Without
 * `key`, nobody can read it.
 */
export interface SealedContent {
  readonly key: Sealed;
  /** Nonce, ciphertext and tag. */
  readonly data: Uint8Array;
}

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** @param id of the invocation: the content of one cannot be read as that of another */
export async function sealContent(text: string, id: string, secrets: SecretBox): Promise<SealedContent> {
  const key = randomBytes(keyBytes);
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(id));
  const parts = [nonce, cipher.update(await deflate(text)), cipher.final(), cipher.getAuthTag()];
  return { key: secrets.seal(key.toString('base64'), ownerOf(id)), data: Buffer.concat(parts) };
}

/** @throws SecretUnreadableError if the service's key is not configured, or the content was changed */
export async function openContent({ key, data }: SealedContent, id: string, secrets: SecretBox): Promise<string> {
  const opener = Buffer.from(secrets.open(key, ownerOf(id)), 'base64');
  try {
    const decipher = createDecipheriv(algorithm, opener, data.subarray(0, nonceBytes), { authTagLength: tagBytes });
    decipher.setAAD(Buffer.from(id));
    decipher.setAuthTag(data.subarray(-tagBytes));
    const packed = [decipher.update(data.subarray(nonceBytes, -tagBytes)), decipher.final()];
    return (await inflate(Buffer.concat(packed))).toString();
  } catch (cause) {
    throw new SecretUnreadableError(`${ownerOf(id)} was changed or belongs to another record.`, { cause });
  }
}

function ownerOf(id: string): string {
  return `invocations/content ${id}`;
}
