/** Why no TLS connection was made. */
export type TlsFailure =
  | 'certificate-self-signed'
  | 'certificate-expired'
  | 'certificate-not-yet-valid'
  | 'certificate-other-name'
  | 'certificate-unknown-issuer'
  | 'not-tls'
  | 'tls-failed';

/** Codes of Node.js and OpenSSL. */
const byCode: Readonly<Record<string, TlsFailure>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate-self-signed',
  CERT_HAS_EXPIRED: 'certificate-expired',
  CERT_NOT_YET_VALID: 'certificate-not-yet-valid',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate-other-name',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate-unknown-issuer',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate-unknown-issuer',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate-unknown-issuer',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate-unknown-issuer',
  CERT_UNTRUSTED: 'certificate-unknown-issuer',
  // What a server says that does not speak TLS is not a record of TLS.
  ERR_SSL_WRONG_VERSION_NUMBER: 'not-tls',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'not-tls',
  EPROTO: 'tls-failed',
};

/** @returns undefined for a code that is not about TLS */
export function tlsFailureOf(code: string): TlsFailure | undefined {
  return byCode[code] ?? (/^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_)/.test(code) ? 'tls-failed' : undefined);
}

const mostNames = 20;
/** The longest name in DNS. */
const longestName = 253;

/** The names of the certificate in an error that says that it is for other names: DNS names and addresses. */
export function certificateNamesOf(error: unknown): readonly string[] {
  if (typeof error !== 'object' || error === null || !('cert' in error)) return [];
  const { subjectaltname } = Object(error.cert) as { readonly subjectaltname?: unknown };
  if (typeof subjectaltname !== 'string') return [];
  return Array.from(subjectaltname.matchAll(/(?:DNS|IP Address):"?([^",]+)/g), ([, name = '']) => name)
    .slice(0, mostNames)
    .map((name) => name.slice(0, longestName));
}
