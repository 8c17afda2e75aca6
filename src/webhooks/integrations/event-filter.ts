import type { components } from '../../../generated/types.ts';
import { eventCatalog } from '../../../generated/events.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { refuseFindings } from '../../base/errors/findings.ts';
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
  const errors = eventTypes.flatMap((type, index) =>
    Object.entries(filter).flatMap(([path, condition]) => {
      const mistake = mistakeIn(type, path, condition);
      const pointer = sent === 'filter' ? `#/filter/${path}` : `#/event_types/${index}`;
      return mistake === undefined ? [] : [{ detail: `${path} ${mistake}`, pointer }];
    }),
  );
  refuseFindings({ type: 'filter-not-applicable', detail: 'The filter does not fit all types of events.', errors });
}

function mistakeIn(type: EventType, path: string, condition: EventFilter[string]): string | undefined {
  // A process of a later release may have stored a type that this one does not know.
  if (!Object.hasOwn(eventCatalog, type)) return undefined;
  const kinds = kindsAt(eventCatalog[type].schema, path.split('.'));
  if (kinds.size === 0) return `is not in the payload of ${type}`;
  const { $exists: _, $in = [], ...rest } = isObject(condition) ? condition : { $eq: condition };
  const operands: unknown[] = [...$in, ...Object.values(rest)];
  const wrong = operands.find((operand) => !kinds.has(typeof operand));
  const kind = [...kinds].map((one) => (one === 'object' ? 'an object' : `a ${one}`)).join(' or ');
  return wrong === undefined
    ? undefined
    : `is ${kind} in the payload of ${type}, and cannot be compared with a ${typeof wrong}`;
}

/** The kinds of values that a schema has at a path, in the words of `typeof`; none if it has no such path. */
function kindsAt(schema: unknown, names: readonly string[]): ReadonlySet<string> {
  const { type, properties, items, anyOf, oneOf, allOf } = membersOf(schema);
  const found = new Set<string>();
  const add = (kinds: ReadonlySet<string>): void => {
    for (const kind of kinds) found.add(kind);
  };
  for (const parts of [anyOf, oneOf, allOf]) {
    if (Array.isArray(parts)) for (const part of parts) add(kindsAt(part, names));
  }
  if (items !== undefined) add(kindsAt(items, names));
  const [name, ...further] = names;
  if (name !== undefined) {
    const members = membersOf(properties);
    if (Object.hasOwn(members, name)) add(kindsAt(members[name], further));
    return found;
  }
  for (const one of [type].flat()) {
    if (typeof one === 'string' && one !== 'array' && one !== 'null') found.add(one === 'integer' ? 'number' : one);
  }
  return found;
}
