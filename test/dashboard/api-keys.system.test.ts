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

  it('get limits when they are created, and other ones later', async () => {
    const prompt = await service.call('POST', '/api/v1/prompts', {
      body: { name: 'Summarise a ticket', messages: [{ role: 'user', content: 'Hello' }] },
    });
    const place = { name: 'Canal Café', currency: 'EUR', time_zone: 'Europe/Amsterdam' };
    const location = await service.call('POST', '/v1/locations', { body: place });
    const page = await open('/api-keys/new');
    await page.getByLabel('Name').fill('Checkout');
    await page.getByLabel('prompts:invoke').check();
    await page.getByRole('combobox', { name: 'Prompts' }).click();
    await page.getByRole('option', { name: 'Summarise a ticket' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Locations' }).click();
    await page.getByRole('option', { name: 'Canal Café' }).click();
    await page.keyboard.press('Escape');
    const models = page.getByRole('combobox', { name: 'Models' });
    await models.fill('gpt-5');
    await models.press('Enter');
    await page.getByLabel('Output tokens').fill('1000');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('“gpt-5” is not a provider and a model').waitFor();
    await models.press('Backspace');
    await models.fill('echo/*');
    await models.press('Enter');
    await models.press('Escape');
    await page.getByRole('listbox').first().waitFor({ state: 'hidden' });
    await expectAccessible(page);
    await takeScreenshots(page, 'new-api-key-limits');
    await page.getByRole('button', { name: 'Create key' }).click();
    const key = await page.getByRole('textbox', { name: 'API key' }).inputValue();
    const limits = {
      prompts: [prompt.body.id],
      locations: [location.body.id],
      models: ['echo/*'],
      max_output_tokens: 1000,
    };
    expect((await service.call('GET', '/api/v1/whoami', { key })).body.limits).toEqual(limits);

    await page.getByRole('button', { name: 'I have saved the key' }).click();
    await row(page, 'Checkout').getByText('Only 1 prompt, 1 location, echo/*, and 1,000 output tokens').waitFor();
    await takeScreenshots(page, 'api-keys-limits');
    await page.getByRole('link', { name: 'Change Checkout' }).click();
    await page.getByLabel('Output tokens').fill('');
    await page.getByLabel('Requests per minute').fill('60');
    const tags = page.getByRole('combobox', { name: 'Tags' });
    await tags.fill('team=checkout');
    await tags.press('Enter');
    await expectAccessible(page);
    await takeScreenshots(page, 'api-key');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The key was changed.').waitFor();
    const { prompts, locations, models: patterns } = limits;
    expect((await service.call('GET', '/api/v1/whoami', { key })).body.limits).toEqual({
      prompts,
      locations,
      models: patterns,
      requests_per_minute: 60,
      tags: { team: 'checkout' },
    });
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
