import { SecretUnreadableError, type Sealed, type SecretBox } from '../../base/secrets/secret-box.ts';
import type { PageRequest } from './page-origin.ts';

/** What the cookie of a session contains, sealed. */
export type Session = KeySession | PersonCookie;

/** What names a session. */
export type SessionName = Pick<Session, 'id' | 'isPersons'>;

/** The session of a person: all else is in its document. */
export interface PersonCookie {
  readonly id: string;
  readonly isPersons: true;
}

/** The session of a key. Times are in milliseconds since the epoch. */
export interface KeySession {
  /** Stays the same when the session is renewed. */
  readonly id: string;
  readonly isPersons?: never;
  /** When it was created. Absent in cookies of earlier releases. */
  readonly beganAt?: number;
  readonly keyId: string;
  /** A hash of the hash of the key's secret. A key with the same id and another secret does not continue the session. */
  readonly keyProof: string;
  readonly startedAt: number;
  readonly endsAt: number;
}

/** What the sealed text is for: no other sealed text can be used as a cookie, and no cookie as another one. */
const purpose = 'sessions/cookie';

export function sealSession(session: Session, box: SecretBox): Sealed {
  return box.seal(JSON.stringify(session), purpose);
}

/** @returns undefined if the text is not a cookie that this service sealed, or its key is not configured */
export function openSession(sealed: string, box: SecretBox): Session | undefined {
  try {
    return JSON.parse(box.open(sealed as Sealed, purpose)) as Session;
  } catch (error) {
    if (error instanceof SecretUnreadableError) return undefined;
    throw error;
  }
}

/**
 * The values of the cookies of a request that can be a session. Over HTTPS only the name counts that other hosts of the
 * domain cannot set. Over HTTP they can, so there can be several.
 */
export function readCookies(request: PageRequest): string[] {
  const start = `${nameFor(request)}=`;
  const pairs = request.headers.cookie?.split(';').map((pair) => pair.trim()) ?? [];
  return [...new Set(pairs.filter((pair) => pair.startsWith(start)).map((pair) => pair.slice(start.length)))];
}

/** `Set-Cookie` (RFC 6265bis). @param maxAge seconds; 0 removes the cookie */
export function writeCookie(value: string, maxAge: number, request: PageRequest): string {
  const secure = isSecure(request) ? ' Secure;' : '';
  return `${nameFor(request)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly;${secure} SameSite=Strict`;
}

function nameFor(request: PageRequest): string {
  return isSecure(request) ? '__Host-prompt-gateway' : 'prompt-gateway-session';
}

function isSecure({ protocol }: PageRequest): boolean {
  return protocol === 'https';
}
