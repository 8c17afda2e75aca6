import { editDistance } from '../base/fields/similar-names.ts';
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

/** The first letter must be the same. */
function isNear(found: string, name: string): boolean {
  return found[0] === name[0] && editDistance(found, name, maxEdits) <= maxEdits;
}
