/** Whether a list contains archived entries. */
export type ArchivedSelection = 'exclude' | 'include' | 'only';

/**
 * The condition for the filter of a list. Documents of earlier versions do not have the field: they are not archived.
 */
export function archivedIn(selection: ArchivedSelection): { archived?: true | { $ne: true } } {
  switch (selection) {
    case 'exclude':
      return { archived: { $ne: true } };
    case 'include':
      return {};
    case 'only':
      return { archived: true };
  }
}
