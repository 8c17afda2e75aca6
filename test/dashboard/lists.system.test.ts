import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startInvokeHarness, type InvokeHarness } from '../prompts/invoke/invoke-harness.ts';
import { createCatalog, createProduct } from '../orders/catalog/catalog-harness.ts';
import { createIntegration, sendTest } from '../webhooks/integrations/integrations-harness.ts';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { openSignedIn } from './support/sign-in.ts';

const longName = 'Summaries of everything that guests wrote to the restaurants of the group';
const browser = useBrowser();
let harness: InvokeHarness;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  harness = await startInvokeHarness({ environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  const { service } = harness;
  const slug = await harness.createPrompt({ name: longName });
  await harness.invoke(slug, { model: 'mock-400' });
  await service.call('PUT', '/api/v1/prices/mock/model-a', {
    body: { rates: [{ input: '0.000123', output: '1.37' }] },
  });
  await harness.invoke(slug, {});
  await service.createKey('prompts:read', 'prompts:invoke', 'orders:read');
  const { location, category } = await createCatalog(service, { name: longName });
  const banquet = await createProduct(service, category, { name: longName, price: 98_765_432 });
  await service.call('POST', '/v1/orders', {
    body: { location_id: location.id, items: [{ product_id: banquet.id, quantity: 9 }], reference_id: 'till-3-0042' },
  });
  await sendTest(service, await createIntegration(service, { name: longName, url: receiver.url }));
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

const open = (target: string): Promise<Page> => openSignedIn(browser, harness.service, target);
const row = (page: Page, index = 1) => page.getByRole('table').getByRole('row').nth(index);

const lists = [
  '/prompts',
  '/invocations',
  '/costs',
  '/deliveries',
  '/orders',
  '/locations',
  '/products',
  '/integrations',
  '/api-keys',
  '/audit-log',
];
/** What is cut in the cells of the table, whether the page is wider than its window, and the times of the table. */
const lookOfList = `(() => ({
  cut: [...document.querySelectorAll('main table :is(td, td *)')]
    .filter((part) => getComputedStyle(part).overflowX !== 'visible' && part.scrollWidth > part.clientWidth + 1)
    .map((part) => part.textContent),
  isWider: document.documentElement.scrollWidth > innerWidth,
  times: [...document.querySelectorAll('main table time')].map((time) => time.textContent),
}))()`;

describe('a list', () => {
  it('shows whole names and amounts, and exact times, on all screens', async () => {
    const page = await open('/prompts');
    for (const target of lists) {
      await page.goto(`/dashboard${target}`);
      await row(page).waitFor();
      await takeScreenshots(page, `list-${target.slice(1)}`);
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        // The navigation of the other width leaves.
        const { cut, times } = await until(
          () => page.evaluate(lookOfList) as Promise<{ cut: string[]; isWider: boolean; times: string[] }>,
          ({ isWider }) => !isWider,
        );
        expect({ target, width, cut }).toEqual({ target, width, cut: [] });
        for (const time of times) expect(time).toMatch(/^([A-Z][a-z]{2} \d\d, (\d{4}, )?)?\d\d:\d\d:\d\d$/);
        expect(times.length > 0 || target === '/costs').toBe(true);
      }
    }
  });

  it('has the problem of an invocation in a column of its own', async () => {
    const page = await open('/invocations?status=failed');
    await row(page).getByRole('cell', { name: 'provider-failed', exact: true }).waitFor();
    await row(page).getByRole('cell', { name: 'Failed', exact: true }).waitFor();
  });

  it('says on hover how long ago something was, and leads on from there', async () => {
    const page = await open('/deliveries');
    const time = row(page).getByRole('time');
    await time.hover({ trial: true });
    expect(await time.getAttribute('title')).toMatch(/^[A-Z].* [AP]M \(.* ago\)$/);
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      time.click({ modifiers: ['ControlOrMeta'] }),
    ]);
    await tab.waitForURL('**/dashboard/deliveries/*');
    await time.click();
    await page.waitForURL('**/dashboard/deliveries/*');
  });

  it('shows a tooltip to the keyboard, and as long as the pointer is on it', async () => {
    const page = await open('/integrations');
    const types = row(page).getByText(/^\d+ types?$/);
    const tooltip = page.getByRole('tooltip');
    await row(page).getByRole('link').focus();
    await page.keyboard.press('Tab');
    await tooltip.waitFor();
    await page.keyboard.press('Escape');
    await tooltip.waitFor({ state: 'detached' });
    await types.hover();
    await tooltip.waitFor();
    await tooltip.hover();
    await page.waitForTimeout(500);
    expect(await tooltip.isVisible()).toBe(true);
    await types.click();
    await page.getByRole('heading', { level: 1, name: longName }).waitFor();
  });
});

describe('the filters of a list on a phone', () => {
  it('are behind a button; those that are set are shown, and can be removed', async () => {
    const page = await openSignedIn(browser, harness.service, '/invocations?status=failed&label=none', { width: 390 });
    const filters = page.getByRole('search', { name: 'Filters' });
    await page.getByText('Nothing matches these filters.').waitFor();
    expect(await filters.getByRole('combobox').count()).toBe(0);
    await filters.getByRole('button', { name: 'Remove the filter Label: none' }).click();
    await page.waitForURL('**/invocations?status=failed');
    await row(page).waitFor();
    await filters.getByRole('button', { name: 'Filter', expanded: false, exact: true }).click();
    await filters.getByRole('combobox', { name: 'Status' }).selectOption('Succeeded');
    await filters.getByRole('button', { name: 'Remove the filter Status: Succeeded' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'filters-phone');
    await filters.getByRole('button', { name: 'Filter', expanded: true, exact: true }).click();
    expect(await filters.getByRole('combobox').count()).toBe(0);
    await filters.getByRole('button', { name: 'Clear filters' }).click();
    await page.waitForURL('**/invocations');
    expect(await filters.getByRole('button').count()).toBe(1);
  });

  it('are not folded if there is only one', async () => {
    const page = await openSignedIn(browser, harness.service, '/api-keys', { width: 390 });
    await page.getByRole('search').getByLabel('Status').selectOption('Active');
    await page.waitForURL('**/api-keys?status=active');
  });
});
