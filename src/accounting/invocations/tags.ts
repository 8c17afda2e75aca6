const mostTags = 16;
const longestValue = 512;
const name = /^[\w.-]{1,64}$/;

/**
 * The tags of a request, as `name=value`, each name once.
 *
 * @param bound those of the API key, which no request replaces
 * @param header `X-Tags` in the form of the contract
 * @param metadata of a request to OpenAI's API; members that cannot be tags are left out
 */
export function readTags(
  bound: Readonly<Record<string, string>> | undefined,
  header: string | undefined,
  metadata?: Readonly<Record<string, string>> | null,
): readonly string[] {
  if (bound === undefined && header === undefined && metadata === undefined) return [];
  const tags = new Map(Object.entries(metadata ?? {}).filter(([key]) => name.test(key)));
  for (const tag of header?.split(',') ?? []) {
    const [key = '', ...value] = tag.trim().split('=');
    tags.set(key, value.join('='));
  }
  // They come last, where none is left out.
  for (const [key, value] of Object.entries(bound ?? {})) {
    tags.delete(key);
    tags.set(key, value);
  }
  const all = [...tags].filter(([, value]) => value.length <= longestValue).map(([key, value]) => `${key}=${value}`);
  return all.slice(-mostTags);
}
