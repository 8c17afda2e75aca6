import type { Logger } from 'pino';
import type { PlainAnswer, PlainHandler, PlainRequest } from '../../http/pages/plain-page.ts';
import { hashSecret } from '../api-keys/api-keys.ts';
import type { RefusedKeys } from '../api-keys/refused-keys.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { transactionMs, type Oidc } from './oidc.ts';
import { SignInRefusal } from './sign-in-refusal.ts';

export interface OidcPagesOptions {
  readonly oidc: Oidc;
  readonly sessions: Pick<Sessions, 'opened' | 'end' | 'cookieOf'>;
  /** The address of the service, as browsers see it, without a slash at its end. */
  readonly publicUrl: string;
  /** Undefined if refused keys are not limited. */
  readonly refusedKeys: RefusedKeys | undefined;
  /** Whether nothing may be stored. */
  readonly isReadOnly: boolean;
  readonly log: Logger;
}

interface OidcPages {
  /** What a browser goes through when a person signs in, by path. */
  readonly pages: Readonly<Record<string, PlainHandler>>;
  /** What the issuer posts, by path. */
  readonly forms: Readonly<Record<string, PlainHandler>>;
}

export function oidcPages({ oidc, sessions, publicUrl, refusedKeys, isReadOnly, log }: OidcPagesOptions): OidcPages {
  const isSecure = publicUrl.startsWith('https:');
  const namePrefix = isSecure ? '__Host-prompt-gateway-oidc-' : 'prompt-gateway-oidc-';
  /** Each tab of a browser can have a sign-in of its own. */
  const nameFor = (state: string): string => namePrefix + hashSecret(state).slice(0, 16);
  // Lax: the browser comes back from a page of another site.
  const cookie = ({ name, value }: Cookie, maxAge: number): string =>
    `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly;${isSecure ? ' Secure;' : ''} SameSite=Lax`;
  const removing = ({ name }: Pick<Cookie, 'name'>): string => cookie({ name, value: '' }, 0);
  /** Removes the cookies of the oldest sign-ins that a browser has begun, if it keeps too many. */
  const removingOldest = (request: PlainRequest, added: Cookie): string[] => {
    const newestFirst = [added, ...cookiesOf(request, namePrefix).toReversed()];
    let length = 0;
    return newestFirst
      .filter(({ name, value }, index) => {
        length += name.length + value.length;
        return index >= mostSignIns || length > longestCookies;
      })
      .map(removing);
  };

  /** Whoever sends what is refused again and again has to wait, as with API keys. */
  const attempt = async (operation: string, request: PlainRequest, handle: PlainHandler): Promise<PlainAnswer> => {
    if (refusedKeys?.isExceeded(request) === true) throw await refusedKeys.problem(request);
    if (isReadOnly) {
      throw new SignInRefusal(503, 'Sign-in is not available', 'This process was started with READ_ONLY=on.');
    }
    return await handle(request).catch((error: unknown) => {
      if (error instanceof SignInRefusal) {
        const { status, message, reason = message } = error;
        log.warn({ request_id: request.requestId, operation, status, reason }, 'a sign-in or sign-out was refused');
        if (error.isCounted) refusedKeys?.count(request);
      }
      throw error;
    });
  };

  const answering =
    (operation: string, handle: PlainHandler): PlainHandler =>
    async (request) => {
      try {
        return await attempt(operation, request, handle);
      } catch (error) {
        if (!(error instanceof SignInRefusal)) throw error;
        const { status, title, message } = error;
        const links = [
          { text: 'Sign in again', href: `${publicUrl}/oidc/sign-in` },
          { text: 'Dashboard', href: `${publicUrl}/dashboard` },
        ];
        // Only that of this sign-in: others can go on.
        const own = cookiesOf(request, nameFor(stateOf(request)));
        return { status, page: { title, text: message, links }, headers: { 'set-cookie': own.map(removing) } };
      }
    };

  const goTo = (location: string, cookies: string[]): PlainAnswer => ({
    status: 303,
    headers: { location, 'set-cookie': cookies },
  });

  const pages: OidcPages['pages'] = {
    '/oidc/sign-in': answering('beginSignIn', async (request) => {
      const to = new URLSearchParams(request.search).get('to') ?? undefined;
      // Another site's link sends no cookie of a session, and the sign-in has to end that session. Our own page sends it.
      if (request.headers['sec-fetch-site'] === 'cross-site') {
        const again = `${publicUrl}/oidc/sign-in${to === undefined ? '' : `?to=${encodeURIComponent(to)}`}`;
        const page = { title: 'Sign in', text: 'The sign-in begins.', links: [{ text: 'Continue', href: again }] };
        return { status: 200, page, headers: { refresh: `0;url=${again}` } };
      }
      const { location, state, sealed } = await oidc.begin(to, sessions.opened(request));
      const begun = { name: nameFor(state), value: sealed };
      return goTo(location, [...removingOldest(request, begun), cookie(begun, transactionMs / 1_000)]);
    }),
    '/oidc/callback': answering('finishSignIn', async (request) => {
      const { requestId, traceparent, ip } = request;
      const author = { operationId: 'finishSignIn', requestId, traceparent, caller: { ip } };
      const name = nameFor(stateOf(request));
      const [own] = cookiesOf(request, name);
      const { person, session, to, former } = await oidc.finish(request.search, own?.value, author);
      if (former !== undefined) {
        const principal = { kind: 'person' as const, id: person.id, name: person.name, sessionId: session.id };
        await sessions.end(former, { ...author, operationId: 'deleteSession', principal });
      }
      const others = cookiesOf(request, namePrefix).flatMap((other) => {
        if (other.name === name) return [];
        const followed = oidc.follow(other.value, { id: session.id, isPersons: true });
        if (followed === undefined) return [removing(other)];
        return [cookie({ ...other, value: followed.sealed }, Math.ceil(followed.remainingMs / 1_000))];
      });
      // The page cannot see the cookie, so the address tells it.
      const cookies = [sessions.cookieOf(session, request), removing({ name }), ...others];
      return goTo(`${publicUrl}${to}#signed-in`, cookies);
    }),
  };
  const forms: OidcPages['forms'] = {
    '/oidc/back-channel-logout': async (request) => {
      const operation = 'backChannelLogout';
      try {
        return await attempt(operation, request, async ({ requestId, traceparent, ip, form, headers }) => {
          // Issuers are no browsers. Any page could let one send this, against its own address.
          if (headers.origin !== undefined || headers['sec-fetch-site'] !== undefined) throw ofBrowser;
          const author = { operationId: operation, requestId, traceparent, caller: { ip } };
          await oidc.signOut(form.get('logout_token') ?? '', author);
          return { status: 200 };
        });
      } catch (error) {
        if (!(error instanceof SignInRefusal)) throw error;
        // Back-Channel Logout 1.0, section 2.8.
        const code = error.status === 400 ? 'invalid_request' : 'temporarily_unavailable';
        return { status: error.status, json: { error: code, error_description: error.message } };
      }
    },
  };
  return { pages, forms };
}

const ofBrowser = new SignInRefusal(400, 'Not signed out', 'Browsers do not send logout tokens.', 'sent by a browser');

interface Cookie {
  readonly name: string;
  readonly value: string;
}

/** How many sign-ins a browser has under way at most. */
const mostSignIns = 5;
/** The most characters of their cookies, because servers refuse requests with long headers. */
const longestCookies = 4_000;

/** The cookies of a request whose names begin like this, the oldest first (RFC 6265, section 5.4). */
function cookiesOf({ headers }: PlainRequest, namePrefix: string): Cookie[] {
  const pairs = headers.cookie?.split(';').map((pair) => pair.trim()) ?? [];
  return pairs.flatMap((pair) => {
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(pair) ?? [];
    return name.startsWith(namePrefix) ? [{ name, value }] : [];
  });
}

function stateOf({ search }: PlainRequest): string {
  return new URLSearchParams(search).get('state') ?? '';
}
