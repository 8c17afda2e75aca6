/**
 * Why a try got no HTTP status. `aborted` says nothing about the receiver: this service gave up, because it is being
 * stopped.
 */
export type SendError =
  | 'timeout'
  | 'connect-timeout'
  | 'name-not-found'
  | 'connection-refused'
  | 'unreachable'
  | 'connection-lost'
  | 'tls-failed'
  | 'not-http'
  | 'target-refused'
  | 'aborted';

const byCode: Readonly<Record<string, SendError>> = {
  TARGET_REFUSED: 'target-refused',
  TRY_TIMEOUT: 'timeout',
  TRY_ABORTED: 'aborted',
  UND_ERR_DESTROYED: 'aborted',
  UND_ERR_CLOSED: 'aborted',
  UND_ERR_CONNECT_TIMEOUT: 'connect-timeout',
  ETIMEDOUT: 'connect-timeout',
  ENOTFOUND: 'name-not-found',
  EAI_AGAIN: 'name-not-found',
  EAI_NODATA: 'name-not-found',
  ECONNREFUSED: 'connection-refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ECONNRESET: 'connection-lost',
  EPIPE: 'connection-lost',
  UND_ERR_SOCKET: 'connection-lost',
  UND_ERR_HEADERS_OVERFLOW: 'not-http',
  EPROTO: 'tls-failed',
};

/** Names an error of undici, a socket, TLS or this service. Its message is not kept: it can quote the URL. */
export function failureWord(error: unknown): SendError {
  for (const each of [error, ...parts(error)]) {
    const code = each instanceof Error && 'code' in each ? String(each.code) : '';
    const word = byCode[code];
    if (word !== undefined) return word;
    if (code.startsWith('HPE_')) return 'not-http';
    if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/.test(code)) return 'tls-failed';
  }
  return 'connection-lost';
}

/** A connection that was tried over several addresses fails with all their errors. */
function parts(error: unknown): unknown[] {
  if (error instanceof AggregateError) return error.errors as unknown[];
  return error instanceof Error && error.cause !== undefined ? [error.cause, ...parts(error.cause)] : [];
}
