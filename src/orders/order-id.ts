import { createHash } from 'node:crypto';

/**
 * The id of the order that an API key creates under an idempotency key. Because it follows from the two, the key names
 * that order for ever, however long idempotency records are kept.
 *
 * @returns a UUID of version 8 (RFC 9562, section 5.8) made of the SHA-256 of both keys
 */
export function derivedOrderId(apiKeyId: string, idempotencyKey: string): string {
  // An API key's id contains no line feed, so no two pairs are hashed as the same text.
  const hash = createHash('sha256').update(`order\n${apiKeyId}\n${idempotencyKey}`).digest();
  const bytes = hash.subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
