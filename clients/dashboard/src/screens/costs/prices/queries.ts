/** The key of all prices. */
export const pricesKey = ['prices'] as const;
