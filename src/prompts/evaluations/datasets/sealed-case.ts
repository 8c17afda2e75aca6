import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Case } from './dataset.ts';

/**
 * The stored line of a case that was made of an invocation: all but its ids is encrypted with the key of the invocation.
 * Equal cases have equal lines, so that the digest of a version says what it says of others.
 */
interface SealedCase {
  readonly id: string;
  readonly invocation_id: string;
  /** Nonce, ciphertext and tag, in base64. No case that is sent has this member. */
  readonly sealed: string;
}

export const keyBytes = 32;
const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** @param line of a case with `invocation_id` @returns the line that is stored */
export function sealCase(line: string, key: Buffer): string {
  const { id, invocation_id = '', ...content } = JSON.parse(line) as Case;
  const text = Buffer.from(JSON.stringify(content));
  // It follows from the content, so only equal contents have the same.
  const nonce = createHmac('sha256', key).update(text).digest().subarray(0, nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  const parts = [nonce, cipher.update(deflateRawSync(text)), cipher.final(), cipher.getAuthTag()];
  const sealed = Buffer.concat(parts).toString('base64');
  return JSON.stringify({ id, invocation_id, sealed } satisfies SealedCase);
}

/** Whether lines may have sealed cases. Quotes within texts are escaped, so texts alone are never taken for one. */
export function mayBeSealed(lines: string | Buffer): boolean {
  return lines.includes('"sealed":"');
}

/** The invocation of a case whose content is sealed. */
export function sealedFor(line: string): string | undefined {
  return mayBeSealed(line) ? unsealed(JSON.parse(line) as Case | SealedCase)?.invocation_id : undefined;
}

/** @param key undefined if it was erased @throws Error if the line was changed */
export function openCase(line: string, key: Buffer | undefined): Case {
  const stored = JSON.parse(line) as Case | SealedCase;
  const found = unsealed(stored);
  if (found === undefined) return stored;
  const { id, invocation_id, sealed } = found;
  if (key === undefined) return { id, invocation_id, erased: true };
  const data = Buffer.from(sealed, 'base64');
  const decipher = createDecipheriv(algorithm, key, data.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAuthTag(data.subarray(-tagBytes));
  const packed = Buffer.concat([decipher.update(data.subarray(nonceBytes, -tagBytes)), decipher.final()]);
  return { id, invocation_id, ...(JSON.parse(inflateRawSync(packed).toString()) as object) } as Case;
}

function unsealed(stored: Case | SealedCase): SealedCase | undefined {
  return 'sealed' in stored && typeof stored.sealed === 'string' ? (stored as SealedCase) : undefined;
}
