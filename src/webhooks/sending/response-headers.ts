import { maskUrl } from '../../integrations/url-credentials.ts';

/** Headers of a response that are kept, so many and so long at most. */
const maxHeaders = 50;
const longestName = 200;
const longestValue = 1_000;

const namesUrl = new Set(['location', 'content-location']);

/** What to keep of a response's headers, by lower-case name. Cookies are left out: they are credentials. */
export function keepHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Readonly<Record<string, string>> {
  const kept: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (kept.length === maxHeaders) break;
    if (value === undefined || name === 'set-cookie' || name.length > longestName) continue;
    const text = Array.isArray(value) ? value.join(', ') : value;
    // A redirect often repeats the query of the URL that it answers.
    kept.push([name, (namesUrl.has(name) ? maskUrl(text) : text).slice(0, longestValue)]);
  }
  return Object.fromEntries(kept);
}
