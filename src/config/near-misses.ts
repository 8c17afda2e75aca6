import { variableText, type Environment } from './read-settings.ts';

/** Shorter names are similar to too many others. */
const shortestName = 7;
const maxEdits = 2;

/**
 * Finds variables that look like misspelt settings: at most two letters differ from a setting that is not set, in any
 * case. Values are not used.
 *
 * @returns one sentence for each
 */
export function findNearMisses(names: readonly string[], environment: Environment): string[] {
  const known = new Set(names);
  const unset = names.filter((name) => name.length >= shortestName && variableText(environment, name) === undefined);
  return Object.keys(environment)
    .filter((found) => !known.has(found) && found.length >= shortestName - maxEdits && found.length <= 64)
    .flatMap((found) => {
      const meant = unset.find((name) => isNear(found.toUpperCase(), name));
      return meant === undefined ? [] : [`${found} is set but is not a setting. Did you mean ${meant}?`];
    });
}

/** Whether the Levenshtein distance is `mostEdits` or less. The first letter must be the same. */
function isNear(found: string, name: string): boolean {
  if (found[0] !== name[0] || Math.abs(found.length - name.length) > maxEdits) return false;
  let above = Array.from({ length: name.length + 1 }, (_, column) => column);
  for (const [row, letter] of [...found].entries()) {
    const current = [row + 1];
    for (const [column, other] of [...name].entries()) {
      const replaced = (above[column] ?? 0) + (letter === other ? 0 : 1);
      current.push(Math.min(replaced, (above[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    above = current;
  }
  return (above[name.length] ?? Infinity) <= maxEdits;
}
