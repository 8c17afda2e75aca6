import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { openSignedIn } from './support/sign-in.ts';

const browser = useBrowser();
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const open = (target: string): Promise<Page> => openSignedIn(browser, service, target);

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });

describe('API keys', () => {
  it('are created with scopes and an expiry, and shown once', async () => {
    const page = await open('/api-keys');
    await page.getByRole('link', { name: 'Create API key' }).first().click();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Enter a name.').waitFor();
    await page.getByText('Select at least one scope.').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Name').fill('Kitchen <b>display</b>');
    await page.getByLabel('orders:read').check();
    await page.getByLabel('Expires').selectOption({ label: 'In 30 days' });
    await takeScreenshots(page, 'new-api-key');
    await page.getByRole('button', { name: 'Create key' }).click();

    const field = page.getByRole('textbox', { name: 'API key' });
    const key = await field.inputValue();
    await expectAccessible(page);
    const { body } = await service.call('GET', '/api/v1/whoami', { key });
    expect(body).toMatchObject({ name: 'Kitchen <b>display</b>', scopes: ['orders:read'] });
    await page.getByRole('button', { name: 'I have saved the key' }).click();
    await row(page, 'Kitchen <b>display</b>').getByText('orders:read').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'api-keys');
  });

  it('are revoked after a question', async () => {
    await service.call('POST', '/api/v1/api-keys', { body: { name: 'Helpdesk', scopes: ['prompts:read'] } });
    const page = await open('/api-keys');
    await page.getByRole('button', { name: 'Revoke Helpdesk' }).click();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('“Helpdesk” is revoked.').waitFor();
    await row(page, 'Helpdesk').getByText('Revoked').waitFor();
    await page.getByLabel('Status').selectOption('active');
    await row(page, 'Helpdesk').waitFor({ state: 'detached' });
    expect(page.url()).toBe(`${service.url}/dashboard/api-keys?status=active`);
  });

  it('ask before what was typed is left', async () => {
    const page = await open('/api-keys/new');
    await page.getByLabel('Name').fill('Typed');
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Stay' }).click();
    expect(await page.getByLabel('Name').inputValue()).toBe('Typed');
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Leave' }).click();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
  });
});
