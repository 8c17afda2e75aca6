import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { setUpPeople } from '../access/people/people-harness.ts';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { createMovableClock } from '../support/clock.ts';

const browser = useBrowser();
const clock = createMovableClock();
const setup = setUpPeople({ SIGN_IN: 'oidc' }, { clock });

async function openSignedIn(target: string): Promise<Page> {
  setup.issuer.account = { sub: 'ada', name: 'Ada Lovelace', groups: ['admins'] };
  const page = await browser.open(setup.service.url, `/dashboard${target}`, { origins: [setup.issuer.url] });
  await page.getByRole('link', { name: 'Sign in with Example Corp' }).click();
  await page.getByRole('button', { name: 'Account: Ada Lovelace' }).waitFor();
  return page;
}

describe('signing in with an account', () => {
  it('leads through the issuer to the page that was asked for, and lasts', async () => {
    setup.issuer.account = { sub: 'ada', name: 'Ada Lovelace', groups: ['admins'] };
    const page = await browser.open(setup.service.url, '/dashboard/api-keys?status=active', {
      origins: [setup.issuer.url],
    });
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    const link = page.getByRole('link', { name: 'Sign in with Example Corp' });
    await link.waitFor();
    // SIGN_IN=oidc
    expect(await page.getByLabel('API key', { exact: true }).count()).toBe(0);
    await expectAccessible(page);
    await link.click();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    expect(page.url()).toBe(`${setup.service.url}/dashboard/api-keys?status=active`);
    await page.reload();
    await page.getByRole('button', { name: 'Account: Ada Lovelace' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    // The issuer asks whether to sign out there, too.
    await page.getByRole('button', { name: 'Yes, sign out' }).click();
    await link.waitFor();
  });

  it('ends the session that the browser had, also from a link on a page of another site', async () => {
    const page = await openSignedIn('/prompts');
    const sessionOf = async () =>
      (await page.context().cookies()).find(({ name }) => name === 'prompt-gateway-session')?.value ?? '';
    const before = await sessionOf();
    // The same machine by its other name, which is another site for browsers.
    const link = `${setup.service.url}/oidc/sign-in?to=%2Fdashboard%2Fproviders`;
    const site = 'http://localhost:9';
    const body = `<!doctype html><link rel="icon" href="data:,"><a href="${link}">Sign in to the gateway</a>`;
    await page.route(`${site}/`, (route) => route.fulfill({ contentType: 'text/html', body }));
    browser.tolerate(/request to another origin: http:\/\/localhost:9\//);
    await page.goto(`${site}/`);
    await page.getByRole('link', { name: 'Sign in to the gateway' }).click();
    await page.getByRole('heading', { level: 1, name: 'Providers' }).waitFor();
    expect(await sessionOf()).not.toBe(before);
    const headers = { 'sec-fetch-site': 'same-origin', cookie: `prompt-gateway-session=${before}` };
    expect((await setup.service.call('GET', '/api/v1/whoami', { key: null, headers })).status).toBe(401);
  });

  it('is in what needs attention while it is not possible', async () => {
    const page = await openSignedIn('/overview');
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const late = setup.browser();
    const { url } = await late.open(`${setup.service.url}/oidc/sign-in`, /\/oidc\/callback/);
    await setup.issuer.setUp(false);
    expect((await late.open(url)).status).toBe(503);
    await page.reload();
    await attention.getByText('Sign-in fails').waitFor();
    await attention.getByText(/Nobody can sign in with an account\. .* ECONNREFUSED/).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'overview-issuer-away');
    await setup.issuer.setUp(true);
    clock.advance(5_001);
    await attention.waitFor({ state: 'detached' });
  });

  it('says which groups may, and leads back', async () => {
    browser.tolerate(/status of 403/);
    setup.issuer.account = { sub: 'eve', name: 'Eve', groups: ['guests'] };
    const page = await browser.open(setup.service.url, '/dashboard', { origins: [setup.issuer.url] });
    await page.getByRole('link', { name: 'Sign in with Example Corp' }).click();
    await page.getByText('These groups may: "admins", "devs", "ops", "readers".').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await page.getByRole('link', { name: 'Sign in with Example Corp' }).waitFor();
  });
});

describe('the session of a person that ends', () => {
  it('asks to sign in over the page, which keeps what was typed', async () => {
    browser.tolerate(/status of 401/);
    const page = await openSignedIn('/api-keys/new');
    // The key does not end with the session.
    expect(await page.getByLabel('Expires').getByRole('option').first().textContent()).toBe('Never');
    await page.getByLabel('Name').fill('Typed before');
    await page.getByLabel('orders:read').check();
    const [person] = (await setup.service.call('GET', '/api/v1/people')).body.data as { id: string }[];
    await setup.service.call('POST', `/api/v1/people/${person?.id}/sign-out`);
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByText('This opens a new tab.').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'session-ended-account');
    const opened = page.context().waitForEvent('page');
    await dialog.getByRole('link', { name: 'Sign in with Example Corp' }).click();
    await (await opened).getByRole('button', { name: 'Account: Ada Lovelace' }).waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name').inputValue()).toBe('Typed before');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('heading', { level: 1, name: 'Save this key now' }).waitFor();
  });

  it('ends when the person is disabled, also on a page that is open', async () => {
    browser.tolerate(/status of 40[13]/);
    const page = await openSignedIn('/audit-log');
    await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
    const [person] = (await setup.service.call('GET', '/api/v1/people')).body.data as { id: string }[];
    const path = `/api/v1/people/${person?.id}`;
    await setup.service.call('PUT', path, { body: { disabled: true } });
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    const opened = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'Sign in with Example Corp' }).click();
    await (await opened).getByText('Your account is disabled in this service.').waitFor();
    await setup.service.call('PUT', path, { body: { disabled: false } });
  });

  it('ends 12 hours after the sign-in, also on a page that is open', async () => {
    browser.tolerate(/status of 401/);
    const page = await openSignedIn('/audit-log');
    await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
    clock.advance(12 * 3_600_000);
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  });
});
