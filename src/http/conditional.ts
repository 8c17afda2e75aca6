import { ProblemError } from '../base/errors/problem-error.ts';

/**
 * Whether an `If-Match` field matches (RFC 9110, section 13.1.1; strong comparison). An absent field always matches.
 */
export function ifMatch(field: string | undefined, etag: string): boolean {
  return field === undefined || field.trim() === '*' || entityTags(field).includes(etag);
}

/** A resource with a number of changes. */
interface Revised {
  readonly id: string;
  readonly revision: number;
}

/** The entity tag of a resource whose every change increments its revision. */
export function revisionTag({ id, revision }: Revised): string {
  return `"${id}.${revision}"`;
}

/**
 * Like {@link ifMatch}, for resources whose entity tags contain more than id and revision. The rest changes without
 * edits, and no edit overwrites it.
 */
export function ifMatchRevision(field: string | undefined, { id, revision }: Revised): boolean {
  if (field === undefined || field.trim() === '*') return true;
  const start = `"${id}.${revision}`;
  return entityTags(field).some((tag) => tag === `${start}"` || tag.startsWith(`${start}.`));
}

/** The fields of a PUT that creates or changes a resource. */
export interface Conditions {
  readonly 'If-Match'?: string;
  /** `*`: the resource must be new. */
  readonly 'If-None-Match'?: string;
}

/**
 * Checks the conditions of a request that creates or changes a resource.
 * @param what the resource, such as `budget "checkout"`
 * @param matches whether the present resource matches an `If-Match`; undefined if there is none
 * @throws {ProblemError} precondition-failed
 */
export function requireConditions(
  { 'If-Match': expected, 'If-None-Match': absent }: Conditions,
  what: string,
  matches: ((field: string | undefined) => boolean) | undefined,
): void {
  if (matches === undefined) {
    if (expected !== undefined) throw failed(`There is no ${what}, so nothing matches If-Match.`);
  } else if (absent !== undefined) throw failed(`The ${what} exists, and the request has If-None-Match: *.`);
  else if (!matches(expected)) throw failed(`The ${what} has changed: If-Match does not match its current ETag.`);
}

/** The problem of a request without `If-Match` that would change what its sender may not have seen. */
export function preconditionRequired(detail: string): ProblemError {
  return new ProblemError('precondition-required', {
    detail,
    errors: [{ detail: 'is required', header: 'If-Match' }],
  });
}

function failed(detail: string): ProblemError {
  return new ProblemError('precondition-failed', { detail });
}

/** Whether an `If-None-Match` field contains the current entity tag (section 13.1.2; weak comparison). */
export function ifNoneMatch(field: string | undefined, etag: string): boolean {
  if (field === undefined) return false;
  return field.trim() === '*' || entityTags(field).some((tag) => tag.replace(/^W\//, '') === etag.replace(/^W\//, ''));
}

/** Entity tags here contain no blanks or quotes, so a full parser is not needed. */
function entityTags(field: string): string[] {
  return field.match(/(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g) ?? [];
}
