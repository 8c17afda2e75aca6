import { createHash } from 'node:crypto';

/**
 * A UUID of version 8 (RFC 9562, section 5.8) made from its parts: the first 16 bytes of their SHA-256.
 *
 * @param parts only the last may contain a line feed, so that different parts never give the same text
 */
export function deriveUuid(...parts: readonly string[]): string {
  const bytes = createHash('sha256').update(parts.join('\n')).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
