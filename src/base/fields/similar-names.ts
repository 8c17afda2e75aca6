/**
 * The Levenshtein distance of two texts, or `Infinity` if it is larger than `most`.
 */
export function editDistance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return Infinity;
  let above = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [row, letter] of [...one].entries()) {
    const current = [row + 1];
    for (const [column, another] of [...other].entries()) {
      const replaced = (above[column] ?? 0) + (letter === another ? 0 : 1);
      current.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    above = current;
  }
  const distance = above[other.length] ?? Infinity;
  return distance <= most ? distance : Infinity;
}

/** Longer names are not compared. */
const longestName = 100;

/**
 * How different two names are: 0 if only their style differs (`maxTokens`, `max_tokens`), else the number of edits, or
 * of additional words if one name has all words of the other (`model`, `selected_model`). `Infinity` if they are not
 * similar.
 */
function nameDistance(one: string, other: string): number {
  if (one.length > longestName || other.length > longestName) return Infinity;
  const [words, others] = [wordsOf(one), wordsOf(other)];
  const [text, another] = [words.join(''), others.join('')];
  const shorter = Math.min(text.length, another.length);
  const edits = editDistance(text, another, shorter < 3 ? 0 : shorter < 7 ? 1 : 2);
  const [few, many] = words.length < others.length ? [words, others] : [others, words];
  const isPart = few.length > 0 && few.join('').length > 2 && few.every((word) => many.includes(word));
  // Between two names with the word, the one that ends with it is meant: `selected_model` and not `model_family`.
  const additional = isPart ? 1 + many.length - few.length + (few.at(-1) === many.at(-1) ? 0 : 0.5) : Infinity;
  return Math.min(edits, additional);
}

/** The words of a name in snake_case, kebab-case or camelCase, in lower case and in the singular. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.replace(/(?<=..)s$/, ''));
}

/** The name that is most similar; undefined if none is similar. */
export function nearestName(found: string, names: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Infinity;
  for (const name of names) {
    const distance = nameDistance(found, name);
    if (distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
}
