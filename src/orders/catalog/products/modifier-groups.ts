import { refuseFindings } from '../../../base/errors/findings.ts';
import type { ProblemDetail } from '../../../base/errors/problem-error.ts';
import type { Modifier, ModifierGroup } from './product.ts';

/** The modifiers of a product. */
interface Modifiers {
  readonly modifiers: readonly Modifier[];
  readonly modifierGroups: readonly ModifierGroup[] | undefined;
}

/** A line of an order has at most as many modifiers, so that it can have all of its product. */
const mostModifiers = 100;

/**
 * Requires that the groups of a product can be satisfied and that their names and modifiers can be told apart. Without
 * groups, modifiers may have the same name.
 * @param sent what of it is sent: a mistake is at that, because what was stored before is correct
 * @throws {ProblemError} invalid-modifier-groups
 */
export function requireSoundGroups({ modifiers, modifierGroups }: Modifiers, sent: Partial<Modifiers>): void {
  if (modifierGroups === undefined) return;
  const others = modifiers.map((modifier, index) => ({ ...modifier, isGrouped: false, place: `#/modifiers/${index}` }));
  const grouped = modifierGroups.flatMap((group, index) =>
    group.modifiers.map((modifier, position) => {
      return { ...modifier, isGrouped: true, place: `#/modifier_groups/${index}/modifiers/${position}` };
    }),
  );
  const all = 'modifierGroups' in sent ? [...others, ...grouped] : [...grouped, ...others];
  const groupNames = modifierGroups.map(({ name }) => name);
  const isGroupedOf = new Map<string, boolean>();
  const ids = new Set<string>();
  const errors: ProblemDetail[] = modifierGroups.flatMap(({ name, min, max }, index) => [
    ...(min > max ? [{ detail: `must not be more than max (${max})`, pointer: `#/modifier_groups/${index}/min` }] : []),
    ...(groupNames.indexOf(name) < index
      ? [{ detail: 'is already the name of another group', pointer: `#/modifier_groups/${index}/name` }]
      : []),
  ]);
  for (const { id, name, isGrouped, place } of all) {
    if (ids.has(id)) errors.push({ detail: 'is already the id of another modifier', pointer: `${place}/id` });
    const earlier = isGroupedOf.get(name);
    if (earlier === true || (earlier === false && isGrouped)) {
      errors.push({ detail: 'is already the name of another modifier', pointer: `${place}/name` });
    }
    ids.add(id);
    isGroupedOf.set(name, isGrouped || earlier === true);
  }
  if (all.length > mostModifiers) {
    const pointer = 'modifierGroups' in sent ? '#/modifier_groups' : '#/modifiers';
    errors.push({ detail: `makes more than ${mostModifiers} modifiers of the product`, pointer });
  }
  const detail = 'The groups of modifiers contradict themselves.';
  refuseFindings({ type: 'invalid-modifier-groups', detail, errors });
}
