/** Shown instead of a value that looks like a credential. In a request it means the stored value. */
export const mask = '********';

/** Headers as plain text, by name. */
export type HeaderValues = Readonly<Record<string, string>>;

/** Headers that the service sets itself, or that define the framing or type of the message. In lower case. */
export const reservedHeaders: RegExp =
  /^(?:host|connection|expect|keep-alive|te|trailer|transfer-encoding|upgrade|user-agent|(?:content|proxy|x-service|webhook)-.*)$/;

/** What is wrong with a custom header. The sentence begins with its name. */
export interface HeaderMistake {
  readonly name: string;
  readonly detail: string;
}

/**
 * Finds headers that cannot be sent with deliveries: names that are not tokens (RFC 9110, section 5.6.2), are reserved
 * or differ only in case, and values that are not visible ASCII with inner blanks. A line feed in a value would begin
 * another header.
 */
export function findHeaderMistakes(headers: Readonly<Record<string, string>>): HeaderMistake[] {
  const seen = new Set<string>();
  const mistakes: HeaderMistake[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const lowerCase = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) mistakes.push({ name, detail: 'is not the name of a header' });
    else if (reservedHeaders.test(lowerCase)) mistakes.push({ name, detail: 'is set by the service itself' });
    else if (seen.has(lowerCase)) mistakes.push({ name, detail: 'differs from another name only in case' });
    else if (!/^[!-~]([ -~]*[!-~])?$/.test(value)) {
      mistakes.push({ name, detail: 'must have a value of visible ASCII characters, with spaces only between them' });
    }
    seen.add(lowerCase);
  }
  return mistakes;
}

const credentialNames = /auth|cookie|credential|jwt|key|pass|secret|session|signature|token/i;
const credentialValues = /^(basic|bearer|digest|token|aws4-hmac-sha256)\s/i;
/** Long and without spaces: unlikely to be written by a person. */
const looksRandom = /^(?=[^\s]*\d)(?=[^\s]*[A-Za-z])[\w+/=.~-]{24,}$/;

/** Whether the value of a header is masked when it is shown. Errs on the side of masking. */
export function looksLikeCredential(name: string, value: string): boolean {
  return credentialNames.test(name) || credentialValues.test(value) || looksRandom.test(value);
}
