import { ProblemError, type ProblemDetail } from '../../base/errors/problem-error.ts';
import { findHeaderMistakes, looksLikeCredential, mask, type HeaderValues } from './custom-headers.ts';
import { headerRecord, type SealedHeader } from './integration.ts';
import { SecretUnreadableError, type SecretBox } from '../../base/secrets/secret-box.ts';
import { toStep } from '../../base/runtime/json-pointer.ts';

/**
 * Encrypts custom headers of a request. A masked value means the stored one. An equal value keeps its encrypted form,
 * so that sending the stored value again changes nothing.
 *
 * @param present the stored headers
 * @throws {ProblemError} header-not-allowed with a pointer to each wrong header
 */
export function sealHeaders(
  integrationId: string,
  sent: HeaderValues,
  present: readonly SealedHeader[],
  secrets: SecretBox,
): SealedHeader[] {
  const stored = new Map(present.map((header) => [header.name.toLowerCase(), header]));
  const errors: ProblemDetail[] = [];
  const refuse = (name: string, detail: string): void => {
    errors.push({ detail, pointer: pointerTo(name) });
  };
  for (const { name, detail } of findHeaderMistakes(sent)) refuse(name, detail);
  const sealed = Object.entries(sent).flatMap(([name, value]): SealedHeader[] => {
    const before = stored.get(name.toLowerCase());
    const known = before === undefined ? undefined : openHeader(integrationId, before, secrets);
    if (before !== undefined && known !== undefined && (value === mask || value === known)) {
      return [{ name, value: before.value }];
    }
    if (value === mask) {
      // A new integration must not send asterisks as a credential.
      const reason = before === undefined ? 'no value is stored for this name' : 'the stored value cannot be decrypted';
      refuse(name, `is ${mask}, but ${reason}: send the value`);
      return [];
    }
    return [{ name, value: secrets.seal(value, headerRecord(integrationId, name)) }];
  });
  if (errors.length === 0) return sealed;
  const count = errors.length === 1 ? '1 header is' : `${errors.length} headers are`;
  throw new ProblemError('header-not-allowed', { detail: `${count} not allowed.`, errors });
}

/**
 * Requires that credentials are sent again when the URL of an integration moves to another scheme, host or port.
 * Otherwise everyone who can change the URL could learn the stored ones.
 * @param sent undefined if the headers stay as they are
 * @throws {ProblemError} header-not-allowed that names the headers whose values must be sent
 */
export function requireCredentialsAgain(
  integrationId: string,
  sent: HeaderValues | undefined,
  present: readonly SealedHeader[],
  secrets: SecretBox,
): void {
  const isMasked = new Map(Object.entries(sent ?? {}).map(([name, value]) => [name.toLowerCase(), value === mask]));
  const errors = Object.entries(showHeaders(integrationId, present, secrets))
    .filter(([name, value]) => value === mask && (sent === undefined || isMasked.get(name.toLowerCase()) === true))
    .map(([name]) => ({
      detail: 'is stored for another scheme, host or port: send the value again, or leave the header out of headers',
      pointer: pointerTo(name),
    }));
  if (errors.length === 0) return;
  throw new ProblemError('header-not-allowed', {
    detail: 'Stored credentials are not sent to another scheme, host or port.',
    errors,
  });
}

/** Custom headers for answers. Values that look like credentials or cannot be decrypted are masked. */
export function showHeaders(
  integrationId: string,
  headers: readonly SealedHeader[],
  secrets: SecretBox,
): Record<string, string> {
  return Object.fromEntries(
    headers.map((header) => {
      const value = openHeader(integrationId, header, secrets);
      return [header.name, value === undefined || looksLikeCredential(header.name, value) ? mask : value];
    }),
  );
}

/** Undefined when the key is missing, so that an operator can still read and correct the integration. */
function openHeader(integrationId: string, { name, value }: SealedHeader, secrets: SecretBox): string | undefined {
  try {
    return secrets.open(value, headerRecord(integrationId, name));
  } catch (error) {
    if (error instanceof SecretUnreadableError) return undefined;
    throw error;
  }
}

function pointerTo(name: string): string {
  return `#/headers/${toStep(name)}`;
}
