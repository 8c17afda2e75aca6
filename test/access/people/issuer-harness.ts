import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, decodeJwt, type JWK, type JWTPayload } from 'jose';
import Provider, { type ClientAuthMethod, type Configuration } from 'oidc-provider';
import { reservePort } from '../../support/ports.ts';

export const clientId = 'gateway';
export const clientSecret = 'EXAMPLE-not-a-real-secret-EXAMPLE-0123456789';

type SigningKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

/** Who the issuer knows, and what it says of them. */
export interface Account {
  readonly sub: string;
  readonly [claim: string]: unknown;
}

/** What is sent in place of an answer of the issuer. */
export interface Tampered {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A certified issuer on a port of its own, whose answers a test can replace. */
export interface TestIssuer {
  readonly url: string;
  /** Who signs in next, without being asked. */
  account: Account;
  /** Claims that only the userinfo endpoint has. */
  userInfoOnly: readonly string[];
  /** Replaces an answer; undefined leaves it. */
  tamper: ((path: string, answer: Required<Tampered>) => Promise<Tampered | undefined> | undefined) | undefined;
  /** Signs with the key of the issuer, or another one. */
  sign(claims: JWTPayload, header?: { alg?: string; kid?: string; typ?: string }, key?: SigningKey): Promise<string>;
  /** The answer of the token endpoint with other claims in its ID token, signed with the key of the issuer. */
  reissue(answer: Required<Tampered>, change: (claims: JWTPayload) => JWTPayload): Promise<Tampered>;
  /** Requests that it got, as `GET /path`. */
  readonly requests: string[];
  /** How the client showed its secret at the token endpoint. */
  readonly authentications: ClientAuthMethod[];
  /** Stops or starts answering. */
  setUp(isUp: boolean): Promise<void>;
  close(): Promise<void>;
}

/** @param redirectUris of the one client @param authentication its `token_endpoint_auth_method` */
export async function startIssuer(
  redirectUris: string[],
  more: Configuration = {},
  authentication: ClientAuthMethod = 'client_secret_basic',
): Promise<TestIssuer> {
  const port = await reservePort();
  const url = `http://127.0.0.1:${port}`;
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk: JWK = { ...(await exportJWK(privateKey)), kid: 'first', alg: 'RS256', use: 'sig' };
  const issuer: TestIssuer = {
    url,
    account: { sub: 'ada', name: 'Ada', groups: ['devs'] },
    userInfoOnly: [],
    tamper: undefined,
    requests: [],
    authentications: [],
    sign: (claims, header = {}, key = privateKey) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'first', ...header }).sign(key),
    async reissue({ body }, change) {
      const tokens = JSON.parse(body) as { id_token: string };
      const id_token = await issuer.sign(change(decodeJwt(tokens.id_token)));
      return { body: JSON.stringify({ ...tokens, id_token }) };
    },
    async setUp(isUp) {
      if (isUp) await listen(outer, port);
      else await close(outer);
    },
    async close() {
      await Promise.all([close(outer), close(inner)]);
    },
  };

  const provider = new Provider(url, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        token_endpoint_auth_method: authentication,
        redirect_uris: redirectUris,
        backchannel_logout_uri: redirectUris[0]?.replace('/callback', '/back-channel-logout'),
        backchannel_logout_session_required: true,
        post_logout_redirect_uris: redirectUris.map((uri) => uri.replace('/oidc/callback', '/dashboard')),
      },
    ],
    jwks: { keys: [jwk] as never },
    cookies: { keys: ['test'] },
    conformIdTokenClaims: false,
    claims: {
      openid: ['sub', 'sid'],
      profile: ['name', 'preferred_username', 'groups', 'realm_access', 'roles', 'hasgroups', '_claim_names', 'hd'],
      email: ['email'],
    },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: (use: string) => {
        const known = issuer.account.sub === sub ? issuer.account : { sub };
        const kept = Object.entries(known).filter(
          ([name]) => use === 'userinfo' || !issuer.userInfoOnly.includes(name),
        );
        return Object.fromEntries(kept) as Account;
      },
    }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    async loadExistingGrant(context) {
      // Another one would end the codes of other tabs.
      const known = context.oidc.session?.grantIdFor(clientId);
      const found = known === undefined ? undefined : await provider.Grant.find(known);
      if (found !== undefined) return found;
      const grant = new provider.Grant({ clientId, accountId: context.oidc.session?.accountId ?? '' });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: true, logoutSource: confirmLogout },
      backchannelLogout: { enabled: true },
    },
    // Its own client refuses to send anything to the loopback.
    fetch(address, options = {}) {
      const { dispatcher: _, ...sent } = options;
      return fetch(address, sent);
    },
    pkce: { required: () => true },
    ttl: { AccessToken: 600, AuthorizationCode: 60, IdToken: 3_600, Interaction: 600, Session: 600, Grant: 600 },
    ...more,
  });
  provider.proxy = true;
  const handle = provider.callback();
  const inner = createServer((request, response) => {
    if (request.url?.startsWith('/interaction/') !== true) {
      void handle(request, response);
      return;
    }
    const result = { login: { accountId: issuer.account.sub } };
    void provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  });
  const innerPort = await listen(inner, 0);
  const outer = createServer((request, response) => {
    void forward(issuer, innerPort, request, response);
  });
  await listen(outer, port);
  return issuer;
}

/** The page that asks whether to sign out. */
function confirmLogout(context: { body: unknown }, form: string): void {
  context.body = `<!doctype html>${form}<button form="op.logoutForm" name="logout" value="yes">Yes, sign out</button>`;
}

async function forward(
  issuer: TestIssuer,
  port: number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '').replace(/\?.*/, '');
  // Browsers ask for it.
  if (path === '/favicon.ico') {
    response.writeHead(204).end();
    return;
  }
  issuer.requests.push(`${request.method} ${path}`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || ['host', 'connection', 'content-length', 'transfer-encoding'].includes(name)
      ? []
      : [[name, String(value)]],
  );
  if (path === '/token') issuer.authentications.push(authenticationOf(request, Buffer.concat(chunks).toString()));
  const answer = await fetch(`http://127.0.0.1:${port}${request.url}`, {
    method: request.method ?? 'GET',
    headers: [...headers, ['x-forwarded-host', new URL(issuer.url).host], ['x-forwarded-proto', 'http']],
    redirect: 'manual',
    ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
  });
  const { 'set-cookie': _, ...fields } = Object.fromEntries(answer.headers);
  const whole = { status: answer.status, headers: fields as Record<string, string>, body: await answer.text() };
  const sent = { ...whole, ...(await issuer.tamper?.(path, whole)) };
  const { 'content-length': __, 'transfer-encoding': ___, connection: ____, ...kept } = sent.headers;
  response.writeHead(sent.status, { ...kept, 'set-cookie': answer.headers.getSetCookie() });
  response.end(sent.body);
}

function authenticationOf({ headers }: IncomingMessage, body: string): ClientAuthMethod {
  if (headers.authorization !== undefined) return 'client_secret_basic';
  const form = new URLSearchParams(body);
  if (form.has('client_assertion')) return 'client_secret_jwt';
  return form.has('client_secret') ? 'client_secret_post' : 'none';
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as { port: number }).port;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
