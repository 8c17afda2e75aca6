/** Keys of what these screens read. */
export const deliveriesKey = ['deliveries'] as const;
