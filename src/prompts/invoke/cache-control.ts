import type { CachePolicy } from '../generation/answers.ts';

/** The largest delta-seconds that a cache must distinguish (RFC 9111, section 1.2.2). */
const maxSeconds = 2 ** 31;

/**
 * Reads the request directives of a `Cache-Control` field (RFC 9111, sections 5.2 and 5.2.1).
 *
 * | Directive | Use a kept answer | Keep the fresh one |
 * |---|---|---|
 * | none of these | up to the service's default age, when it has one | when the service has a default age |
 * | `max-age=N` | up to N seconds old | yes |
 * | `no-cache` | no | yes |
 * | `no-store` | no | no |
 *
 * `only-if-cached` forbids calling the provider and can be combined with each of them. Alone it accepts an answer up to
 * the default age, or of any age if there is no default. The strictest wins: `no-store` over `no-cache` over `max-age`,
 * the smallest of several `max-age`. A missing argument, or one that is not a whole number, counts as 0, as section
 * 4.2.1 advises for invalid freshness. Names are case-insensitive and arguments can be quoted. Everything else (also
 * `max-stale`, `min-fresh` and `no-transform`) is ignored, even if malformed.
 *
 * @param field the field's value; several fields are joined by commas
 * @param defaultMaxAge age that invocations without directives accept, in seconds; 0 for none
 */
export function parseCacheControl(field: string | undefined, defaultMaxAge: number): CachePolicy {
  let maxAge: number | undefined;
  let noCache = false;
  let noStore = false;
  let onlyIfCached = false;
  for (const [name, argument] of field === undefined ? [] : directivesOf(field)) {
    if (name === 'max-age') maxAge = Math.min(maxAge ?? maxSeconds, deltaSeconds(argument));
    else if (name === 'no-cache') noCache = true;
    else if (name === 'no-store') noStore = true;
    else if (name === 'only-if-cached') onlyIfCached = true;
  }
  if (noStore) return { maxAgeMs: 0, store: false, onlyIfCached };
  if (noCache) return { maxAgeMs: 0, store: true, onlyIfCached };
  if (maxAge !== undefined) return { maxAgeMs: maxAge * 1000, store: true, onlyIfCached };
  if (defaultMaxAge > 0) return { maxAgeMs: defaultMaxAge * 1000, store: true, onlyIfCached };
  return { maxAgeMs: onlyIfCached ? Infinity : 0, store: false, onlyIfCached };
}

/** Splits at commas outside quoted strings, in linear time. */
function* directivesOf(field: string): Generator<readonly [name: string, argument: string | undefined]> {
  for (const [part] of field.matchAll(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g)) {
    const equals = part.indexOf('=');
    if (equals === -1) yield [part.trim().toLowerCase(), undefined];
    else yield [part.slice(0, equals).trim().toLowerCase(), part.slice(equals + 1).trim()];
  }
}

/** A number of seconds, quoted or not; larger numbers count as {@link maxSeconds}. */
function deltaSeconds(argument: string | undefined): number {
  const digits = /^(?:"(\d+)"|(\d+))$/.exec(argument ?? '');
  return digits === null ? 0 : Math.min(Number(digits[1] ?? digits[2]), maxSeconds);
}
