import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { defaultTiming } from '../../src/webhooks/timing.ts';
import { createWebhooks, type Webhooks } from '../../src/webhooks/webhooks.ts';
import { setBudget, usd } from '../accounting/budgets/budgets-harness.ts';
import { counting, statisticsPath, untilTotals } from '../accounting/statistics/statistics-harness.ts';
import { startInvokeHarness, type InvokeHarness } from '../prompts/invoke/invoke-harness.ts';
import { useBrowser } from '../support/browser.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { createIntegration, eventually, sendTest } from '../webhooks/integrations/integrations-harness.ts';
import { openSignedIn } from './support/sign-in.ts';

/** Deliveries get one attempt. */
const timing = { ...defaultTiming, schedule: [0] };

const browser = useBrowser();
let harness: InvokeHarness;
let receiver: Receiver;
let webhooks: Webhooks | undefined;
let slug: string;
let integrationId: string;

/** Traffic of all kinds. */
beforeAll(async () => {
  receiver = await startReceiver();
  harness = await startInvokeHarness({
    ...counting,
    createWebhooks: (dependencies) => (webhooks = createWebhooks({ ...dependencies, timing })),
  });
  const { service } = harness;
  slug = await harness.createPrompt();
  const cached = { 'Cache-Control': 'max-age=60' };
  for (let count = 0; count < 3; count += 1) await harness.invoke(slug, {}, cached);
  await harness.invoke(slug, { model: 'mock-400' });
  await harness.invoke(slug, { model: 'mock-503', fallbacks: [{ provider: 'spare', model: 'spare-a' }] });
  await service.call('PUT', '/api/v1/prices/mock/model-a', { body: { rates: [{ input: '2', output: '8' }] } });
  await harness.invoke(slug, {}, { 'X-Tags': 'team=checkout' });
  const providers = [
    { provider: 'mock', model: 'model-a' },
    { provider: 'spare', model: 'spare-a' },
  ];
  await service.call('POST', `/api/v1/prompts/${slug}/test`, { body: { providers } });
  const messages = [{ role: 'user', content: 'Hello' }];
  await service.call('POST', '/v1/chat/completions', { body: { model: 'mock/model-a', messages } });
  const batch = await harness.createPrompt();
  const { body: prompt } = await service.call('GET', `/api/v1/prompts/${batch}`);
  await setBudget(service, 'small', { scope: { prompt_id: prompt.id }, limit: usd('0.000001') });
  for (let count = 0; count < 2; count += 1) await harness.invoke(batch, {});

  const integration = await createIntegration(service, { name: 'Kitchen', url: receiver.url });
  integrationId = integration.path.slice(integration.path.lastIndexOf('/') + 1);
  await sendTest(service, integration);
  await sendTest(service, integration);
  await eventually(service, integration.path, ({ success_rate }) => success_rate === 1);
  receiver.next({ kind: 'answer', status: 500 });
  await sendTest(service, integration);
  await untilTotals(service, statisticsPath, { deliveries_succeeded: 2, deliveries_failed: 1 });
  await service.call('POST', `${integration.path}/pause`);
  await sendTest(service, integration);
  await webhooks?.measureBacklog();
  await until(
    () => service.call('GET', '/api/v1/budgets/small'),
    ({ body }) => body.current.refusing?.calls === 2,
  );
  const { body } = await service.call('GET', '/api/v1/invocations?limit=1');
  await untilTotals(service, statisticsPath, { invocations: body.pagination.total });
});
afterAll(async () => {
  await Promise.all([harness.close(), receiver.close()]);
});

/** What the list that opens must add up to: its rows, or its column of calls. */
type Sum = 'rows' | 'calls';

const figure = (name: string) => (page: Page) => page.getByRole('group', { name, exact: true }).getByRole('link');
const linkIn = (within: (page: Page) => Locator, name: RegExp) => (page: Page) =>
  within(page).getByRole('link', { name });
const row = (table: string, name: string | RegExp) => (page: Page) =>
  page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: name });
const main = (page: Page) => page.getByRole('main');

/** The number is in the link, or in a cell of its row. */
const numbers: readonly [screen: string, number: string, link: (page: Page) => Locator, sum: Sum, column?: string][] = [
  ['overview', 'invocations', linkIn(main, /^\d+$/), 'rows'],
  ['overview', 'cached', linkIn(main, /cached$/), 'rows'],
  [
    'overview',
    'failed invocations',
    linkIn((page) => page.getByRole('group', { name: 'Invocations' }), /failed$/),
    'rows',
  ],
  ['overview', 'delivered events', (page) => figure('Delivered events')(page).first(), 'rows'],
  ['overview', 'failed deliveries', (page) => figure('Delivered events')(page).last(), 'rows'],
  ['overview', 'waiting deliveries', (page) => figure('Waiting deliveries')(page).first(), 'rows'],
  ['prompts', 'calls', linkIn(main, /^\d+ calls$/), 'calls'],
  ['prompts', 'failed calls', linkIn(main, /failed calls?$/), 'calls'],
  [
    'prompts/SLUG/statistics',
    'a version',
    (page) => row('By version', 'Version 1')(page).getByRole('link').first(),
    'rows',
    'Invocations',
  ],
  [
    'prompts/SLUG/statistics',
    'failed',
    (page) => row('By version', 'Version 1')(page).locator('[data-label=Failed] a'),
    'rows',
  ],
  [
    'prompts/SLUG/statistics',
    'cached',
    (page) => row('By version', 'Version 1')(page).locator('[data-label=Cached] a'),
    'rows',
  ],
  ['prompts/SLUG/statistics', 'a key', linkIn(main, /^administrator$/), 'calls', 'Calls to providers'],
  ['providers?provider=mock', 'calls that succeeded', linkIn(main, /^\d+ succeeded$/), 'calls'],
  ['providers?provider=mock', 'calls that failed', linkIn(main, /^\d+ failed$/), 'calls'],
  ['costs', 'calls', figure('Calls'), 'calls'],
  ['costs', 'calls without a price', figure('Without a price'), 'calls'],
  ['costs', 'a model', (page) => row('By model', 'spare / spare-a')(page).getByRole('link').first(), 'calls', 'Calls'],
  ['costs?by=tag', 'a tag', linkIn(main, /^team=checkout$/), 'calls', 'Calls'],
  ['costs', 'refusals of a budget', linkIn(main, /^It has refused calls of \d+ invocations/), 'rows'],
  ['integrations/ID', 'delivered', linkIn(main, /^\d+ delivered$/), 'rows'],
  ['integrations/ID', 'failed', linkIn(main, /^\d+ failed$/), 'rows'],
  ['integrations/ID', 'waiting', figure('Waiting'), 'rows'],
];

const screens = [...Map.groupBy(numbers, ([screen]) => screen)];

describe('each number leads to exactly what it counts', () => {
  it.each(screens)('%s', async (screen, ofScreen) => {
    const path = screen.replace('SLUG', slug).replace('ID', integrationId);
    const page = await openSignedIn(browser, harness.service, `/${path}`, { apiKey: harness.service.adminKey });
    for (const [, number, find, sum, column] of ofScreen) {
      const link = find(page).first();
      await link.waitFor();
      const cell = link.locator('xpath=ancestor::tr').locator(`[data-label="${column}"]`);
      const count = numberIn(await (column === undefined ? link : cell).innerText());
      await link.click();
      await page.waitForURL(/\/(invocations|deliveries)\?/);
      const total = page.getByText(/^\d+ rows?$/);
      await total.waitFor();
      const shown = sum === 'rows' ? numberIn(await total.innerText()) : await sumOfCalls(page);
      expect([number, shown, count > 0]).toEqual([number, count, true]);
      await page.goBack();
    }
  });
});

async function sumOfCalls(page: Page): Promise<number> {
  const cells = await page.locator('[data-label=Calls]').allInnerTexts();
  return cells.map(numberIn).reduce((sum, count) => sum + count, 0);
}

function numberIn(text: string): number {
  return Number(/\d+/.exec(text)?.[0]);
}
