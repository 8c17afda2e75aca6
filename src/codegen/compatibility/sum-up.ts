import { listOperations, type OperationEntry } from '../contract-document.ts';
import { findBreakingChanges } from './breaking-changes.ts';
import { listChanges, type Change } from './changes.ts';
import { describeChange } from './describe-change.ts';
import { findIntended, type IntendedChanges } from './intended-changes.ts';
import { readSurface, type Contracts, type Surface } from './surface.ts';

/** A part of the contract, and its changes, such as `body .note: added`. */
interface ChangedPart {
  readonly name: string;
  readonly changes: readonly string[];
}

/** What changed between two versions of the contracts. */
export interface Summary {
  /** What breaks callers or receivers, by reason. */
  readonly breaking: readonly { readonly reason: string; readonly changes: readonly string[] }[];
  readonly added: readonly OperationEntry[];
  /** As `GET /v1/orders`. */
  readonly removed: readonly string[];
  readonly authentication: readonly string[];
  readonly addedEvents: readonly string[];
  readonly removedEvents: readonly string[];
  readonly events: readonly ChangedPart[];
  /** By the id of the operation. */
  readonly operations: readonly ChangedPart[];
  /** Changes of many operations, with the ids of these. */
  readonly shared: readonly { readonly change: string; readonly operations: readonly string[] }[];
}

/** A change of more operations stands once, with all of them. */
const fewOperations = 3;

/** Sums up all differences of two versions of the contracts, in the order of the contract. */
export function sumUp(before: Contracts, after: Contracts, intended: readonly IntendedChanges[]): Summary {
  const [old, current] = [readSurface(before), readSurface(after)];
  const names = { ...(current['operations'] as Surface), ...(old['operations'] as Surface) };
  const changes = listChanges(old, current);
  const whole = (area: string, type: Change['type']): string[] =>
    changes
      .filter((change) => change.path[0] === area && change.path.length === 2 && change.type === type)
      .map(({ key }) => key);
  const isNew = new Set(whole('operations', 'CREATE'));
  const parts = { operations: new Map<string, Set<string>>(), events: new Map<string, Set<string>>() };
  const operationsOf = new Map<string, Set<string>>();
  for (const change of changes) {
    const [area] = change.path;
    if ((area !== 'operations' && area !== 'events') || change.path.length === 2) continue;
    const words = describeChange(change, names).split(' ');
    // `event ORDER_PLACED payload .id: added`, `createOrder body .note: added`; without a place, `createOrder: tag A → B`.
    const [name = '', ...rest] = area === 'events' ? words.slice(1) : words;
    const text = withoutStatus(rest.join(' '));
    addTo(parts[area], name.replace(/:$/, ''), text);
    if (area === 'operations') addTo(operationsOf, text, name.replace(/:$/, ''));
  }
  const isShared = (text: string): boolean => (operationsOf.get(text)?.size ?? 0) > fewOperations;
  return {
    breaking: findIntended(findBreakingChanges(before, after), intended),
    added: listOperations(after.api).filter(({ method, path }) => isNew.has(`${method.toUpperCase()} ${path}`)),
    removed: whole('operations', 'REMOVE'),
    authentication: changes
      .filter(({ path: [area] }) => area === 'schemes')
      .map((change) => describeChange(change, names).replace(/^authentication /, '')),
    addedEvents: whole('events', 'CREATE'),
    removedEvents: whole('events', 'REMOVE'),
    events: [...parts.events].map(([name, texts]) => ({ name, changes: [...texts] })),
    operations: [...parts.operations]
      .map(([name, texts]) => ({ name, changes: [...texts].filter((text) => !isShared(text)) }))
      .filter(({ changes: own }) => own.length > 0),
    shared: [...operationsOf]
      .filter(([text]) => isShared(text))
      .map(([change, operations]) => ({ change, operations: [...operations] })),
  };
}

/** Errors have the same form with each status. */
function withoutStatus(text: string): string {
  return text.replace(/^answer (?:[45]\d\d|default) /, 'error ').replace(/^answer ([45]\d\d):/, 'error $1:');
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  sets.set(key, (sets.get(key) ?? new Set()).add(value));
}
