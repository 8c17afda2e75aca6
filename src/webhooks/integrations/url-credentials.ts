import { looksLikeCredential, mask } from './custom-headers.ts';

/** Names of query parameters that contain credentials, in addition to those of headers. */
const credentialNames = /^(code|hmac|pin|pw|pwd|sid|sig)$/i;

/** A query parameter as it is written. Without `=` all of it is the value. */
interface Parameter {
  /** What precedes the value. */
  readonly prefix: string;
  readonly value: string;
}

/** A URL for answers: values of its query that look like credentials are masked. */
export function maskUrl(url: string): string {
  return mapQuery(url, ({ prefix, value }) => {
    const [name, text] = [decode(prefix.slice(0, -1)), decode(value)];
    const isCredential = value !== '' && (credentialNames.test(name) || looksLikeCredential(name, text));
    return isCredential ? prefix + mask : prefix + value;
  });
}

/**
 * Replaces masked values by the stored ones, for parameters of the same name in their order, so that a URL can be sent
 * back as it was shown. Values stored for one origin are not put into a URL of another, because everyone who can change
 * the URL could learn them.
 *
 * @param stored undefined for a new integration
 * @returns undefined if a masked value has no stored one
 */
export function unmaskUrl(sent: string, stored: string | undefined): string | undefined {
  const known = new Map<string, string[]>();
  const note = ({ prefix, value }: Parameter): string => {
    known.set(prefix, [...(known.get(prefix) ?? []), value]);
    return prefix + value;
  };
  if (stored !== undefined && hasSameOrigin(stored, sent)) mapQuery(stored, note);
  let isComplete = true;
  const url = mapQuery(sent, ({ prefix, value }) => {
    const before = known.get(prefix)?.shift();
    if (decode(value) !== mask) return prefix + value;
    if (before === undefined) isComplete = false;
    return prefix + (before ?? '');
  });
  return isComplete ? url : undefined;
}

/** Whether two URLs have the same scheme, host and port. */
export function hasSameOrigin(one: string, other: string): boolean {
  return URL.parse(one)?.origin === URL.parse(other)?.origin;
}

function mapQuery(url: string, map: (parameter: Parameter) => string): string {
  const [beforeFragment = '', ...fragment] = url.split('#');
  const start = beforeFragment.indexOf('?') + 1;
  if (start === 0) return url;
  const parameters = beforeFragment
    .slice(start)
    .split('&')
    .map((text) => {
      const valueAt = text.indexOf('=') + 1;
      return map({ prefix: text.slice(0, valueAt), value: text.slice(valueAt) });
    });
  return [beforeFragment.slice(0, start) + parameters.join('&'), ...fragment].join('#');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
