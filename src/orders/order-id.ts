import type { Installation } from '../db/installation.ts';
import { deriveUuid } from '../runtime/derived-id.ts';

/** The ids of the order that an API key creates under an idempotency key. */
export interface DerivedOrderIds {
  readonly id: string;
  /** The id that a version without installation ids may have stored it under. */
  readonly formerId: string | undefined;
}

/**
 * The id of an order follows from API key and idempotency key, so the key names that order forever, and needs no
 * record. It follows from the installation too: the administrator's key has the same id everywhere, and so may the
 * orders of a till that was moved.
 */
export function createOrderIds(
  installation: Installation,
): (apiKeyId: string, idempotencyKey: string) => DerivedOrderIds {
  return (apiKeyId, idempotencyKey) => ({
    id: deriveUuid('order', installation.id, apiKeyId, idempotencyKey),
    formerId: installation.hasFormerOrders ? deriveUuid('order', apiKeyId, idempotencyKey) : undefined,
  });
}
