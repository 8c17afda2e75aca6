/** People in the dashboard: who has signed in, what they made and did, and how they are signed out and disabled. */
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { setUpPeople, type Browser } from '../access/people/people-harness.ts';
import { expectAccessible, takeScreenshots, useBrowser, type OpenOptions } from '../support/browser.ts';
import { openSignedIn } from './support/sign-in.ts';

const browser = useBrowser();
const setup = setUpPeople();

const accounts = {
  ada: { sub: 'ada', name: 'Ada Lovelace', email: 'ada@example.com', groups: ['admins'] },
  grace: { sub: 'grace', name: 'Grace Hopper', email: 'grace@example.com', groups: ['devs', 'ops'] },
  eve: { sub: 'eve', name: 'eve', groups: ['readers'] },
};

let grace: Browser;
let graceId: string;
beforeAll(async () => {
  for (const account of [accounts.eve, accounts.ada, accounts.grace]) {
    setup.issuer.account = account;
    grace = (await setup.signIn()).browser;
  }
  graceId = String((await grace.call('GET', '/api/v1/whoami')).body.id);
  const messages = [{ role: 'user', content: 'Hello' }];
  const body = { name: 'Greeting', messages, selected_provider: 'echo' };
  const prompt = await grace.call('POST', '/api/v1/prompts', { body });
  await grace.call('POST', `/api/v1/prompts/${String(prompt.body.id)}/invoke`, { body: {} });
  const key = { name: 'Budget report', scopes: ['budgets:read', 'keys:manage'] };
  expect((await grace.call('POST', '/api/v1/api-keys', { body: key })).status).toBe(201);
});
beforeEach(() => {
  setup.issuer.account = accounts.ada;
});

/** Signs in at the issuer, and opens a screen. */
async function openAs(account: keyof typeof accounts, target: string, options: OpenOptions = {}): Promise<Page> {
  setup.issuer.account = accounts[account];
  const page = await browser.open(setup.service.url, `/dashboard${target}`, {
    ...options,
    origins: [setup.issuer.url],
  });
  await page.getByRole('link', { name: /Example Corp/ }).click();
  return page;
}

const statusOfGrace = async (): Promise<number> => (await grace.call('GET', '/api/v1/whoami')).status;

describe('people', () => {
  it('cannot disable themselves', async () => {
    const page = await openAs('ada', '/people');
    await page.getByRole('link', { name: 'Ada Lovelace' }).click();
    await page.getByRole('button', { name: 'Sign out everywhere' }).waitFor();
    expect(await page.getByRole('button', { name: 'Disable' }).count()).toBe(0);
  });

  it('are listed, with their roles', async () => {
    const page = await openAs('ada', '/people');
    await page.getByRole('heading', { level: 1, name: 'People' }).waitFor();
    const row = page.getByRole('row').filter({ hasText: 'Grace Hopper' });
    await row.getByText('Editor and Operator').or(row.getByText('Editor, Operator')).waitFor();
    await row.getByText('grace@example.com').waitFor();
    await page.getByRole('row').filter({ hasText: 'Ada Lovelace' }).getByText('You').waitFor();
    await page.getByRole('row').filter({ hasText: 'eve' }).getByText('Viewer').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'people');
    await row.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Grace Hopper' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'Budget report' }).waitFor();
    await page.getByText(setup.issuer.url).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'person');
  });

  it('are signed out everywhere, disabled and enabled, each after a question', async () => {
    setup.issuer.account = accounts.grace;
    await setup.signIn(grace);
    const page = await openSignedIn(browser, setup.service, `/people/${graceId}`);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await dialog.getByText('All sessions of the person end within 5 seconds.').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await statusOfGrace()).toBe(200);
    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await dialog.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByText('Grace Hopper is signed out.').waitFor();
    expect(await statusOfGrace()).toBe(401);

    await page.getByRole('button', { name: 'Disable' }).click();
    await dialog.getByText('API keys that the person made stay valid').waitFor();
    await takeScreenshots(page, 'person-disable');
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Grace Hopper is disabled.').waitFor();
    await page.getByText('Disabled', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Sign out everywhere' }).count()).toBe(0);
    setup.issuer.account = accounts.grace;
    expect((await setup.signIn(grace)).visited.status).toBe(403);

    await page.getByRole('button', { name: 'Enable' }).click();
    await dialog.getByRole('button', { name: 'Enable' }).click();
    await page.getByText('Grace Hopper can sign in again.').waitFor();
    await setup.signIn(grace);
    expect(await statusOfGrace()).toBe(200);
  });

  it('are in the audit log when they were refused, with the reason', async () => {
    setup.issuer.account = { sub: 'mallory', name: 'Mallory', groups: ['guests'] };
    expect((await setup.signIn()).visited.status).toBe(403);
    const page = await openSignedIn(browser, setup.service, '/audit-log');
    const row = page.getByRole('row').filter({ hasText: 'Mallory' });
    await row.getByText('Sign-in refused').waitFor();
    await row.getByText('in no group with a role').waitFor();
    await row.getByText('Example Corp').waitFor();
    // There is no page of somebody who has never signed in.
    expect(await row.getByRole('link', { name: 'Mallory' }).count()).toBe(0);
    await takeScreenshots(page, 'audit-log-refused');
  });

  it('have keys, each of which is revoked on their page', async () => {
    const page = await openSignedIn(browser, setup.service, `/people/${graceId}`);
    await page.getByRole('button', { name: 'Revoke Budget report' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row').filter({ hasText: 'Budget report' }).getByText('Revoked').waitFor();
    await page.goto('/dashboard/api-keys');
    await page.getByRole('row').filter({ hasText: 'Budget report' }).getByText('made by Grace Hopper').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'api-keys-of-people');
    await page.getByRole('link', { name: 'Grace Hopper' }).click();
    await page.getByRole('heading', { level: 1, name: 'Grace Hopper' }).waitFor();
  });

  it('lose all keys that they made in one step', async () => {
    const another = await grace.call('POST', '/api/v1/api-keys', {
      body: { name: 'Nightly', scopes: ['keys:manage'] },
    });
    const key = String(another.body.key);
    const led = { name: 'Led to', scopes: ['keys:manage'] };
    expect((await setup.service.call('POST', '/api/v1/api-keys', { key, body: led })).status).toBe(201);
    const page = await openSignedIn(browser, setup.service, `/people/${graceId}`);
    await page.getByRole('row').filter({ hasText: 'Nightly' }).getByText('Active').waitFor();
    await page.getByRole('button', { name: 'Revoke all keys' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This cannot be undone.').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'person-revoke-keys');
    await dialog.getByRole('button', { name: 'Revoke all keys' }).click();
    await page.getByText('API keys that were revoked: 2.').waitFor();
    await page.getByRole('row').filter({ hasText: 'Nightly' }).getByText('Revoked').waitFor();
    expect((await setup.service.call('GET', '/api/v1/whoami', { key })).status).toBe(401);
  });

  it('are named by the audit log and the invocations, which can be filtered by them', async () => {
    const page = await openAs('ada', `/people/${graceId}`);
    await page.getByRole('link', { name: 'Changes in the audit log' }).click();
    const filter = page.getByRole('combobox', { name: 'Who' });
    await page.getByRole('row').filter({ hasText: 'Prompt created' }).getByText('Grace Hopper').waitFor();
    await filter.getByRole('option', { name: 'Grace Hopper (grace@example.com)' }).waitFor({ state: 'attached' });
    expect(await filter.inputValue()).toBe(graceId);
    await page
      .getByRole('row')
      .filter({ hasText: 'Person' })
      .getByRole('link', { name: 'Grace Hopper' })
      .first()
      .waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'audit-log-person');
    await page.goto('/dashboard/invocations');
    await page.getByRole('row').filter({ hasText: 'greeting' }).getByText('Grace Hopper').waitFor();
    await page.getByRole('combobox', { name: 'Caller' }).selectOption({ label: 'Ada Lovelace (ada@example.com)' });
    await page.getByText('Nothing matches').waitFor();
  });

  it('have budgets, and are named by budgets and costs, also for somebody who may not read people', async () => {
    const page = await openAs('ada', '/costs/budgets/new');
    await page.getByRole('textbox', { name: 'Name' }).fill('grace');
    await page.getByRole('combobox', { name: 'Calls that count' }).selectOption({ label: 'Of a person or an API key' });
    await page.getByRole('combobox', { name: 'Person or API key' }).click();
    await page.getByText('Keys that the person or the key created count, too.').waitFor();
    await page.getByRole('option', { name: 'Grace Hopper (grace@example.com)' }).click();
    await page.getByRole('textbox', { name: 'Limit', exact: true }).fill('5');
    await expectAccessible(page);
    await takeScreenshots(page, 'budget-of-person');
    await page.getByRole('button', { name: 'Create budget' }).click();
    const card = (of: Page) => of.getByRole('listitem', { name: 'grace' });
    await card(page).getByText('Person').waitFor();
    await card(page).getByRole('link', { name: 'Grace Hopper' }).click();
    await page.getByRole('heading', { level: 1, name: 'Grace Hopper' }).waitFor();
    await page.goto('/dashboard/costs?by=key');
    await page.getByRole('table', { name: 'By caller' }).getByRole('link', { name: 'Grace Hopper' }).waitFor();

    const viewer = await openAs('eve', '/costs?by=key', { locale: 'de-AT' });
    await viewer.getByRole('table', { name: 'Nach Aufrufer' }).getByRole('link', { name: 'Grace Hopper' }).waitFor();
    await card(viewer).getByText('Person').waitFor();
    await card(viewer).getByRole('link', { name: 'Grace Hopper' }).click();
    await viewer.waitForURL(`**/invocations?author_id=${graceId}`);
  });

  it('see their name and roles in the account menu, and no people without the scope', async () => {
    const page = await openAs('grace', '/overview');
    await page.getByRole('button', { name: 'Account: Grace Hopper' }).click();
    const menu = page.getByRole('menu');
    await menu.getByText(/Editor.*Operator/).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'account-menu');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('link', { name: 'People', exact: true }).count()).toBe(0);
    await page.goto('/dashboard/people');
    await page.getByText('You do not have the scope people:manage.').waitFor();
  });

  it('are shown in German, and on phones', async () => {
    const page = await openAs('ada', '/people', { locale: 'de-AT', width: 390 });
    await page.getByRole('heading', { level: 1, name: 'Personen' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'Grace Hopper' }).getByRole('link').waitFor();
    await expectAccessible(page);
    await page.goto(`/dashboard/people/${graceId}`);
    await page.getByText('Bearbeiten und Betreiben').or(page.getByText('Bearbeiten, Betreiben')).waitFor();
    await expectAccessible(page);
  });
});
