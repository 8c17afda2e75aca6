import { describe, expect, it } from '@jest/globals';
import { setUpPeople } from '../access/people/people-harness.ts';
import { expectAccessible, useBrowser } from '../support/browser.ts';

const browser = useBrowser();
const setup = setUpPeople({ SIGN_IN: 'oidc' });

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
    await link.waitFor();
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
