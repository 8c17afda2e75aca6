import { isMediaType, listChanges, type Change } from './changes.ts';
import { describeChange } from './describe-change.ts';
import { readSurface, type Contracts, type Surface } from './surface.ts';

/**
 * Lists the changes between two versions of the contracts that break a caller or a receiver, one on each line, such as
 * `createOrder body .note: maxLength 500 → 200`. An accepted request must stay accepted: the schema of a request must
 * not become narrower. An answer or an event must keep what it promises: its schema must not become wider, but it may
 * get new properties, and its open lists new values.
 */
export function findBreakingChanges(before: Contracts, after: Contracts): string[] {
  const old = readSurface(before);
  const breaking = listChanges(old, readSurface(after)).filter(breaks);
  return [...new Set(breaking.map((change) => describeChange(change, old['operations'] as Surface)))];
}

function breaks(change: Change): boolean {
  const { type, path, key, before, after } = change;
  const [area, , part] = path;
  if (area === 'schemes' || path.length === 2) return type !== 'CREATE';
  // An added or removed list of values is more important than the bounds beside it.
  if (key !== 'only' && 'only' in before !== 'only' in after) return false;
  if (area === 'events') return breaksReader(change);
  switch (part) {
    case 'security':
      return breaksSecurity(change);
    case 'parameters':
      return breaksSender(change);
    case 'body':
      return isMediaType(change) ? type === 'REMOVE' : breaksSender(change);
    case 'answers':
      return breaksAnswer(change);
    default:
      return true; // The names of an operation and of its tag are names of methods in clients.
  }
}

/** More scopes are required, or a way to authenticate was removed. An operation without any way needs no key. */
function breaksSecurity({ type, path, before, after }: Change): boolean {
  if (path.length === 5) return type === 'CREATE';
  return type === 'CREATE' ? Object.keys(before).length === 0 : Object.keys(after).length > 0;
}

/** New statuses are allowed if they are errors that `default` covers. */
function breaksAnswer(change: Change): boolean {
  const { type, path, key, before } = change;
  if (path.length === 4) return type === 'REMOVE' || Number(key) < 400 || !('default' in before || key === 'default');
  return isMediaType(change) ? type === 'REMOVE' : breaksReader(change);
}

/** For programs that send a request. */
function breaksSender(change: Change): boolean {
  const { type, key } = change;
  if (key.startsWith('.')) return type === 'REMOVE' || (change.new as Surface)['required'] === true;
  if (key === 'default') return type !== 'CREATE';
  return effectOf(change) !== 'wider';
}

/** For programs that read an answer or an event. */
function breaksReader(change: Change): boolean {
  const { type, key, path, before } = change;
  if (key.startsWith('.')) return type === 'REMOVE' || before['closed'] === true;
  // Programs may wait for the removed value or kind of object.
  if (key.includes('=') || key === 'known')
    return type === 'REMOVE' || path.at(-2) === 'only' || key.startsWith('object');
  return key !== 'default' && effectOf(change) !== 'narrower';
}

const upperBounds = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
const lowerBounds = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
/** The keys, besides keywords with a text, that limit the valid values. */
const limits = ['required', 'only', 'integer', 'multipleOf', 'uniqueItems', 'closed', '[]', '{}', 'names'];

/** The effect of a change on the set of valid values. */
function effectOf({ key, type, old, new: current }: Change): 'narrower' | 'wider' | 'different' {
  if (upperBounds.includes(key)) return Number(current ?? Infinity) < Number(old ?? Infinity) ? 'narrower' : 'wider';
  if (lowerBounds.includes(key)) return Number(current ?? -Infinity) > Number(old ?? -Infinity) ? 'narrower' : 'wider';
  if (type === 'CHANGE') return 'different';
  const isLimit = limits.includes(key) || typeof (old ?? current) === 'string';
  return isLimit === (type === 'CREATE') ? 'narrower' : 'wider';
}
