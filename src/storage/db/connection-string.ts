/**
 * The parts of a MongoDB connection string that this service looks at itself. The driver parses the rest.
 * https://www.mongodb.com/docs/manual/reference/connection-string/
 */

/**
 * Options that decide whether acknowledged writes are safe and reads are current. Only the service sets them. The
 * driver prefers `w` and `journal` of the URI to those set in code, so they are removed from the URI.
 */
const SERVICE_OWNED = new Set([
  'w',
  'j',
  'journal',
  'fsync',
  'wtimeout',
  'wtimeoutms',
  'safe',
  'readpreference',
  'readpreferencetags',
  'maxstalenessseconds',
  'readconcernlevel',
  'retrywrites',
  'retryreads',
  'timeoutms', // has no effect in the driver and prints a warning
]);

/** The connection string without the options that the service decides itself, and the names of the options left in it. */
export function withoutServiceOwnedOptions(uri: string): { uri: string; options: ReadonlySet<string> } {
  const start = uri.indexOf('?');
  if (start === -1) return { uri, options: new Set() };
  const kept = uri
    .slice(start + 1)
    .split('&')
    .filter((option) => option !== '' && !SERVICE_OWNED.has(optionName(option)));
  const base = uri.slice(0, start);
  return { uri: kept.length === 0 ? base : `${base}?${kept.join('&')}`, options: new Set(kept.map(optionName)) };
}

/** The hosts of a connection string, for messages: never user, password or options. */
export function hostsOf(uri: string): string {
  // The hosts follow the last `@`: a password with a character that should have been encoded can contain a `/`.
  const start = uri.includes('@') ? uri.lastIndexOf('@') + 1 : uri.indexOf('://') + 3;
  const hosts = /^[^/?#]*/.exec(uri.slice(start))?.[0] ?? '';
  return hosts === '' ? 'the configured address' : hosts;
}

/** A message about a connection string, unless it repeats a part of its user name or password. */
export function withoutCredentials(message: string, uri: string): string {
  const credentials = uri.slice(uri.indexOf('://') + 3, uri.lastIndexOf('@') + 1).split(/[:@/?#]/);
  const repeated = credentials.some((part) => part !== '' && message.includes(part));
  return repeated
    ? 'it cannot be parsed (characters such as : / ? # @ in a password must be percent-encoded)'
    : message;
}

function optionName(option: string): string {
  return (option.split('=', 1)[0] ?? '').toLowerCase();
}
