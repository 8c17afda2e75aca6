/** A token, `=`, and a token or a quoted string; the last two may be missing. */
const preference = /[ \t]*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^\s,;"]*))?)?[ \t]*/y;

/**
 * Whether a `Prefer` field (RFC 7240) contains `respond-async`. Other preferences, and parameters of this one, are
 * ignored. The rest after a syntax error is ignored too: a preference must never make a request fail.
 */
export function prefersAsync(field: string | undefined): boolean {
  if (field === undefined) return false;
  let startsPreference = true;
  for (let position = 0; position < field.length;) {
    preference.lastIndex = position;
    const [whole = '', name, value = ''] = preference.exec(field) ?? [];
    // An empty value is the same as no value (section 2).
    if (startsPreference && name?.toLowerCase() === 'respond-async' && (value === '' || value === '""')) return true;
    position += whole.length;
    const separator = field[position];
    if (separator !== ',' && separator !== ';') return false;
    startsPreference = separator === ',';
    position += 1;
  }
  return false;
}
