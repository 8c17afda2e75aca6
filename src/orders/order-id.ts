import type { Installation } from '../storage/db/installation.ts';
import { deriveUuid } from '../base/runtime/derived-id.ts';

/** The ids of the order that an API key creates under an idempotency key. */
export interface DerivedOrderIds {
  readonly id: string;
  /** The id that a version of this service without installation ids would have used. */
  readonly formerId: string | undefined;
}

/**
 * The id of an order follows from API key and idempotency key, so the key identifies that order permanently, without a
 * record. It also follows from the installation: the administrator's key has the same id in every installation, and a
 * till that moves to another one may repeat its idempotency keys.
 */
export function createOrderIds(
  installation: Installation,
): (apiKeyId: string, idempotencyKey: string) => DerivedOrderIds {
  return (apiKeyId, idempotencyKey) => ({
    id: deriveUuid('order', installation.id, apiKeyId, idempotencyKey),
    formerId: installation.hasFormerOrders ? deriveUuid('order', apiKeyId, idempotencyKey) : undefined,
  });
}
