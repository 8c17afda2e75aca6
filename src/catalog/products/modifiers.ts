import { requireUniqueIds } from '../unique-ids.ts';
import type { Modifier } from './product.ts';

/** Modifiers as a caller sends them: an id that is left out is made by the server. */
export type ModifiersInput = readonly { readonly id?: string; readonly name: string; readonly price: number }[];

/**
 * Gives ids to the modifiers that have none.
 * @throws ProblemError `invalid-request` when two modifiers have the same id
 */
export function toModifiers(input: ModifiersInput, newId: () => string): Modifier[] {
  const modifiers = input.map(({ id = newId(), name, price }) => ({ id, name, price }));
  requireUniqueIds(modifiers.map(({ id }, index) => ({ id, pointer: `#/modifiers/${index}/id` })));
  return modifiers;
}
