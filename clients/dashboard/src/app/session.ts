import { AuthenticationError, type Schemas } from 'prompt-gateway-client';
import { gateway, serviceUrl } from './gateway.ts';

/** What a session is created from. */
export type Credentials = { api_key: string } | { sign_in_token: string };

/** The API key that the session stands for. */
export type CurrentKey = Awaited<ReturnType<typeof gateway.apiKeys.getCurrent>>;

/** A permission of an API key. */
export type Scope = Schemas['Scope'];

/** What is known of the session when the page opens. */
export type OpenedSession =
  | { status: 'signed-in'; key: CurrentKey }
  | { status: 'signed-out'; isLinkRefused?: boolean }
  | { status: 'failed'; error: unknown };

/** The service refused the key or the link. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** Remembers that there was a session. The cookie itself is hidden from scripts, and asking without it is an error. */
const markKey = 'prompt-gateway-session';

/**
 * Creates a session. The browser keeps its cookie.
 * @returns the key of the session
 * @throws RefusedError if the key or the token is not valid
 */
export async function createSession(credentials: Credentials): Promise<CurrentKey> {
  const response = await fetch(new URL('api/v1/session', serviceUrl), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(credentials),
  });
  if (!response.ok) {
    const problem = (await response.json().catch(() => ({}))) as { detail?: string };
    if (response.status === 401 || response.status === 400) throw new RefusedError(problem.detail);
    throw new Error(problem.detail ?? `${response.status}`);
  }
  localStorage.setItem(markKey, 'open');
  return await gateway.apiKeys.getCurrent();
}

/** Ends the session. */
export async function deleteSession(): Promise<void> {
  await fetch(new URL('api/v1/session', serviceUrl), { method: 'DELETE' });
  localStorage.removeItem(markKey);
}

/**
 * Takes the token of a sign-in link (`#sign-in=<token>`) out of the address at once, so that it stays in no history and
 * no screenshot.
 */
export function takeSignInToken(): string | undefined {
  const token = /^#sign-in=(.+)$/.exec(location.hash)?.[1];
  if (token !== undefined) history.replaceState(history.state, '', location.pathname + location.search);
  return token === undefined ? undefined : decodeURIComponent(token);
}

/** Finds out whether there is a session, and creates the one that a sign-in link asks for. Never fails. */
export async function openSession(signInToken: string | undefined): Promise<OpenedSession> {
  try {
    if (signInToken !== undefined) {
      return { status: 'signed-in', key: await createSession({ sign_in_token: signInToken }) };
    }
    if (localStorage.getItem(markKey) === null) return { status: 'signed-out' };
    return { status: 'signed-in', key: await gateway.apiKeys.getCurrent() };
  } catch (error) {
    if (error instanceof RefusedError) return { status: 'signed-out', isLinkRefused: true };
    if (error instanceof AuthenticationError) return { status: 'signed-out' };
    return { status: 'failed', error };
  }
}
