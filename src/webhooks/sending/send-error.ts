/**
 * Why a try got no answer, or not all of it. `aborted` says nothing about the receiver: this service gave up, because
 * it is being stopped.
 */
export type SendError =
  | 'address-not-allowed'
  | 'name-not-resolved'
  | 'connection-failed'
  | 'tls-failed'
  | 'connection-closed'
  | 'timeout'
  | 'other'
  | 'aborted';

const byCode: Readonly<Record<string, SendError>> = {
  TARGET_REFUSED: 'address-not-allowed',
  TRY_TIMEOUT: 'timeout',
  TRY_ABORTED: 'aborted',
  UND_ERR_DESTROYED: 'aborted',
  UND_ERR_CLOSED: 'aborted',
  ENOTFOUND: 'name-not-resolved',
  EAI_AGAIN: 'name-not-resolved',
  EAI_NODATA: 'name-not-resolved',
  EAI_FAIL: 'name-not-resolved',
  UND_ERR_CONNECT_TIMEOUT: 'connection-failed',
  ETIMEDOUT: 'connection-failed',
  ECONNREFUSED: 'connection-failed',
  EHOSTUNREACH: 'connection-failed',
  ENETUNREACH: 'connection-failed',
  EADDRNOTAVAIL: 'connection-failed',
  EPROTO: 'tls-failed',
  ECONNRESET: 'connection-closed',
  EPIPE: 'connection-closed',
  UND_ERR_SOCKET: 'connection-closed',
};

/** Names an error of undici, a socket, TLS or this service. Its message is not kept: it can quote the URL. */
export function sendErrorOf(error: unknown): SendError {
  for (const code of codesOf(error)) {
    const word = byCode[code];
    if (word !== undefined) return word;
    if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/.test(code)) return 'tls-failed';
  }
  return 'other';
}

/** The codes of an error, its causes, and those of a connection that was tried over several addresses. */
function codesOf(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return [];
  const { code, cause, errors = [] } = error as { code?: unknown; cause?: unknown; errors?: unknown[] };
  return [...(typeof code === 'string' ? [code] : []), ...errors.flatMap(codesOf), ...codesOf(cause)];
}
