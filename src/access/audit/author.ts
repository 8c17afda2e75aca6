import { hash, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { AuditEntry } from '../../storage/db/audit.ts';
import { defined } from '../../base/runtime/objects.ts';
import { authorOf, type Maker, type Principal } from '../../base/limits/principal.ts';

/** Who changes something, by which request. The context of a request is one. */
export interface Author {
  readonly operationId: string;
  readonly requestId: string;
  /** W3C trace context, if the caller sent one. */
  readonly traceparent: string | undefined;
  readonly principal: Maker & Pick<Principal, 'reach'> & { readonly sessionId?: string };
  readonly caller: { readonly ip?: string | undefined };
}

/** How changes of a kind of resource are recorded. */
export interface AuditedKind<Thing> {
  readonly type:
    | 'api-key'
    | 'budget'
    | 'category'
    | 'dataset'
    | 'evaluation'
    | 'integration'
    | 'invocation'
    | 'location'
    | 'person'
    | 'price'
    | 'product'
    | 'prompt'
    | 'session';
  /** Its members as answers show them. They contain no secret, except in `withheld` members. */
  readonly show: (thing: Thing) => object;
  /** The currency of its amounts that do not name one. */
  readonly currency?: (thing: Thing) => string;
  /** Members whose values are never recorded. */
  readonly withheld?: readonly string[];
}

/** A resource before its change or deletion, and after its creation or change. */
interface AuditedChange<Thing> {
  readonly at: Date;
  readonly before?: Thing;
  readonly after?: Thing;
}

/** The most characters of the JSON of a value that a record contains. Of a longer one it has a digest, too. */
const longestValue = 1_000;

/** Creates the record of a change, for the write of the change. */
export function auditEntry<Thing extends { readonly id: string; readonly name?: string }>(
  { operationId, requestId, principal, caller }: Author,
  { type, show, currency, withheld = [] }: AuditedKind<Thing>,
  { at, before, after }: AuditedChange<Thing>,
): AuditEntry {
  const thing = after ?? before;
  return {
    id: randomUUID(),
    at,
    operation: operationId,
    author: authorOf(principal),
    ...(principal.sessionId !== undefined && { session_id: principal.sessionId }),
    resource_type: storedType(type),
    resource_id: thing?.id ?? '',
    ...(thing?.name !== undefined && { resource_name: thing.name }),
    ...(thing !== undefined && currency !== undefined && { currency: currency(thing) }),
    ...differences(before && show(before), after && show(after), withheld),
    request_id: requestId,
    ...(caller.ip !== undefined && { address: caller.ip }),
  };
}

/** A kind of resource as it is stored: `api-key` is `api_key` in documents. */
export function storedType(type: string): string {
  return type.replaceAll('-', '_');
}

export function shownType(stored: string): string {
  return stored.replaceAll('_', '-');
}

function differences(
  before: object = {},
  after: object = {},
  withheld: readonly string[],
): Pick<AuditEntry, 'before' | 'after' | 'withheld' | 'cut'> {
  const was = new Map<string, unknown>(Object.entries(before));
  const is = new Map<string, unknown>(Object.entries(after));
  // The time of the change is that of the record.
  const changed = [...new Set([...was.keys(), ...is.keys()])].filter(
    (name) => name !== 'updated_at' && !isDeepStrictEqual(was.get(name), is.get(name)),
  );
  const left = changed.filter((name) => withheld.includes(name));
  const kept = changed.filter((name) => !withheld.includes(name));
  const isLong = (value: unknown): boolean => (toJson(value)?.length ?? 0) > longestValue;
  const cut = kept.filter((name) => isLong(was.get(name)) || isLong(is.get(name)));
  const pick = (values: Map<string, unknown>): string | undefined => {
    const members = kept.flatMap((name) => {
      const value = values.get(name);
      return value === undefined ? [] : [[name, cut.includes(name) ? cutValue(value) : value]];
    });
    return members.length === 0 ? undefined : toJson(Object.fromEntries(members));
  };
  return defined({
    before: pick(was),
    after: pick(is),
    withheld: left.length === 0 ? undefined : left,
    cut: cut.length === 0 ? undefined : cut,
  });
}

/** What a record has of a long value, and of the one that it replaced or was replaced by. */
function cutValue(value: unknown): { start: string; length: number; sha256: string } {
  const text = toJson(value) ?? '';
  return { start: text.slice(0, longestValue).toWellFormed(), length: text.length, sha256: hash('sha256', text) };
}

/** @returns undefined for undefined, which the type of `stringify` does not say */
function toJson(value: unknown): string | undefined {
  return JSON.stringify(value) as string | undefined;
}
