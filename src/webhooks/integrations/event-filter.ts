import type { components } from '../../../generated/types.ts';
import { eventCatalog } from '../../../generated/events.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { refuseFindings } from '../../base/errors/findings.ts';
import { presentCause, withPresentNames } from '../../base/fields/earlier-names.ts';
import { isObject, membersOf } from '../../base/runtime/objects.ts';
import type { EventType } from '../events/event.ts';

/** Which events of its types an integration receives, as the contract describes it. */
export type EventFilter = components['schemas']['EventFilterInput'];

type Operators = components['schemas']['EventFilterInputOperators'];
type Bound = components['schemas']['EventFilterBound'];

/** The most characters of a filter as JSON. The relay reads the filters of all receivers of an event. */
const longestFilter = 4_000;

/** A filter that is ready to be compared with payloads. */
export interface ReadyFilter {
  matches(payload: unknown): boolean;
  /** The paths of the entries that do not match. */
  unmatched(payload: unknown): string[];
}

/** A stored filter with the names that this release has for what it names. */
export function presentFilter(stored: EventFilter): EventFilter {
  const filter = withPresentNames(stored);
  const cause = filter['data.cause'];
  if (cause === undefined) return filter;
  if (!isObject(cause)) return { ...filter, 'data.cause': presentCause(cause) };
  const operands = Object.entries(cause).map(([name, operand]) => [
    name,
    Array.isArray(operand) ? operand.map(presentCause) : presentCause(operand),
  ]);
  return { ...filter, 'data.cause': Object.fromEntries(operands) as Operators };
}

/** A filter is a pure function of the payload that is delivered: it reads nothing else. */
export function readyFilter(filter: EventFilter): ReadyFilter {
  const entries = Object.entries(filter).map(([path, condition]) => {
    const names = path.split('.');
    const fits = conditionOf(isObject(condition) ? condition : { $eq: condition });
    return { path, matches: (payload: unknown): boolean => fits(valuesAt(payload, names)) };
  });
  return {
    matches: (payload) => entries.every((entry) => entry.matches(payload)),
    unmatched: (payload) => entries.filter((entry) => !entry.matches(payload)).map(({ path }) => path),
  };
}

/** The values at the end of a path. One through an array has those of each element; a missing one and `null` are none. */
function valuesAt(value: unknown, names: readonly string[], depth = 0): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((element) => valuesAt(element, names, depth));
  if (value === undefined || value === null) return [];
  const name = names[depth];
  if (name === undefined) return [value];
  return isObject(value) && Object.hasOwn(value, name) ? valuesAt(value[name], names, depth + 1) : [];
}

function conditionOf({ $exists, $eq, $in, $gte, $lte }: Operators): (values: readonly unknown[]) => boolean {
  const tests: ((value: unknown) => boolean)[] = [];
  if ($eq !== undefined) tests.push((value) => value === $eq);
  if ($in !== undefined) {
    const wanted = new Set<unknown>($in);
    tests.push((value) => wanted.has(value));
  }
  if ($gte !== undefined) tests.push((value) => isComparable(value, $gte) && value >= $gte);
  if ($lte !== undefined) tests.push((value) => isComparable(value, $lte) && value <= $lte);
  return (values) => {
    if ($exists !== undefined && values.length > 0 !== $exists) return false;
    return tests.length === 0 || values.some((value) => tests.every((test) => test(value)));
  };
}

/** A number is compared with numbers only, and a text with texts. */
function isComparable(value: unknown, bound: Bound): value is Bound {
  return typeof value === typeof bound;
}

/** What can be sent in place of what a filter and its types have now. */
interface Filtered {
  readonly filter: EventFilter | undefined;
  readonly eventTypes: readonly EventType[];
}

/**
 * Refuses a filter that can never match the events of one of the types, because it would silently keep all of them away.
 * @param sent whether the request has the filter, or only the types
 * @throws {ProblemError} filter-not-applicable, also for a filter that is too long
 */
export function requireApplicable({ filter, eventTypes }: Filtered, sent: 'filter' | 'types' = 'filter'): void {
  if (filter === undefined) return;
  if (sent === 'filter' && JSON.stringify(filter).length > longestFilter) {
    throw new ProblemError('filter-not-applicable', {
      detail: 'The filter is too long.',
      errors: [{ detail: 'has more than 4,000 characters as JSON', pointer: '#/filter' }],
    });
  }
  const entries = Object.entries(filter).map(([path, condition]) => ({
    path,
    operators: isObject(condition) ? condition : { $eq: condition },
    pointerTo: (name: string) => `#/filter/${path}${isObject(condition) && name !== '' ? `/${name}` : ''}`,
  }));
  const contradictions = entries.flatMap(({ path, operators, pointerTo }) => {
    const mistake = contradictionIn(operators);
    return mistake === undefined ? [] : [{ detail: `${path} ${mistake.detail}`, pointer: pointerTo(mistake.name) }];
  });
  const misfits = eventTypes.flatMap((type, index) =>
    entries.flatMap(({ path, operators, pointerTo }) => {
      const mistake = mistakeIn(type, path, operators);
      if (mistake === undefined) return [];
      const pointer = sent === 'filter' ? pointerTo(mistake.name) : `#/event_types/${index}`;
      return [{ detail: `${path} ${mistake.detail}`, pointer }];
    }),
  );
  const type = 'filter-not-applicable';
  refuseFindings(
    { type, detail: 'The filter contradicts itself, so it matches no event.', errors: contradictions },
    { type, detail: 'The filter does not fit all types of events.', errors: misfits },
  );
}

/** Why a condition matches nothing, and the operator where it shows; empty for the path. */
interface Mistake {
  readonly name: string;
  readonly detail: string;
}

/** A contradiction between operators, whatever the payload is. */
function contradictionIn({ $exists, ...rest }: Operators): Mistake | undefined {
  if ($exists === false && Object.keys(rest).length > 0) {
    return { name: '$exists', detail: 'has $exists: false and operators that match only what exists' };
  }
  const { $eq, $in, $gte, $lte } = rest;
  const fits = conditionOf(rest);
  if ($eq !== undefined)
    return fits([$eq]) ? undefined : { name: '$eq', detail: 'has an $eq that another operator excludes' };
  if ($in !== undefined)
    return fits($in) ? undefined : { name: '$in', detail: 'has only values in $in that another operator excludes' };
  if ($gte === undefined || $lte === undefined || fits([$gte])) return undefined;
  return { name: '$gte', detail: 'has a $gte that $lte excludes' };
}

/** Why a condition matches no event of a type. */
function mistakeIn(type: EventType, path: string, { $exists: _, ...rest }: Operators): Mistake | undefined {
  // A process of a later release may have stored a type that this one does not know.
  if (!Object.hasOwn(eventCatalog, type)) return undefined;
  const described = valuesOf(eventCatalog[type].schema, path.split('.'));
  if (described.length === 0) return { name: '', detail: `is not in the payload of ${type}` };
  const kinds = new Set(described.map(({ kind }) => kind));
  for (const [name, operand] of Object.entries(rest)) {
    const wrong = [operand].flat().find((one) => !kinds.has(typeof one));
    if (wrong !== undefined) {
      const kind = [...kinds].map((one) => (one === 'object' ? 'an object' : `a ${one}`)).join(' or ');
      return { name, detail: `is ${kind} in the payload of ${type}, and cannot be compared with a ${typeof wrong}` };
    }
    const fits = conditionOf({ [name]: operand });
    if (described.every(({ constant }) => constant !== undefined && !fits([constant]))) {
      const constants = described.map(({ constant }) => JSON.stringify(constant)).join(' or ');
      return { name, detail: `is always ${constants} in the payload of ${type}` };
    }
  }
  return undefined;
}

/** A kind of value, in the words of `typeof`, and the only one of it if the schema says so. */
interface Described {
  readonly kind: string;
  readonly constant: unknown;
}

/** The values that a schema has at a path; none if it has no such path. */
function valuesOf(schema: unknown, names: readonly string[]): Described[] {
  const { type, properties, items, anyOf, oneOf, allOf, const: constant } = membersOf(schema);
  const found = [anyOf, oneOf, allOf, items]
    .flat()
    .flatMap((part) => (part === undefined ? [] : valuesOf(part, names)));
  const [name, ...further] = names;
  if (name !== undefined) {
    const members = membersOf(properties);
    return Object.hasOwn(members, name) ? [...found, ...valuesOf(members[name], further)] : found;
  }
  for (const one of [type].flat()) {
    if (typeof one !== 'string' || one === 'array' || one === 'null') continue;
    found.push({ kind: one === 'integer' ? 'number' : one, constant });
  }
  return found;
}
