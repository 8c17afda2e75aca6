import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { startAnother } from '../../support/per-operation.ts';
import { reservePort } from '../../support/ports.ts';
import { startTestService, type Answer, type CallOptions, type TestService } from '../../support/service.ts';
import { clientId, clientSecret, startIssuer, type TestIssuer } from './issuer-harness.ts';

/** A browser: it keeps cookies by host and port, and follows redirects. */
export interface Browser {
  /** By origin, then by name. */
  readonly cookies: Map<string, Map<string, string>>;
  /** Follows redirects, until an answer is none or leads to the path. */
  open(url: string, until?: RegExp): Promise<Visited>;
  /** Sends a form. */
  post(url: string, form: Record<string, string>): Promise<Visited>;
  /** Calls an operation as a page of the service does. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

/** The last answer that a browser got. */
export interface Visited {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Every address that it was at. */
  readonly path: readonly string[];
}

export interface PeopleSetup {
  readonly service: TestService;
  readonly issuer: TestIssuer;
  browser(to?: TestService): Browser;
  /** Signs a browser in. @returns it, and where it ended */
  signIn(browser?: Browser, query?: string): Promise<{ browser: Browser; visited: Visited }>;
  /** Signs somebody with these groups in, who is called like its subject. */
  signInAs(sub: string, ...groups: string[]): Promise<{ browser: Browser; id: string }>;
  /** The headers of a request that a page of the browser sends, also to another process. */
  pageHeaders(browser: Browser): Record<string, string>;
  /** Another process on the same database, with its own port and the same address for browsers. */
  startAnother(environment?: Record<string, string>): Promise<TestService>;
  /** Signs somebody in at another process, which has these settings. @returns the roles, or the status of a refusal */
  signInWith(environment: Record<string, string>, claims: object): Promise<unknown>;
}

const roles = { admins: 'administrator', devs: 'editor', ops: 'operator', readers: 'viewer' };

/** The settings of a service that people sign in to. */
export function oidcEnvironment(port: number, issuer: string): Record<string, string> {
  return {
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
    OIDC_ROLES: JSON.stringify(roles),
    OIDC_NAME: 'Example Corp',
    SECRETS_KEY: '07'.repeat(32),
  };
}

/** Starts an issuer and a service for the tests of a file. */
export function setUpPeople(
  environment: Record<string, string> = {},
  options: Omit<NonNullable<Parameters<typeof startTestService>[0]>, 'environment'> = {},
): PeopleSetup {
  let service: TestService | undefined;
  let issuer: TestIssuer | undefined;
  const others: TestService[] = [];
  let settings: Record<string, string> = {};
  const setup: PeopleSetup = {
    get service() {
      return started(service);
    },
    get issuer() {
      return started(issuer);
    },
    browser: (to = setup.service) => createBrowser(to),
    async signIn(browser = setup.browser(), query = '') {
      const visited = await browser.open(`${setup.service.url}/oidc/sign-in${query}`, /\/dashboard/);
      return { browser, visited };
    },
    async signInAs(sub, ...groups) {
      setup.issuer.account = { sub, name: sub, groups };
      const { browser } = await setup.signIn();
      return { browser, id: String((await browser.call('GET', '/api/v1/whoami')).body.id) };
    },
    pageHeaders(browser) {
      const session = browser.cookies.get(setup.service.url)?.get('prompt-gateway-session') ?? '';
      return { 'sec-fetch-site': 'same-origin', cookie: `prompt-gateway-session=${session}` };
    },
    async startAnother(more = {}) {
      const other = await startAnother(setup.service, { ...settings, PORT: '0', ...more }, options);
      others.push(other);
      return other;
    },
    async signInWith(environment, claims) {
      setup.issuer.account = { sub: 'pointed', name: 'P', ...claims };
      const other = await setup.startAnother(environment);
      const browser = setup.browser();
      const callback = await browser.open(`${other.url}/oidc/sign-in`, /\/oidc\/callback/);
      // Both processes have one address behind a load balancer. Here the browser changes ports, and keeps its cookie.
      const cookies = browser.cookies.get(other.url) ?? new Map<string, string>();
      const at = callback.url.replace(setup.service.url, other.url);
      browser.cookies.set(other.url, cookies);
      const { status } = await browser.open(at, /\/dashboard/);
      if (status !== 303) return status;
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const headers = { 'sec-fetch-site': 'same-origin', cookie };
      return (await other.call('GET', '/api/v1/whoami', { key: null, headers })).body.roles as unknown;
    },
  };
  beforeAll(async () => {
    const port = await reservePort();
    issuer = await startIssuer([`http://127.0.0.1:${port}/oidc/callback`]);
    settings = { ...oidcEnvironment(port, issuer.url), ...environment };
    service = await startTestService({ environment: settings, ...options });
  });
  beforeEach(() => {
    setup.issuer.tamper = undefined;
    setup.issuer.userInfoOnly = [];
    setup.issuer.account = { sub: 'ada', name: 'Ada', groups: ['devs'] };
  });
  afterAll(async () => {
    for (const other of others) await other.close();
    await service?.close();
    await issuer?.close();
  });
  return setup;
}

function started<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('only after beforeAll');
  return value;
}

function createBrowser(service: TestService): Browser {
  const cookies: Browser['cookies'] = new Map();
  const cookieOf = (url: string): string =>
    [...(cookies.get(new URL(url).origin) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
  const keep = (url: string, set: readonly string[]): void => {
    const { origin } = new URL(url);
    const jar = cookies.get(origin) ?? new Map<string, string>();
    cookies.set(origin, jar);
    for (const each of set) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      if (value === '' || /Max-Age=0|expires=Thu, 01 Jan 1970/i.test(each)) jar.delete(name);
      else jar.set(name, value);
    }
  };
  const visit = async (start: string, until: RegExp, form?: URLSearchParams): Promise<Visited> => {
    const path: string[] = [];
    for (let url = start; ;) {
      const sent = path.length === 0 && form !== undefined ? { method: 'POST', body: form } : {};
      path.push(url);
      const answer = await fetch(url, { redirect: 'manual', headers: { cookie: cookieOf(url) }, ...sent });
      keep(url, answer.headers.getSetCookie());
      const location = answer.headers.get('location');
      const text = await answer.text();
      const visited = { url, status: answer.status, headers: answer.headers, text, path };
      if (location === null || path.length > 20) return visited;
      url = new URL(location, url).href;
      if (until.test(url)) return { ...visited, url };
    }
  };
  return {
    cookies,
    open: (start, until = /^$/) => visit(start, until),
    post: (url, form) => visit(url, /^$/, new URLSearchParams(form)),
    async call(method, path, { headers = {}, ...more } = {}) {
      const sent = { 'sec-fetch-site': 'same-origin', cookie: cookieOf(service.url), ...headers };
      const answer = await service.call(method, path, { key: null, ...more, headers: sent });
      const set = answer.headers['set-cookie'];
      if (set !== undefined) keep(service.url, [set]);
      return answer;
    },
  };
}
