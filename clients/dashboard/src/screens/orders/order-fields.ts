import type { Schemas } from 'prompt-gateway-client';
import { useRef } from 'react';

/** A chosen product. */
export interface Line {
  quantity: number;
  /** How many of each chosen modifier, by its id. */
  modifiers: Readonly<Record<string, number>>;
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
      ...(Object.keys(modifiers).length > 0 && {
        modifiers: Object.entries(modifiers).map(([id, count]) => ({ id, ...(count > 1 && { quantity: count }) })),
      }),
    })),
    ...(service === 'take_away' && { service }),
    ...(spot !== '' && { spot_id: spot }),
    ...(note.trim() !== '' && { note }),
    ...(reference.trim() !== '' && { reference_id: reference }),
  };
}

export type ModifierGroup = NonNullable<Schemas['Product']['modifier_groups']>[number];

/** How many modifiers of a group a line has. */
export function countOf({ modifiers: choices }: ModifierGroup, { modifiers }: Line): number {
  return choices.reduce((sum, { id }) => sum + (modifiers[id] ?? 0), 0);
}

/** The chosen products with fewer modifiers of a group than it needs, as mistakes of the form. */
export function findIncomplete(
  { lines }: OrderFields,
  products: readonly Schemas['Product'][],
): Record<`lines.${string}`, true> {
  const incomplete = products.filter(({ id, modifier_groups: groups = [] }) => {
    const line = lines[id];
    return line !== undefined && groups.some((group) => countOf(group, line) < group.min);
  });
  return Object.fromEntries(incomplete.map(({ id }) => [`lines.${id}`, true] as const));
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
