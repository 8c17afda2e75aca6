import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { defaultTiming } from '../../src/webhooks/timing.ts';
import { createWebhooks, type Webhooks } from '../../src/webhooks/webhooks.ts';
import { createIntegration, eventually, sendTest } from '../webhooks/integrations/integrations-harness.ts';
import {
  counting,
  createGreeting,
  greet,
  statisticsPath,
  untilTotals,
} from '../accounting/statistics/statistics-harness.ts';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { signIn } from './support/sign-in.ts';

const providerKey = 'EXAMPLE-key-of-a-provider';
/** Deliveries get one attempt, and one failure pauses the receiver. */
const timing = {
  ...defaultTiming,
  schedule: [0],
  breaker: { failures: 1, firstOpen: 600_000, longestOpen: 600_000 },
};

const browser = useBrowser();
let service: TestService;
let webhooks: Webhooks | undefined;
let receiver: Receiver;
let broken: Receiver;
beforeAll(async () => {
  [receiver, broken] = await Promise.all([startReceiver(), startReceiver()]);
  broken.always({ kind: 'answer', status: 503 });
  service = await startTestService({
    ...counting,
    environment: { ...counting.environment, OPENAI_API_KEY: providerKey },
    createWebhooks: (dependencies) => (webhooks = createWebhooks({ ...dependencies, timing })),
  });
});
afterAll(async () => {
  await service.close();
  await Promise.all([receiver.close(), broken.close()]);
});

/** Opens a path of the dashboard, signed in, with a clock that `later` can set forward. */
async function open(path: string, key = service.adminKey): Promise<Page> {
  const page = await browser.open(service.url, `/dashboard/${path}`);
  await page.clock.install();
  await signIn(page, key);
  return page;
}

/** Sets the clock of the page forward, so that it reads everything again. */
const later = (page: Page): Promise<void> => page.clock.fastForward(10_000);

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

async function create(path: string, body: object): Promise<void> {
  expect((await service.call('POST', path, { body })).status).toBe(201);
}

describe('the overview', () => {
  it('shows first steps, then what the service does and what needs attention', async () => {
    const page = await open('');
    await heading(page, 'Overview').waitFor();
    const steps = page.getByRole('region', { name: 'First steps' });
    await steps.getByText('0 of 4 done').waitFor();
    expect(await page.getByRole('figure').count()).toBe(0);
    await expectAccessible(page);
    await takeScreenshots(page, 'first-steps');
    await steps.getByRole('link', { name: 'Create integration' }).click();
    await heading(page, 'Create integration').waitFor();
    await page.goBack();

    const kitchen = await createIntegration(service, { name: 'Kitchen', url: receiver.url });
    const greeting = await createGreeting(service);
    await later(page);
    await steps.getByText('2 of 4 done').waitFor();
    expect(await steps.getByText('Done', { exact: true }).count()).toBe(2);
    await create('/v1/locations', { name: 'Harbour', time_zone: 'Europe/Berlin', currency: 'EUR' });
    await create('/api/v1/api-keys', { name: 'Shop', scopes: ['prompts:invoke'] });
    await later(page);
    await steps.waitFor({ state: 'detached' });
    await page.getByRole('figure', { name: 'Invocations' }).getByText('No data in this period').waitFor();
    await page.getByText('Nothing needs attention.').waitFor();

    await greet(service, greeting);
    await greet(service, greeting);
    await greet(service, greeting, {});
    await sendTest(service, kitchen);
    const bar = await createIntegration(service, { name: 'Bar <i>terrace</i>', url: broken.url });
    const { id } = await sendTest(service, bar);
    await eventually(service, `/api/v1/deliveries/${id}`, ({ status }) => status === 'failed');
    await service.call('POST', `${kitchen.path}/pause`);
    await sendTest(service, kitchen);
    await webhooks?.measureBacklog();
    await untilTotals(service, statisticsPath, { invocations: 3, attempts_succeeded: 1, attempts_failed: 1 });
    await later(page);
    const figure = (name: string) => page.getByRole('group', { name });
    await figure('Invocations').getByText('0 cached, 1 failed').waitFor();
    await figure('Tokens').getByText('4 in, 4 out').waitFor();
    await figure('Delivered events').getByText('50%, 1 failed').waitFor();
    await figure('Waiting deliveries').getByText('1 held').waitFor();
    await page.locator('[data-bar]').first().waitFor({ state: 'attached' });
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByText('Last answer: status 503').waitFor();
    await attention.getByText('1 of 3 failed').waitFor();
    expect(await attention.getByRole('listitem').count()).toBe(2);
    await expectAccessible(page);
    await takeScreenshots(page, 'overview');

    for (const [name, rows, address] of [
      ['3', 3, '**/invocations?since=*&until=*'],
      ['1 failed', 1, '**/invocations?status=failed&since=*&until=*'],
    ] as const) {
      await figure('Invocations').getByRole('link', { name, exact: true }).click();
      await page.waitForURL(address);
      const table = page.getByRole('table').locator('tbody tr');
      await table.nth(rows - 1).waitFor();
      expect(await table.count()).toBe(rows);
      await page.goBack();
    }

    await page.getByRole('button', { name: 'Show as table: Delivery attempts' }).click();
    await page.getByRole('table', { name: 'Delivery attempts' }).getByRole('cell', { name: '1' }).first().waitFor();
    await page.getByText('Last day').click();
    await page.waitForURL('**/dashboard/overview?span=day');
    await figure('Delivered events').getByText('50%, 1 failed').waitFor();
    await page.getByRole('region', { name: 'Last failed deliveries' }).getByRole('link', { name: 'TEST' }).click();
    await heading(page, 'TEST delivery').waitFor();
    await page.goBack();
    await attention.getByRole('link', { name: 'greeting · v1' }).click();
    await page.waitForURL('**/invocations?*');
    await page.getByRole('table').locator('tbody tr').waitFor();
    await page.goBack();
    await attention.getByRole('link', { name: 'Bar <i>terrace</i>' }).click();
    await heading(page, 'Bar <i>terrace</i>').waitFor();
  });

  it('shows a key with few scopes only what it may see', async () => {
    const page = await open('', await service.createKey('metrics:read'));
    await heading(page, 'Overview').waitFor();
    await page.getByRole('figure', { name: 'Requests' }).waitFor();
    // Of what can need attention, only the object storage.
    await page.getByRole('region', { name: 'Needs attention' }).waitFor();
    expect(await page.getByRole('region').count()).toBe(1);
    expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual([
      'Overview',
      'API reference',
    ]);
  });
});

describe('the providers', () => {
  it('show which are configured, and how to configure the others, without any value', async () => {
    const page = await open('overview');
    await page.getByRole('region', { name: 'Providers' }).getByRole('link', { name: 'OpenAI' }).click();
    await heading(page, 'Providers').waitFor();
    expect(page.url()).toBe(`${service.url}/dashboard/providers?provider=openai`);
    await page.getByText('2 of 13 configured').waitFor();
    const lines = (name: string) => page.getByRole('region', { name: `.env lines for ${name}` });
    expect(await lines('OpenAI').textContent()).not.toContain('OPENAI_API_KEY');
    await page.getByRole('button', { name: 'Anthropic' }).click();
    await lines('Anthropic')
      .getByText(/^ANTHROPIC_API_KEY=$/m)
      .waitFor();
    await page.getByRole('button', { name: 'Copy .env lines for Anthropic' }).waitFor();
    expect(await page.content()).not.toContain(providerKey);
    await expectAccessible(page);
    await takeScreenshots(page, 'providers');
  });
});
