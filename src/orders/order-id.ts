import { createHash } from 'node:crypto';
import type { Installation } from '../db/installation.ts';

/** The ids of the order that an API key creates under an idempotency key. */
export interface DerivedOrderIds {
  readonly id: string;
  /** The id that a version without installation ids may have stored it under. */
  readonly formerId: string | undefined;
}

/**
 * The id of an order follows from API key and idempotency key, so the key names that order for ever, and needs no record.
 * It follows from the installation too: the administrator's key has the same id everywhere, and so may the orders of a
 * till that was moved.
 *
 * @returns UUIDs of version 8 (RFC 9562, section 5.8) made of a SHA-256
 */
export function createOrderIds(
  installation: Installation,
): (apiKeyId: string, idempotencyKey: string) => DerivedOrderIds {
  return (apiKeyId, idempotencyKey) => ({
    // None but the last part can contain a line feed, so no two lists of parts are hashed as the same text.
    id: hashed('order', installation.id, apiKeyId, idempotencyKey),
    formerId: installation.hasFormerOrders ? hashed('order', apiKeyId, idempotencyKey) : undefined,
  });
}

function hashed(...parts: readonly string[]): string {
  const bytes = createHash('sha256').update(parts.join('\n')).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
