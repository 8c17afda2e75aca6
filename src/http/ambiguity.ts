import type { IncomingMessage } from 'node:http';

/**
 * Fields that a request can have only once, by the length of their names. This service would read the first of two, and
 * a proxy in front of it perhaps the last.
 */
const singletons: Readonly<Record<number, string>> = { 4: 'host', 12: 'content-type', 13: 'authorization' };
/** A host name or address and a port, without other separators (RFC 9112, section 3.2). */
const hostForm = /^[\w\-.~!$&'()*+,;=%:[\]]*$/;

/**
 * Finds requests that Node's parser accepts and HTTP/1.1 refuses (RFC 9112, sections 2.3, 3.2 and 6.1). Proxies may
 * understand them differently.
 * @returns what is wrong, for the caller
 */
export function findAmbiguity(request: IncomingMessage): string | undefined {
  const { httpVersion, headers, rawHeaders } = request;
  if (request.httpVersionMajor !== 1) return 'The request line must end with HTTP/1.1 or HTTP/1.0.';
  if (headers.host === undefined) {
    if (httpVersion === '1.1') return 'An HTTP/1.1 request needs a Host field.';
  } else if (!hostForm.test(headers.host)) return 'The Host field is not a host name.';
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion !== '1.1')) {
    return 'The service accepts only the transfer coding chunked, and only in HTTP/1.1.';
  }
  let seen = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const singleton = singletons[name.length];
    if (singleton === undefined || name.toLowerCase() !== singleton) continue;
    const bit = 1 << name.length;
    if ((seen & bit) !== 0) return `The field ${singleton} occurs more than once.`;
    seen |= bit;
  }
  return undefined;
}
