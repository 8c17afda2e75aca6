/** A quoted string, also one without an end, can contain commas. */
const quoted = /"(?:[^"\\]|\\[^]?)*"?/g;

/**
 * Whether a `Prefer` field (RFC 7240) contains `respond-async`. Other preferences, and parameters of this one, are
 * ignored. A syntax error is ignored too: a preference must never make a request fail.
 */
export function prefersAsync(field = ''): boolean {
  // An empty value is the same as no value (section 2).
  const plain = field.replace(quoted, (text) => (text === '""' ? '' : 'quoted'));
  return plain.split(',').some((preference) => /^[ \t]*respond-async[ \t]*(?:=[ \t]*)?(?:;|$)/i.test(preference));
}
