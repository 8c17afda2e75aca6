/** The kinds of resources whose changes are recorded. */
export const resourceTypes = [
  'prompt',
  'dataset',
  'evaluation',
  'integration',
  'invocation',
  'location',
  'category',
  'product',
  'price',
  'budget',
  'api-key',
  'person',
  'session',
] as const;
