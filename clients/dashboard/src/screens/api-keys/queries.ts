/** Keys of what these screens read. A change invalidates `apiKeysKey`, and with it everything below. */
export const apiKeysKey = ['api-keys'] as const;
