/** Maps from names that the author chose, so `description` in one of them is a name and not a text. */
const maps = new Set(['properties', 'headers', 'parameters', 'responses', 'schemas', 'messages', 'channels']);
/** Keywords whose values are data. */
const data = new Set(['const', 'default', 'enum', 'required']);
/** Extensions that the guard compares. */
const facts = new Set(['x-event-schema', 'x-line-schema', 'x-extensible-enum']);
/** Texts and examples. A title distinguishes the kinds of a union, so it stays. */
const texts = new Set(['description', 'summary', 'example', 'examples', 'externalDocs', 'links']);

/**
 * The copy of a contract that a release stores: without texts and examples, which the guard does not compare. It has a
 * line for each path, schema, header and so on, so that a later release shows what changed.
 */
export function makeReleasedCopy(document: object): string {
  return `${formatLines(withoutTexts(document), 3)}\n`;
}

function withoutTexts(value: unknown, isMap = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutTexts(item));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key, below]) => isMap || !isText(key, below));
  return Object.fromEntries(
    kept.map(([key, below]) => [key, !isMap && data.has(key) ? below : withoutTexts(below, !isMap && maps.has(key))]),
  );
}

/** The tag of an operation is the name of a group of methods in clients: a list of names, and not of objects. */
function isText(key: string, value: unknown): boolean {
  if (key === 'tags') return Array.isArray(value) && value.every((tag) => typeof tag === 'object');
  return texts.has(key) || (key.startsWith('x-') && !facts.has(key));
}

/** JSON with a line for each member of the outer `depth` levels of objects. */
function formatLines(value: unknown, depth: number): string {
  if (depth === 0 || typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, below]) => `${JSON.stringify(key)}: ${formatLines(below, depth - 1)}`,
  );
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n}`;
}
