import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible, useBrowser } from '../support/browser.ts';
import { startAnother } from '../support/per-operation.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { openSignedIn, signIn } from './support/sign-in.ts';

const browser = useBrowser();
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const open = (target: string, apiKey = service.adminKey): Promise<Page> =>
  openSignedIn(browser, service, target, { apiKey });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

describe('signing in', () => {
  it('says that a key is not valid, and keeps it in the field', async () => {
    browser.tolerate(/status of 401/);
    const page = await browser.open(service.url, '/dashboard');
    await signIn(page, 'unknown-key');
    await page.getByText('This key is not valid.').waitFor();
    expect(await page.getByLabel('API key', { exact: true }).inputValue()).toBe('unknown-key');
    await expectAccessible(page);
  });

  it('leads to the page that was asked for, and lasts', async () => {
    const page = await open('/api-keys?status=active');
    await heading(page, 'API keys').waitFor();
    await page.reload();
    await heading(page, 'API keys').waitFor();
    expect(page.url()).toBe(`${service.url}/dashboard/api-keys?status=active`);
  });

  it('takes the token of a link out of the address, and says that it is no longer valid', async () => {
    browser.tolerate(/status of 401/);
    const page = await browser.open(service.url, '/dashboard/#sign-in=used-token');
    await page.getByText('This sign-in link is no longer valid.').waitFor();
    expect(page.url()).toBe(`${service.url}/dashboard/`);
  });
});

describe('what a key sees', () => {
  it('has no entry for what it may not do, and a page that is refused says why and offers nothing', async () => {
    const page = await open('/api-keys', await service.createKey('catalog:read'));
    await heading(page, 'API keys').waitFor();
    await page.getByText('keys:manage').waitFor();
    expect(await page.getByRole('main').getByRole('button').or(page.getByRole('main').getByRole('link')).count()).toBe(
      0,
    );
    expect(await page.getByRole('navigation').getByRole('link', { name: 'API keys' }).count()).toBe(0);
  });

  it('has no “Try again” for what is missing', async () => {
    browser.tolerate(/status of 404/);
    const page = await open('/orders/00000000-0000-4000-8000-000000000000');
    await page.getByRole('alert').getByText('Order not found').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });
});

describe('signing out', () => {
  it('ends the session', async () => {
    const page = await open('/api-keys');
    await heading(page, 'API keys').waitFor();
    await page.getByRole('button', { name: 'Account: administrator' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading(page, 'Sign in').waitFor();
    await page.reload();
    await heading(page, 'Sign in').waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });

  it('says where it is not possible, and the session goes on', async () => {
    browser.tolerate(/status of 403/);
    const copy = await startAnother(service, { READ_ONLY: 'on' });
    const page = await openSignedIn(browser, copy, '/api-keys');
    await page.getByRole('button', { name: 'Account: administrator' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('alert').filter({ hasText: 'This process was started with READ_ONLY=on.' }).waitFor();
    await expectAccessible(page);
    await page.reload();
    await heading(page, 'API keys').waitFor();
    await page.close();
    await copy.close();
  });

  it('hides what other tabs show', async () => {
    const page = await open('/api-keys');
    const other = await page.context().newPage();
    await other.goto('/dashboard/api-keys');
    await heading(other, 'API keys').waitFor();
    await page.getByRole('button', { name: 'Account: administrator' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading(other, 'Sign in').waitFor();
    expect(await heading(other, 'API keys').count()).toBe(0);
    await signIn(other, service.adminKey);
    await heading(other, 'API keys').waitFor();
  });
});

describe('a session that is lost', () => {
  it('asks to sign in over the page, which keeps what was typed', async () => {
    browser.tolerate(/status of 401/);
    const page = await open('/api-keys/new');
    await page.getByLabel('Name').fill('Typed before');
    await page.getByLabel('orders:read').check();
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await expectAccessible(page);
    await signIn(page, service.adminKey);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name').inputValue()).toBe('Typed before');
    await page.getByRole('button', { name: 'Create key' }).click();
    await heading(page, 'Save this key now').waitFor();
  });

  it('is noticed when the key is revoked', async () => {
    browser.tolerate(/status of 401/);
    const key = await service.createKey('keys:manage');
    const page = await open('/api-keys', key);
    const { body } = await service.call('GET', '/api/v1/whoami', { key });
    const { id } = body as { id: string };
    await service.call('POST', `/api/v1/api-keys/${id}/revoke`);
    await page.getByLabel('Status').selectOption('revoked');
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  });
});
