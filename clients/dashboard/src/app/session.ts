import { AuthenticationError, BadRequestError, type Schemas } from 'prompt-gateway-client';
import { gateway, serviceUrl } from './gateway.ts';

/** What a session is created from. */
export type Credentials = { api_key: string } | { sign_in_token: string };

/** The person, or the API key that the session stands for. */
export type CurrentKey = Schemas['CurrentApiKey'];

/** How people sign in here. */
export type SignInWays = Schemas['SignInWays'];

/** A permission of an API key. */
export type Scope = Schemas['Scope'];

/** What is known of the session when the page opens. */
export type OpenedSession =
  | { status: 'signed-in'; key: CurrentKey }
  | { status: 'signed-out'; isLinkRefused?: boolean }
  | { status: 'failed'; error: unknown };

/** Remembers that there was a session. The cookie itself is hidden from scripts, and asking without it is an error. */
const markKey = 'prompt-gateway-session';

/** The value is new each time, so that other tabs learn of it. */
function rememberSession(): void {
  localStorage.setItem(markKey, String(Date.now()));
}

/**
 * Creates a session. The browser keeps its cookie.
 * @returns the key of the session
 * @throws GatewayError; see `isRefused`
 */
export async function createSession(credentials: Credentials): Promise<CurrentKey> {
  const { api_key: key } = await gateway.sessions.create(credentials);
  rememberSession();
  return key;
}

/** Calls back when another tab of the browser ends the session, or begins one. Returns a function that ends this. */
export function onSessionElsewhere(listener: (change: 'signed-out' | 'signed-in') => void): () => void {
  const listen = ({ key, newValue }: StorageEvent): void => {
    if (key === markKey) listener(newValue === null ? 'signed-out' : 'signed-in');
  };
  addEventListener('storage', listen);
  return () => {
    removeEventListener('storage', listen);
  };
}

/** Whether the key or the token is not valid. What can be no key has another status than an unknown key. */
export function isRefused(error: unknown): boolean {
  return (
    (error instanceof AuthenticationError || error instanceof BadRequestError) && error.operation === 'sessions.create'
  );
}

/** Ends the session. @returns where to sign out at the identity provider, too */
export async function deleteSession(): Promise<string | undefined> {
  const { continue_at: next } = await gateway.sessions.delete();
  localStorage.removeItem(markKey);
  return next;
}

/**
 * Takes the token of a sign-in link (`#sign-in=<token>`) out of the address at once, so that it stays in no history and
 * no screenshot.
 */
export function takeSignInToken(): string | undefined {
  const token = /^#sign-in=(.*)$/.exec(location.hash)?.[1];
  if (token !== undefined) history.replaceState(history.state, '', location.pathname + location.search);
  return token;
}

/** Remembers the session of a person who comes back from the identity provider, which the address says (`#signed-in`). */
export function takeSignedIn(): void {
  if (location.hash !== '#signed-in') return;
  rememberSession();
  history.replaceState(history.state, '', location.pathname + location.search);
}

/** How people sign in here. The page asks for a key if the service does not say. */
export async function readSignInWays(): Promise<SignInWays> {
  try {
    return (await gateway.service.getInfo()).sign_in;
  } catch {
    return { api_key: true };
  }
}

/** Where the browser goes to sign in with an account, and back to this page. */
export function accountSignInUrl({ path }: { path: string }): string {
  const [here = ''] = location.href.slice(serviceUrl.length - 1).split('#');
  return `${serviceUrl}${path.slice(1)}?${new URLSearchParams({ to: here }).toString()}`;
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
    if (isRefused(error)) {
      // The link may have signed in this browser before.
      const before = await openSession(undefined);
      return before.status === 'signed-out' ? { ...before, isLinkRefused: true } : before;
    }
    return error instanceof AuthenticationError ? { status: 'signed-out' } : { status: 'failed', error };
  }
}
