import type { DueGroups } from './pages.ts';

/** What an aggregation returns for the documents with one value that are due, or that are not. */
export type DueGroupDocument<Group> = Group & {
  readonly _id: { readonly value: string; readonly isDue: boolean };
  readonly count: number;
};

/** Puts the two groups of each value together. */
export function dueGroups<Group>(found: readonly DueGroupDocument<Group>[]): ReadonlyMap<string, DueGroups<Group>> {
  const groups = new Map<string, DueGroups<Group>>();
  for (const { _id, ...group } of found) {
    const before = groups.get(_id.value) ?? { due: undefined, later: undefined, isEstimated: false };
    groups.set(_id.value, { ...before, [_id.isDue ? 'due' : 'later']: group });
  }
  return groups;
}
