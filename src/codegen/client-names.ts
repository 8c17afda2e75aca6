/**
 * The name of an operation in a client: `invokePrompt` of the tag "Prompts" is `prompts.invoke`, so `invoke` here. It
 * is the operationId without the noun of the tag, in the singular or plural.
 */
export function clientMethod(tag: string, operationId: string): string {
  const plural = tag.split(' ').map(capitalize).join('');
  const singular = plural
    .replace(/^People$/, 'Person')
    .replace(/ies$/, 'y')
    .replace(/s$/, '');
  return operationId.replace(new RegExp(`${plural}|${singular}`), '');
}

/** The name of a tag in a client: `testRuns` for "Test runs", `apiKeys` for "API keys". */
export function clientResource(tag: string): string {
  const [first = '', ...others] = tag.toLowerCase().split(' ');
  return [first, ...others.map(capitalize)].join('');
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();
}
