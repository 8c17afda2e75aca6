/** The part of a list that an answer holds. */
export interface Page {
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

/**
 * The `Link: rel=next` field of a list answer (RFC 8288), when there is more.
 * @param count items in this page; may be less than the limit when a page ends early
 * @param filters query parameters to carry over
 */
export function nextPageLink(
  path: string,
  { total, limit, offset }: Page,
  count: number,
  filters: Readonly<Record<string, string | undefined>> = {},
): { Link?: string } {
  const next = offset + count;
  if (count === 0 || next >= total) return {};
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, value);
  query.set('limit', String(limit));
  query.set('offset', String(next));
  return { Link: `<${path}?${query.toString()}>; rel="next"` };
}
