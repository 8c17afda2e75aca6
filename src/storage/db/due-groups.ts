import type { DueGroups } from './pages.ts';

/** What an aggregation returns for the documents with one value that are due, or that are not. */
export type DueGroupDocument<Group> = Group & {
  readonly _id: { readonly value: string; readonly isDue: boolean };
  readonly count: number;
};

/** Puts the two groups of each value together. @param factor one document stands for this many */
export function dueGroups<Group>(
  found: readonly DueGroupDocument<Group>[],
  factor = 1,
): ReadonlyMap<string, DueGroups<Group>> {
  const groups = new Map<string, DueGroups<Group>>();
  for (const { _id, ...group } of found) {
    const before = groups.get(_id.value) ?? { due: undefined, later: undefined, isEstimated: factor > 1 };
    const counted = { ...(group as Group & { count: number }), count: group.count * factor };
    groups.set(_id.value, { ...before, [_id.isDue ? 'due' : 'later']: counted });
  }
  return groups;
}
