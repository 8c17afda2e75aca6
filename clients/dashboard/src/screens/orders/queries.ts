/** Keys of what these screens read. */
export const ordersKey = ['orders'] as const;
