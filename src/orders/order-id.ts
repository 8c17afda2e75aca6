import type { Installation } from '../storage/db/installation.ts';
import { deriveUuid } from '../base/runtime/derived-id.ts';

/**
 * The id of an order follows from API key and idempotency key, so the key identifies that order permanently, without a
 * record. It also follows from the installation: the administrator's key has the same id in every installation, and a
 * till that moves to another one may repeat its idempotency keys.
 */
export function createOrderIds(installation: Installation): (apiKeyId: string, idempotencyKey: string) => string {
  return (apiKeyId, idempotencyKey) => deriveUuid('order', installation.id, apiKeyId, idempotencyKey);
}
