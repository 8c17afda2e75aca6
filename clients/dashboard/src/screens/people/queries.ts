/** Keys of what these screens read. A change invalidates `peopleKey`, and with it everything below. */
export const peopleKey = ['people'] as const;
