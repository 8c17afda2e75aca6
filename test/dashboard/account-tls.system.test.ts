/** Signing in with an account behind a proxy that ends TLS, where the issuer is another site than the service. */
import { request as sendRequest } from 'node:http';
import { createServer, type Server } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startIssuer, type TestIssuer } from '../access/people/issuer-harness.ts';
import { oidcEnvironment } from '../access/people/people-harness.ts';
import { useBrowser } from '../support/browser.ts';
import { createSelfSigned } from '../support/certificates.ts';
import { reservePort } from '../support/ports.ts';
import { startTestService, type TestService } from '../support/service.ts';

const browser = useBrowser();
let issuer: TestIssuer;
let service: TestService;
let proxy: Server;
/** Where browsers see the service. */
let url: string;

/** Passes requests on, and says that they came over TLS. */
function createProxy(port: number): Server {
  return createServer(createSelfSigned(['127.0.0.1']), (request, response) => {
    const { method, url: path, headers, socket } = request;
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-for': socket.remoteAddress ?? '' };
    const onward = sendRequest(
      { host: '127.0.0.1', port, method, path, headers: { ...headers, ...forwarded } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
}

beforeAll(async () => {
  const [own, outer] = [await reservePort(), await reservePort()];
  url = `https://127.0.0.1:${outer}`;
  issuer = await startIssuer([`${url}/oidc/callback`]);
  const environment = { ...oidcEnvironment(own, issuer.url), PUBLIC_URL: url, TRUSTED_PROXIES: '127.0.0.0/8,::1/128' };
  service = await startTestService({ environment });
  proxy = createProxy(own);
  await new Promise<void>((resolve) => proxy.listen(outer, '127.0.0.1', resolve));
});
afterAll(async () => {
  proxy.closeAllConnections();
  await new Promise((resolve) => proxy.close(resolve));
  await service.close();
  await issuer.close();
});

const open = (target: string): Promise<Page> =>
  browser.open(url, `/dashboard${target}`, { origins: [issuer.url], trustsAll: true });
/** Those of the service; the issuer has the same host, and other names. */
const cookiesOf = async (page: Page): Promise<{ name: string }[]> =>
  (await page.context().cookies(url)).filter(({ name }) => name.includes('prompt-gateway'));
const link = (page: Page) => page.getByRole('link', { name: 'Sign in with Example Corp' });

describe('behind a proxy that ends TLS', () => {
  it('a person signs in, works and signs out, with a cookie that only this host gets', async () => {
    issuer.account = { sub: 'ada', name: 'Ada Lovelace', groups: ['admins'] };
    const page = await open('/api-keys/new');
    await link(page).click();
    await page.getByLabel('Name').fill('Made over TLS');
    expect(page.url()).toBe(`${url}/dashboard/api-keys/new`);
    expect(await cookiesOf(page)).toMatchObject([
      { name: '__Host-prompt-gateway', path: '/', secure: true, httpOnly: true, sameSite: 'Strict' },
    ]);
    await page.getByLabel('orders:read').check();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('heading', { level: 1, name: 'Save this key now' }).waitFor();
    const { body } = await service.call('GET', '/api/v1/audit-log?operation=createApiKey');
    expect(body.data[0]).toMatchObject({ author: { type: 'person', name: 'Ada Lovelace' }, address: '127.0.0.1' });
    await page.getByRole('button', { name: 'Account: Ada Lovelace' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    // The issuer asks whether to sign out there, too.
    await page.getByRole('button', { name: 'Yes, sign out' }).click();
    await link(page).waitFor();
    expect(new URL(page.url()).origin).toBe(url);
    expect(await cookiesOf(page)).toEqual([]);
  });

  it('a person without a role is told which groups may', async () => {
    browser.tolerate(/status of 403/);
    issuer.account = { sub: 'eve', name: 'Eve', groups: ['guests'] };
    const page = await open('');
    await link(page).click();
    await page.getByText('These groups may: "admins", "devs", "ops", "readers".').waitFor();
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await link(page).waitFor();
  });

  it('a session that ends is asked for again', async () => {
    browser.tolerate(/status of 401/);
    issuer.account = { sub: 'grace', name: 'Grace Hopper', groups: ['readers'] };
    const page = await open('/prompts');
    await link(page).click();
    await page.getByRole('button', { name: 'Account: Grace Hopper' }).waitFor();
    const people = (await service.call('GET', '/api/v1/people')).body.data as { id: string; name: string }[];
    const { id } = people.find(({ name }) => name === 'Grace Hopper') ?? { id: '' };
    await service.call('PUT', `/api/v1/people/${id}`, { body: { disabled: true } });
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  });
});
