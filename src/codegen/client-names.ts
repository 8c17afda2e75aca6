/**
 * What a client calls an operation: `invokePrompt` of the tag "Prompts" is `prompts.invoke`, so `invoke` here. The tag's
 * noun is left out of the operationId, in the singular or plural.
 */
export function clientMethod(tag: string, operationId: string): string {
  const plural = tag.split(' ').map(capitalize).join('');
  const singular = plural.replace(/ies$/, 'y').replace(/s$/, '');
  return operationId.replace(new RegExp(`${plural}|${singular}`), '');
}

/** What a client calls the operations of a tag: `testRuns` for "Test runs", `apiKeys` for "API keys". */
export function clientResource(tag: string): string {
  const [first = '', ...others] = tag.toLowerCase().split(' ');
  return [first, ...others.map(capitalize)].join('');
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();
}
