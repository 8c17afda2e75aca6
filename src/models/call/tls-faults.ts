import { certificateNamesOf, tlsFailureOf, type TlsFailure } from '../../base/outbound/tls-failure.ts';

const faults: Readonly<Record<TlsFailure, string>> = {
  'certificate-self-signed': 'its certificate is self-signed; if it is right, add it with NODE_EXTRA_CA_CERTS',
  'certificate-unknown-issuer':
    'nobody who is trusted has issued its certificate; let it send its intermediate certificates, or add its authority with NODE_EXTRA_CA_CERTS',
  'certificate-expired': 'its certificate has expired; it must be renewed',
  'certificate-not-yet-valid': 'its certificate is not valid yet; check the clocks',
  'certificate-other-name': 'its certificate is for another name',
  'not-tls': 'its port does not speak TLS; check the port, and http or https',
  'tls-failed': 'the TLS handshake failed',
};

/**
 * Why TLS prevented a connection, and what to do, as the end of a sentence.
 * @param code of `error`
 * @returns undefined if it is not about TLS
 */
export function tlsFaultOf(code: string | undefined, error: unknown): string | undefined {
  const failure = code === undefined ? undefined : tlsFailureOf(code);
  if (failure === undefined) return undefined;
  const names = certificateNamesOf(error);
  return faults[failure] + (names.length === 0 ? '' : `: ${names.join(', ')}`);
}
