/** Whether a list contains archived entries. */
export type ArchivedSelection = 'exclude' | 'include' | 'only';

/** The condition for the filter of a list. */
export function archivedIn(selection: ArchivedSelection): { archived?: boolean } {
  switch (selection) {
    case 'exclude':
      return { archived: false };
    case 'include':
      return {};
    case 'only':
      return { archived: true };
  }
}
