import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { openShop } from '../orders/orders-harness.ts';
import { openSignedIn } from './support/sign-in.ts';

const browser = useBrowser();
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe('the audit log', () => {
  it('says who changed what, and leads to all changes of a resource', async () => {
    const path = '/api/v1/prompts';
    const anyState = { 'If-Match': '*' };
    const messages = [{ role: 'user', content: 'Summarise this ticket' }];
    const { body } = await service.call('POST', path, { body: { name: 'Summarise a ticket', messages } });
    await service.call('PUT', `${path}/${body.id}`, {
      body: {
        name: 'Summarise <b>tickets</b>',
        messages: [{ role: 'user', content: 'Summarise {{ticket}}' }],
        note: 'The ticket is a variable now',
      },
    });
    await service.call('PUT', `${path}/${body.id}/labels/production`, { body: { version: 2 } });
    await service.call('PUT', `${path}/${body.id}/labels/production`, { body: { version: 1 }, headers: anyState });
    const shop = await openShop(service);
    await service.call('PUT', `/v1/products/${shop.coffee.id}`, { body: { price: 450 }, headers: anyState });
    const moved = {
      name: 'Kitchen display',
      url: 'https://kitchen.example.com/',
      event_types: ['ORDER_PLACED'],
      unsigned: true,
      location_ids: [shop.location.id],
    };
    await service.call('POST', '/api/v1/integrations', { body: moved });
    const scope = { prompt_id: body.id };
    for (const amount of ['5', '7.5']) {
      const limit = { amount, currency: 'USD' };
      await service.call('PUT', '/api/v1/budgets/tickets', { body: { scope, limit, period: 'month' } });
    }
    const rates = [{ input: '1.5', output: '6' }];
    await service.call('PUT', '/api/v1/prices/echo/our-own', { body: { rates } });
    const page = await openSignedIn(browser, service, '/audit-log');
    const row = (name: string) => page.getByRole('row').filter({ hasText: name });
    await row('Prompt changed').getByTitle('Summarise <b>tickets</b>').waitFor();
    await row('Prompt changed').getByText('Values not recorded: messages').waitFor();
    await row('Label moved').getByText('“production” now names version 2').waitFor();
    await row('Label moved').getByText('“production” moved from version 2 to version 1').waitFor();
    await row('Price set').getByText('$1.50 in, $6.00 out, per million tokens').waitFor();
    await row('Product changed').getByText('€4.20 → €4.50').waitFor();
    await row('Product changed')
      .getByRole('link', { name: String(shop.coffee.body.name) })
      .waitFor();
    await row('Integration created').getByRole('link', { name: 'Kitchen display' }).waitFor();
    await row('Budget set').getByText('$5.00 → $7.50').waitFor();
    await row('Price set').getByText('echo/our-own').waitFor();
    await row('Signed in').getByText('administrator').waitFor();
    await page
      .getByRole('combobox', { name: 'Who' })
      .getByRole('option', { name: 'The service' })
      .waitFor({ state: 'attached' });
    await expectAccessible(page);
    await takeScreenshots(page, 'audit-log');
    await row('Price set').getByRole('link', { name: 'echo/our-own' }).click();
    await page.getByRole('heading', { level: 1, name: 'Price of echo / our-own' }).waitFor();
    await page.goBack();
    await row('Label moved').getByRole('link', { name: 'Summarise <b>tickets</b>' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Summarise <b>tickets</b>' }).waitFor();
    await page.goBack();
    await row('Label moved').getByRole('link', { name: 'All its changes' }).first().click();
    await row('Price set').waitFor({ state: 'detached' });
    await row('Prompt created').waitFor();
    await page.getByRole('button', { name: 'Clear' }).first().click();
    await page.getByLabel('Resource').selectOption({ label: 'Price' });
    await row('Price set').waitFor();
    await row('Prompt created').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Account: administrator' }).click();
    await page.getByRole('menuitemradio', { name: 'Deutsch' }).click();
    await row('Preis festgelegt').waitFor();
    await page.goto('/dashboard/audit-log');
    await row('„production“ von Version 2 auf Version 1 verschoben').waitFor();
    await takeScreenshots(page, 'audit-log-german');
    await page.goto(`/dashboard/prompts/${body.id}/history`);
    await row('Version 2').getByText('administrator').waitFor();
    await takeScreenshots(page, 'versions-with-authors');
  });
});
