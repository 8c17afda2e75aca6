/** What each row of the table stands for. */
export const groupings = ['model', 'prompt', 'version', 'key', 'tag'] as const;
/** Days back from today. */
export const spans = ['7', '30', '90', '365'] as const;
