import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createIntegration, sendTest } from '../webhooks/integrations/integrations-harness.ts';
import { setDataset } from '../prompts/evaluations/datasets/datasets-harness.ts';
import { openShop, placeOrder } from '../orders/orders-harness.ts';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { startAnother } from '../support/per-operation.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { openSignedIn, signIn } from './support/sign-in.ts';

const browser = useBrowser();
let service: TestService;
let receiver: Receiver;
/** Ids of one thing of each kind. */
let ids: Record<
  'prompt' | 'invocation' | 'order' | 'product' | 'category' | 'integration' | 'delivery' | 'location' | 'key',
  string
>;
beforeAll(async () => {
  receiver = await startReceiver();
  const provider = { id: 'mock', name: 'Mock server', base_url: receiver.url, models: ['model-of-mocks'] };
  service = await startTestService({
    environment: {
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]),
    },
  });
  await service.call('PUT', '/api/v1/budgets/weekly-limit', {
    body: { limit: { amount: '5', currency: 'USD' }, period: 'week' },
  });
  await setDataset(service, 'greetings', ['{"variables": {"name": "Ada"}}']);
  const { body: key } = await service.call('POST', '/api/v1/api-keys', {
    body: { name: 'Till of the bar', scopes: ['orders:write'] },
  });
  const shop = await openShop(service);
  const integration = await createIntegration(service, { name: 'Kitchen display', url: receiver.url });
  const delivery = await sendTest(service, integration);
  await sendTest(service, integration);
  const order = await placeOrder(service, shop, { reference_id: 'till-3-0042' });
  const { body: prompt } = await service.call('POST', '/api/v1/prompts', {
    body: { name: 'Greeter', slug: 'greet-guests', messages: [{ role: 'user', content: 'Hello.' }] },
  });
  const invoked = await service.call('POST', `/api/v1/prompts/${prompt.id}/invoke`, { body: { provider: 'echo' } });
  const { body: read } = await service.call('GET', `/v1/orders/${order.id}`);
  ids = {
    prompt: prompt.id,
    invocation: String(invoked.headers['x-invocation-id']),
    order: order.id,
    product: String(shop.coffee.id),
    category: String(shop.coffee.body.category_id),
    key: key.id,
    integration: integration.id,
    delivery: delivery.id,
    location: read.location_id,
  };
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name });

/** All screens, by their part of the navigation. */
const screensOf = () => ({
  Gateway: [
    '/overview',
    '/prompts',
    '/prompts/new',
    '/prompts/import',
    ...['', '/playground', '/test-runs', '/evaluations', '/evaluations/new', '/history', '/statistics'].map(
      (tab) => `/prompts/${ids.prompt}${tab}`,
    ),
    '/invocations',
    `/invocations/${ids.invocation}`,
    ...['/datasets', '/datasets/greetings', '/dataset-import'],
    '/costs',
    '/costs/budgets/new',
    '/costs/budgets/weekly-limit',
    '/costs/price?provider=mock&model=model-of-mocks',
    '/providers?provider=mock',
  ],
  Orders: [
    ...['/orders', '/orders/new', `/orders/${ids.order}`],
    ...['/locations', '/locations/new', `/locations/${ids.location}`, `/locations/${ids.location}/edit`],
    ...['/products', '/products/new', `/products/${ids.product}`],
    ...['/categories', '/categories/new', `/categories/${ids.category}`],
  ],
  Webhooks: [
    '/integrations',
    '/integrations/new',
    ...['', '/edit', '/replays'].map((tab) => `/integrations/${ids.integration}${tab}`),
    '/deliveries',
    `/deliveries/${ids.delivery}`,
  ],
  Administration: ['/api-keys', '/api-keys/new', `/api-keys/${ids.key}/edit`, '/people', '/audit-log', '/nowhere'],
});

describe('every screen', () => {
  it.each(['Gateway', 'Orders', 'Webhooks', 'Administration'] as const)('is accessible in German: %s', async (part) => {
    const page = await openSignedIn(browser, service, '/overview', { locale: 'de-AT' });
    for (const screen of screensOf()[part]) {
      await page.goto(`/dashboard${screen}`);
      await page.locator('main h1').waitFor();
      await page.waitForLoadState('networkidle');
      await expectAccessible(page);
    }
  });

  it('describes the types of events in German', async () => {
    const page = await openSignedIn(browser, service, '/integrations/new', { locale: 'de-AT' });
    const types = page.getByRole('group', { name: 'Event-Typen' });
    await types.getByRole('checkbox', { name: 'ORDER_PLACED' }).waitFor();
    expect(await types.textContent()).not.toMatch(/Sent |The target/);
    await types.getByRole('button', { name: 'Schema, Beispiel von BUDGET_REFUSING' }).click();
    await page.getByRole('dialog').getByText('Das Ziel ist das Budget.').waitFor();
  });
});

describe('the search', () => {
  it('finds everything that has a name, by keyboard', async () => {
    // An id is looked for among all that can have it.
    browser.tolerate(/status of 404/);
    const page = await openSignedIn(browser, service, '/providers');
    await heading(page, 'Providers').waitFor();
    const find = async (text: string, entry: string | RegExp, opened: string | RegExp): Promise<void> => {
      await page.keyboard.press('ControlOrMeta+k');
      await page.getByRole('combobox', { name: 'Search' }).fill(text);
      await page.getByRole('option', { name: entry }).and(page.locator('[aria-selected=true]')).waitFor();
      await page.keyboard.press('Enter');
      await heading(page, opened).waitFor();
      await page.getByRole('listbox').waitFor({ state: 'detached' });
    };
    await find('eet-gue', 'Greeter Prompt · greet-guests', 'Greeter');
    await find(ids.prompt, 'Greeter Prompt', 'Greeter');
    await find('kitchen', 'Kitchen display Integration', 'Kitchen display');
    await find('till-3-0042', `${ids.order} Order · till-3-0042`, /^Order /);
    await find(ids.delivery, 'TEST Delivery · Kitchen display', 'TEST delivery');
    await find('audit', 'Audit log Page', 'Audit log');
    await find('weekly', 'weekly-limit Budget', /weekly-limit/);
    await find('till of', /^Till of the bar API key · /, /Till of the bar/);
    await find('greetin', 'greetings Data set', 'greetings');
    await find('canal', 'Canal Café Location', 'Canal Café');
    await find('flat wh', 'Flat white Product', 'Flat white');
    await find('hot dr', 'Hot drinks Category', 'Hot drinks');
    await find('mock serv', 'Mock server Provider · mock', 'Providers');
    await find('model-of', 'model-of-mocks Model · Mock server', 'Providers');

    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox', { name: 'Search' }).fill('limits of keys');
    await page.getByRole('option', { name: 'Limits of keys Guide' }).waitFor();
    const [guide] = await Promise.all([page.context().waitForEvent('page'), page.keyboard.press('Enter')]);
    await guide.getByRole('heading', { name: 'Limits of keys' }).first().waitFor();
    await guide.close();

    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('option', { name: 'New prompt Action' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'search');
    await page.getByRole('combobox', { name: 'Search' }).fill('nothing like this');
    await page.getByText('Nothing found.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Search' }).waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await expectAccessible(page);
  });

  it('asks once for each list, once for each text, and not for what is no longer typed', async () => {
    const page = await openSignedIn(browser, service, '/providers');
    await heading(page, 'Providers').waitFor();
    await page.keyboard.press('ControlOrMeta+k');
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (/^\/(api\/)?v1\//.test(pathname)) asked.push(pathname + search);
    });
    const field = page.getByRole('combobox', { name: 'Search' });
    await field.pressSequentially('greet', { delay: 10 });
    await page.getByRole('option', { name: 'Greeter Prompt' }).waitFor();
    await field.fill('kitchen');
    await page.getByRole('option', { name: 'Kitchen display Integration' }).waitFor();
    await field.fill('greet');
    await page.getByRole('option', { name: 'Greeter Prompt' }).waitFor();
    const ofPalette = asked.filter((path) => !/whoami|session|^\/api\/v1\/providers$/.test(path));
    expect(ofPalette.filter((path, index) => ofPalette.indexOf(path) !== index)).toEqual([]);
    expect(ofPalette.filter((path) => path.startsWith('/api/v1/prompts')).length).toBeLessThanOrEqual(3);
    expect(ofPalette.filter((path) => path.startsWith('/api/v1/integrations'))).toHaveLength(1);
  });

  it('is a button on phones', async () => {
    const page = await openSignedIn(browser, service, '/providers', { width: 390 });
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('combobox', { name: 'Search' }).fill('greet');
    await page.getByRole('option', { name: 'Greeter Prompt' }).click();
    await heading(page, 'Greeter').waitFor();
  });

  it('offers a key only what it may see', async () => {
    const apiKey = await service.createKey('catalog:read');
    const page = await openSignedIn(browser, service, '/locations', { apiKey });
    await heading(page, 'Locations').waitFor();
    await page.keyboard.press('ControlOrMeta+k');
    const options = page.getByRole('listbox').getByRole('option');
    await options.first().waitFor();
    expect(await options.allTextContents()).toEqual(['LocationsPage', 'CatalogPage']);
  });
});

describe('the keys of one character', () => {
  const dialog = (page: Page) => page.getByRole('dialog', { name: 'Keyboard shortcuts' });

  it('go to pages, move in lists, search, and show themselves', async () => {
    const page = await openSignedIn(browser, service, '/providers');
    await heading(page, 'Providers').waitFor();
    await page.keyboard.type('gp');
    await heading(page, 'Prompts').waitFor();
    await page.keyboard.type('gd');
    await heading(page, 'Deliveries').waitFor();
    const links = page.getByRole('table').getByRole('rowheader').getByRole('link');
    await links.nth(1).waitFor();
    for (const [keys, index] of [
      ['j', 0],
      ['j', 1],
      ['k', 0],
      ['k', 0],
    ] as const) {
      await page.keyboard.type(keys);
      await links.nth(index).and(page.locator(':focus')).waitFor();
    }
    await page.keyboard.press('Enter');
    await page.waitForURL('**/deliveries/*');
    await page.keyboard.type('/');
    await page.getByRole('combobox', { name: 'Search' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.type('gi?');
    expect(await page.getByRole('combobox', { name: 'Search' }).inputValue()).toBe('gi?');
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Search' }).waitFor({ state: 'detached' });
    await page.keyboard.type('?');
    await dialog(page).getByText('Go to: Invocations').waitFor();
    await page.keyboard.type('gi');
    await expectAccessible(page);
    await takeScreenshots(page, 'shortcuts');
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await heading(page, /delivery$/).waitFor();
  });

  it('do nothing in fields, with other keys, and where the API key may not go, and can be switched off', async () => {
    const page = await openSignedIn(browser, service, '/prompts', { apiKey: await service.createKey('prompts:read') });
    await heading(page, 'Prompts').waitFor();
    for (const keys of ['Control+g', 'Alt+p', 'g', 'd', 'g', 'Escape']) await page.keyboard.press(keys);
    await page.getByRole('textbox', { name: 'Search' }).pressSequentially('gv?');
    await page.waitForURL('**/prompts?q=gv%3F');
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click();
    expect(await dialog(page).getByText('Go to: Deliveries').count()).toBe(0);
    await dialog(page).getByLabel('Keys of one character').uncheck({ force: true });
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await page.locator('main h1').click();
    await page.keyboard.type('?gv');
    await page.keyboard.press('ControlOrMeta+k');
    await page.getByRole('combobox', { name: 'Search' }).waitFor();
    expect(await dialog(page).count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe('/dashboard/prompts');
  });
});

describe('what the process does not do', () => {
  it('is said on every screen, in the language of the page', async () => {
    const secrets = { SECRETS_KEY: randomBytes(32).toString('hex') };
    const first = await startTestService({ environment: { ...secrets, WEBHOOKS: 'off' } });
    const silent = await openSignedIn(browser, first, '/providers');
    await silent.getByText('This process sends no webhooks (WEBHOOKS=off).').waitFor();
    await silent.close();
    await first.close();
    const copy = await startAnother(first, { ...secrets, READ_ONLY: 'on' });
    const page = await openSignedIn(browser, copy, '/providers');
    await page.getByText('Read-only: this process changes nothing').waitFor();
    await expectAccessible(page);
    const german = await openSignedIn(browser, copy, '/providers', { locale: 'de-AT' });
    await german.getByText('Nur zum Ansehen: Dieser Prozess ändert nichts').waitFor();
    await Promise.all([page.close(), german.close()]);
    await copy.close();
  });
});

describe('a service that does not answer', () => {
  const lost = /ERR_INTERNET_DISCONNECTED|ERR_CONNECTION_REFUSED|preload|dynamically imported/;
  const notice = (page: Page, text: string | RegExp) => page.getByRole('alert').filter({ hasText: text });
  const noNotice = (page: Page) =>
    notice(page, /offline|does not answer|cannot be reached/)
      .first()
      .waitFor({ state: 'detached' });

  it.each(['/prompts/new', '/costs/budgets/new', '/deliveries'])(
    'is said on %s, and what failed is read again',
    async (target) => {
      browser.tolerate(lost);
      const page = await openSignedIn(browser, service, target);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.context().setOffline(true);
      const began = Date.now();
      await notice(page, 'This browser is offline').waitFor({ timeout: 3_000 });
      expect(Date.now() - began).toBeLessThan(3_000);
      await takeScreenshots(page, `offline${target.replaceAll('/', '-')}`);
      await expectAccessible(page);
      // The script of this screen is not loaded yet.
      await page.getByRole('navigation').getByRole('link', { name: 'Providers' }).click();
      await page.getByRole('heading', { name: 'This page cannot be shown' }).waitFor();
      await page.context().setOffline(false);
      await page.getByRole('heading', { level: 1, name: 'Providers' }).waitFor();
      await noNotice(page);

      await page.route('**/{api,v1,health}/**', (route) => route.abort('connectionrefused'));
      await notice(page, 'The service does not answer').waitFor({ timeout: 5_000 });
      await page.getByRole('navigation').getByRole('link', { name: 'Integrations' }).click();
      await notice(page, 'The service cannot be reached').waitFor();
      await page.unroute('**/{api,v1,health}/**');
      await page.getByRole('link', { name: 'Kitchen display' }).first().waitFor();
      await noNotice(page);
    },
  );
});

describe('a tab that nobody uses', () => {
  it('asks at most ten times a minute, nothing while it is hidden, and nothing after half an hour', async () => {
    const page = await browser.open(service.url, '/dashboard/providers');
    let asked: string[] = [];
    // Those that began before are not waited for.
    const pending = new Set<unknown>();
    page.on('request', (request) => {
      pending.add(request);
      if (/\/(api|v1)\//.test(request.url())) asked.push(request.url());
    });
    for (const event of ['requestfinished', 'requestfailed'] as const) {
      page.on(event as 'requestfinished', (request) => {
        pending.delete(request);
      });
    }
    await page.clock.install();
    await signIn(page, service.adminKey);
    await heading(page, 'Providers').waitFor();
    /** What the page asks in a minute. */
    const inMinute = async (): Promise<number> => {
      asked = [];
      for (let step = 0; step < 12; step += 1) {
        await page.clock.fastForward(5_000);
        await page.evaluate('0');
        await until(
          () => pending.size,
          (count) => count === 0,
        );
      }
      return asked.length;
    };
    const screens = [
      '/overview',
      `/prompts/${ids.prompt}/test-runs`,
      `/prompts/${ids.prompt}/statistics`,
      '/invocations',
      '/costs',
      '/orders',
      `/orders/${ids.order}`,
      `/locations/${ids.location}`,
      '/integrations',
      `/integrations/${ids.integration}`,
      `/integrations/${ids.integration}/replays`,
      '/deliveries',
      `/deliveries/${ids.delivery}`,
      '/audit-log',
    ];
    const counts: Record<string, number> = {};
    for (const screen of screens) {
      await page.goto(`/dashboard${screen}`);
      await page.locator('main h1').waitFor();
      await page.clock.fastForward(61_000);
      counts[screen] = await inMinute();
    }
    const tooMany = Object.entries(counts).filter(([, count]) => count > 10);
    expect(tooMany).toEqual([]);
    // It does ask.
    expect(counts['/deliveries']).toBeGreaterThan(0);

    await page.goto('/dashboard/deliveries');
    await page.locator('main h1').waitFor();
    await page.evaluate(`Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' });
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
    await page.clock.fastForward(5_000);
    expect(await inMinute()).toBe(0);
    await page.evaluate('delete document.visibilityState');
    await page.clock.fastForward(31 * 60_000);
    await page.clock.fastForward(60_000);
    expect(await inMinute()).toBe(0);
    // Who comes back sees at once what is new.
    await page.mouse.move(5, 5);
    await until(() => asked.some((url) => url.includes('/deliveries')));
  });
});
