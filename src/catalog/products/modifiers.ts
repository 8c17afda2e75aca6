import { requireUniqueIds } from '../unique-ids.ts';
import type { Modifier } from './product.ts';

/** Modifiers as a caller sends them. The server creates ids that are left out. */
export type ModifiersInput = readonly { readonly id?: string; readonly name: string; readonly price: number }[];

/**
 * Gives ids to modifiers without one.
 * @throws ProblemError `invalid-request` when two modifiers have the same id
 */
export function toModifiers(input: ModifiersInput, newId: () => string): Modifier[] {
  const modifiers = input.map(({ id = newId(), name, price }) => ({ id, name, price }));
  requireUniqueIds(modifiers.map(({ id }, index) => ({ id, pointer: `#/modifiers/${index}/id` })));
  return modifiers;
}
