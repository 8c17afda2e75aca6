import type { Schemas } from 'prompt-gateway-client';
import { useRef } from 'react';

/** A chosen product. */
export interface Line {
  quantity: number;
  /** Ids of the chosen modifiers. */
  modifiers: string[];
}

/** What the form of a test order edits. */
export interface OrderFields extends Record<string, unknown> {
  /** By product id. */
  lines: Record<string, Line>;
  spot: string;
  note: string;
  reference: string;
  service: 'eat_in' | 'take_away';
}

/** An order without anything. */
export const emptyOrder: OrderFields = { lines: {}, spot: '', note: '', reference: '', service: 'eat_in' };

/** The fields as the API takes them. */
export function orderOf(
  { lines, spot, note, reference, service }: OrderFields,
  locationId: string,
): Schemas['OrderCreate'] {
  return {
    location_id: locationId,
    items: Object.entries(lines).map(([product_id, { quantity, modifiers }]) => ({
      product_id,
      quantity,
      ...(modifiers.length > 0 && { modifiers: modifiers.map((id) => ({ id })) }),
    })),
    ...(service === 'take_away' && { service }),
    ...(spot !== '' && { spot_id: spot }),
    ...(note.trim() !== '' && { note }),
    ...(reference.trim() !== '' && { reference_id: reference }),
  };
}

/** The field of a place in the request. */
export function fieldAt(place: string): string {
  const names: Record<string, string> = { spot_id: 'spot', reference_id: 'reference' };
  return names[place] ?? place;
}

/**
 * Gives the `Idempotency-Key` of an order. The same order gets the same key until it is placed, so that it is not placed
 * twice when an answer was lost and the button is pressed again.
 */
export function useKeyOf(): (order: Schemas['OrderCreate']) => string {
  const last = useRef({ body: '', key: '' });
  return (order) => {
    const body = JSON.stringify(order);
    // `crypto.randomUUID` does not exist in pages without https.
    if (last.current.body !== body) {
      last.current = { body, key: crypto.getRandomValues(new Uint32Array(4)).join('-') };
    }
    return last.current.key;
  };
}
