import { maskUrl } from '../integrations/url-credentials.ts';

/** Limits of the response headers that are stored. */
const maxHeaders = 50;
const longestName = 200;
const longestValue = 1_000;

const namesUrl = new Set(['location', 'content-location']);

/** The headers of a response to store, by lower-case name. Cookies are left out, because they are credentials. */
export function keepHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Readonly<Record<string, string>> {
  const kept: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (kept.length === maxHeaders) break;
    if (value === undefined || name === 'set-cookie' || name.length > longestName) continue;
    const text = Array.isArray(value) ? value.join(', ') : value;
    // A redirect often repeats the query of the requested URL.
    kept.push([name, (namesUrl.has(name) ? maskUrl(text) : text).slice(0, longestValue)]);
  }
  return Object.fromEntries(kept);
}
