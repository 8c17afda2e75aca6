import { tlsFailureOf, type TlsFailure } from '../../base/outbound/tls-failure.ts';

/**
 * Why an attempt got no answer, or only a part of it. `aborted` is not a failure of the receiver: this service stopped.
 */
export type SendError =
  | 'target-refused'
  | 'name-not-found'
  | 'connection-refused'
  | 'unreachable'
  | 'connect-timeout'
  | TlsFailure
  | 'connection-lost'
  | 'timeout'
  | 'not-http'
  | 'head-too-large'
  | ProxyFailure
  | 'aborted'
  | 'other';

/** The proxy of this service failed, which says nothing about the receiver. */
export type ProxyFailure = 'proxy-unreachable' | 'proxy-credentials' | 'proxy-refused';

/** This machine could not open a connection, which says nothing about the receiver. */
export type NotSent = 'not-sent';

const byCode: Readonly<Record<string, SendError | NotSent>> = {
  TARGET_REFUSED: 'target-refused',
  ATTEMPT_TIMEOUT: 'timeout',
  ATTEMPT_ABORTED: 'aborted',
  UND_ERR_DESTROYED: 'aborted',
  UND_ERR_CLOSED: 'aborted',
  // There is no free file descriptor, for this process or for the whole machine.
  EMFILE: 'not-sent',
  ENFILE: 'not-sent',
  PROXY_UNREACHABLE: 'proxy-unreachable',
  PROXY_CREDENTIALS: 'proxy-credentials',
  PROXY_REFUSED: 'proxy-refused',
  ENOTFOUND: 'name-not-found',
  EAI_AGAIN: 'name-not-found',
  EAI_NODATA: 'name-not-found',
  EAI_FAIL: 'name-not-found',
  ENODATA: 'name-not-found',
  EBADNAME: 'name-not-found',
  ETIMEOUT: 'name-not-found',
  ESERVFAIL: 'name-not-found',
  EREFUSED: 'name-not-found',
  EFORMERR: 'name-not-found',
  EBADRESP: 'name-not-found',
  EBADFAMILY: 'name-not-found',
  ENOTIMP: 'name-not-found',
  ECONNREFUSED: 'connection-refused',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  UND_ERR_CONNECT_TIMEOUT: 'connect-timeout',
  ETIMEDOUT: 'connect-timeout',
  ANSWER_TOO_LONG: 'head-too-large',
  UND_ERR_HEADERS_OVERFLOW: 'head-too-large',
  ECONNRESET: 'connection-lost',
  EPIPE: 'connection-lost',
  UND_ERR_SOCKET: 'connection-lost',
  NOT_HTTP: 'not-http',
  // undici reports it for each mistake of a head that has a length.
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'not-http',
  // The name of an error of undici without a code.
  HTTPParserError: 'not-http',
};

/**
 * Whether an attempt failed because the proxy cannot be used, so it does not count against the receiver. What the proxy
 * refuses can be about the receiver.
 */
export function isOurs(error: SendError | undefined): boolean {
  return error === 'proxy-unreachable' || error === 'proxy-credentials';
}

/** Names an error of undici, a socket, TLS or this service. Its message is not stored, because it can quote the URL. */
export function sendErrorOf(error: unknown): SendError | NotSent {
  for (const code of codesOf(error)) {
    const word = byCode[code] ?? tlsFailureOf(code);
    if (word !== undefined) return word;
  }
  return 'other';
}

interface ErrorParts {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly errors?: readonly unknown[];
}

/** The codes and names of an error, its causes, and those of a connection that was attempted over several addresses. */
function codesOf(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return [];
  const { name, code, cause, errors = [] } = error as ErrorParts;
  return [...[code, name].filter((each) => typeof each === 'string'), ...errors.flatMap(codesOf), ...codesOf(cause)];
}
