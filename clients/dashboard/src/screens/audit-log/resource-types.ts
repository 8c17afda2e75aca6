/** The kinds of resources whose changes are recorded. */
export const resourceTypes = [
  'prompt',
  'integration',
  'location',
  'category',
  'product',
  'price',
  'api_key',
  'session',
] as const;
