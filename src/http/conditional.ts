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

/** Whether an `If-None-Match` field contains the current entity tag (section 13.1.2; weak comparison). */
export function ifNoneMatch(field: string | undefined, etag: string): boolean {
  if (field === undefined) return false;
  return field.trim() === '*' || entityTags(field).some((tag) => tag.replace(/^W\//, '') === etag.replace(/^W\//, ''));
}

/** Entity tags here contain no blanks or quotes, so a full parser is not needed. */
function entityTags(field: string): string[] {
  return field.match(/(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g) ?? [];
}
