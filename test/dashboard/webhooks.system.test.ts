import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { defaultTiming, type WebhookTiming } from '../../src/webhooks/timing.ts';
import { createWebhooks } from '../../src/webhooks/webhooks.ts';
import { createIntegration, sendTest, type CreatedIntegration } from '../webhooks/integrations/integrations-harness.ts';
import { openShop, placeOrder, type Shop } from '../orders/orders-harness.ts';
import { counting } from '../accounting/statistics/statistics-harness.ts';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { createAuthority, trust } from '../support/certificates.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { openSignedIn, signIn } from './support/sign-in.ts';

const hour = 3_600_000;
/** Failed deliveries are due again immediately, and the third failure pauses sending until someone resumes it. */
const timing: WebhookTiming = {
  ...defaultTiming,
  schedule: defaultTiming.schedule.map(() => 0),
  breaker: { failures: 3, firstOpen: hour, longestOpen: hour },
};

const authority = trust(createAuthority('Example authority'));
const browser = useBrowser();
let service: TestService;
let shop: Shop;
let receiver: Receiver;
beforeAll(async () => {
  service = await startTestService({
    ...counting,
    createWebhooks: (dependencies) => createWebhooks({ ...dependencies, timing }),
  });
  shop = await openShop(service);
});
afterAll(() => service.close());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  const { body } = await service.call('GET', '/api/v1/integrations?limit=100');
  for (const { id } of body.data) await service.call('DELETE', `/api/v1/integrations/${id}`);
  await receiver.close();
});

const open = (target: string, apiKey = service.adminKey): Promise<Page> =>
  openSignedIn(browser, service, target, { apiKey });
/** Creates an integration that sends to the receiver of this test. */
const create = (members: Record<string, unknown> = {}): Promise<CreatedIntegration> =>
  createIntegration(service, { url: receiver.url, unsigned: false, ...members });
const screenOf = ({ id }: CreatedIntegration): string => `/integrations/${id}`;
const heading = (page: Page, name: string | RegExp): Locator => page.getByRole('heading', { level: 1, name });
const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
const row = (page: Page, text: string): Locator => page.getByRole('row').filter({ hasText: text });
/** The figure with this label on the screen of an integration. */
const figure = (page: Page, label: string, value: string): Locator =>
  page.getByText(label, { exact: true }).locator('..').getByText(value, { exact: true });

/** Expects that the page is accessible, and takes its screenshots. */
async function inspect(page: Page, name: string): Promise<void> {
  await expectAccessible(page);
  await takeScreenshots(page, name);
}

describe('an integration', () => {
  it('is created on the page, and the delivery of an order appears by itself', async () => {
    const page = await open('/integrations');
    await page.getByText('No integrations yet').waitFor();
    await inspect(page, 'integrations-empty');
    await page.getByRole('link', { name: 'Create integration' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).first().fill('Kitchen display');
    await page.getByRole('textbox', { name: 'URL' }).fill(receiver.url);
    await page.getByLabel('ORDER_PLACED', { exact: true }).check();
    await press(page, 'Add header');
    const name = page.getByRole('textbox', { name: 'Name of header 1' });
    const value = page.getByRole('textbox', { name: 'Value of header 1' });
    await name.fill('Content-Type');
    await page.getByText('The service sets this header itself.').waitFor();
    await name.fill('X-Kitchen');
    await value.fill('café');
    await page.getByText('A value has only visible ASCII characters').waitFor();
    await expectAccessible(page);
    await value.fill('ground-floor');
    await page.getByText('A value has only visible ASCII characters').waitFor({ state: 'detached' });
    await inspect(page, 'new-integration');
    await press(page, 'Create integration');

    await heading(page, 'Integration created').waitFor();
    const secret = await page.getByRole('textbox', { name: 'Secret', exact: true }).inputValue();
    await inspect(page, 'integration-created');
    await page.getByRole('link', { name: 'I have saved the secret' }).click();
    await page.getByText('Deliveries are signed. The secret itself is not shown again.').waitFor();
    expect(await page.content()).not.toContain(secret);

    await page.getByRole('navigation', { name: 'Main navigation' }).getByRole('link', { name: 'Deliveries' }).click();
    await page.getByText('No deliveries yet').waitFor();
    const order = await placeOrder(service, shop);
    await row(page, 'Kitchen display').getByText('Delivered').waitFor();
    await inspect(page, 'deliveries');
    await page.getByRole('link', { name: 'ORDER_PLACED' }).click();
    await heading(page, 'ORDER_PLACED delivery').waitFor();
    await page.getByRole('button', { name: 'Attempt 1 Status 200' }).waitFor();
    await page.getByText(order.id, { exact: true }).waitFor();
    await inspect(page, 'delivery');

    const [request] = receiver.requests;
    if (request === undefined) throw new Error('nothing arrived');
    expect(request.headers).toMatchObject({
      'x-kitchen': 'ground-floor',
      'x-service-signature': createHmac('sha256', secret).update(request.body).digest('hex'),
    });
  });

  it('gets a filter, which is tried on the last events before it is saved', async () => {
    await placeOrder(service, shop);
    const large = [{ product_id: shop.coffee.id, quantity: 30 }];
    await placeOrder(service, shop, { items: large, spot_id: shop.spot });
    const types = { event_types: ['ORDER_PLACED'], location_ids: [shop.location.id] };
    const read = () => service.call('POST', '/api/v1/integrations/filter-preview', { body: { ...types, filter: {} } });
    await until(read, ({ body }) => body.data.length >= 2);
    const integration = await create(types);
    browser.tolerate(/status of 422/);
    const page = await open(`${screenOf(integration)}/edit`);
    const filter = page.getByRole('textbox', { name: 'Filter' });
    await filter.fill('{"data.total": ');
    await press(page, 'Try on the last events');
    await page.getByText('This is not JSON.').waitFor();
    await filter.fill('{"data.total": {"$gte": 20000, "$lte": 10000}}');
    await press(page, 'Try on the last events');
    const contradiction = 'data.total has a $gte that $lte excludes';
    await page.locator('.mantine-InputWrapper-error', { hasText: contradiction }).waitFor();
    expect(await filter.getAttribute('aria-invalid')).toBe('true');
    await inspect(page, 'integration-filter-refused');
    await filter.fill('{"data.total": {"$gte": "10000"}, "data.price": 3}');
    await press(page, 'Save');
    await page.getByText('data.price is not in the payload of ORDER_PLACED').first().waitFor();
    await filter.fill('{"data.total": {"$gte": 10000}, "data.spotName": "Table 4"}');
    await press(page, 'Try on the last events');
    const result = page.getByRole('region', { name: 'Last events' });
    await result.getByText(/^1 of \d+ would have been sent/).waitFor();
    await result.getByRole('row').filter({ hasText: 'Not sent' }).getByText('data.spotName').first().waitFor();
    await inspect(page, 'integration-filter');
    await press(page, 'Save');
    await page.getByText('The integration is saved.').waitFor();
    await page.getByRole('region', { name: 'Filter' }).waitFor();
    await inspect(page, 'integration-with-filter');
    const { body } = await service.call('GET', integration.path);
    expect(body.filter).toEqual({ 'data.total': { $gte: 10_000 }, 'data.spotName': 'Table 4' });
    // Somebody empties it.
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await filter.fill('');
    await press(page, 'Save');
    await page.getByText('All events of these types').waitFor();
    expect((await service.call('GET', integration.path)).body).not.toHaveProperty('filter');
  });

  it('shows failures and pauses; what waits is sent after the repair, and sent again when asked', async () => {
    const integration = await create();
    receiver.always({ kind: 'answer', status: 503, body: 'closed for repair' });
    const page = await open(screenOf(integration));
    const title = page.locator('main h1 + *');
    await title.getByText('Active').waitFor();
    await placeOrder(service, shop);
    await title.getByText('Waits for the receiver').waitFor();
    await page.getByText('One delivery waits. “Attempt now” sends it if it is due.').waitFor();
    await figure(page, 'Failed attempts in a row', '3').waitFor();
    await figure(page, 'Failed attempts in a row', 'Status 503').waitFor();
    await figure(page, 'Delivered events, 24 h', 'None ended').waitFor();
    await figure(page, 'Waiting', '1').waitFor();
    await inspect(page, 'integration');

    receiver.always({ kind: 'answer' });
    await press(page, 'Attempt now');
    await page.getByText('The delivery that waits is sent now, if it is due.').waitFor();
    await title.getByText('Active').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Deliveries', exact: true }).click();
    await page.getByRole('link', { name: 'ORDER_PLACED' }).click();
    await page.getByRole('button', { name: 'Attempt 4 Status 200' }).waitFor();
    await page.getByRole('button', { name: 'Attempt 3 Status 503' }).click();
    await page
      .getByRole('region', { name: 'Body of the answer to attempt 3' })
      .getByText('closed for repair')
      .waitFor();

    await press(page, 'Resend');
    await page.getByText('The delivery is sent again.').waitFor();
    await page.getByRole('button', { name: 'Attempt 1 Status 200' }).waitFor();
    const [first, ...others] = receiver.requests.map(({ headers }) => headers['webhook-id']);
    expect(others).toEqual([first, first, first, first]);
  });

  it('is led from its failure to the cause and to a delivery in at most 4 clicks, also on a phone', async () => {
    const integration = await create({ name: 'Broken display' });
    receiver.always({ kind: 'answer', status: 503, body: 'closed for repair' });
    await placeOrder(service, shop);
    const page = await openSignedIn(browser, service, '/overview', { width: 390 });
    let clicks = 0;
    const click = async (target: Locator): Promise<void> => {
      await target.click();
      clicks += 1;
    };
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByText('Receiver fails').waitFor();
    await click(attention.getByRole('link', { name: 'Broken display' }));
    await page.getByText('Answered with status 503').waitFor();
    await page.getByText('closed for repair').waitFor();
    await inspect(page, 'integration-failing');
    // The form of a replay is open, about what failed since the last success.
    await page.getByRole('link', { name: 'Replay what failed …' }).click();
    const replay = page.getByRole('dialog', { name: 'Replay events' });
    await replay.getByRole('checkbox', { name: 'Only what failed' }).and(page.locator(':checked')).waitFor();
    await page.goBack();
    receiver.always({ kind: 'answer' });
    await click(page.getByRole('region', { name: 'Last failure' }).getByRole('button', { name: 'Resend now' }));
    await page.locator('main h1 + *').getByText('Delivered').waitFor();
    expect(clicks).toBeLessThanOrEqual(4);
    await page.getByRole('link', { name: 'Open the order' }).click();
    await heading(page, /^Order /).waitFor();
    expect((await service.call('GET', integration.path)).body.consecutive_failures).toBe(0);
  });

  it('says what is wrong with a certificate and what to do, and shows the headers that were sent', async () => {
    const server = createServer(authority.issue(['www.example.com'])).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    const headers = { 'X-Kitchen': 'ground-floor', Authorization: 'Bearer EXAMPLE-1' };
    const integration = await create({ url, headers });
    const page = await open(screenOf(integration));
    await placeOrder(service, shop);
    const failure = page.getByRole('region', { name: 'Last failure' });
    await failure.getByText('No answer · Certificate for another name').waitFor();
    await failure.getByText('The certificate is for: www.example.com').waitFor();
    await inspect(page, 'integration-certificate');
    await failure.getByRole('link', { name: 'Show the delivery' }).click();
    await page
      .getByRole('button', { name: /^Attempt \d Certificate for another name/ })
      .first()
      .waitFor();
    const sent = page.getByRole('region', { name: /^Headers of the request of attempt/ }).first();
    for (const text of ['X-Kitchen: ground-floor', 'Authorization: ********', 'X-Service-Signature: ']) {
      await sent.getByText(text).waitFor();
    }
    await inspect(page, 'delivery-certificate');
    server.close();
  });

  it('shows what a receiver answered to a failed test event, and gives the focus back', async () => {
    const integration = await create();
    receiver.always({ kind: 'answer', status: 418, body: 'no coffee here' });
    const page = await open(screenOf(integration));
    await page.getByRole('button', { name: 'Send test event' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Test event' });
    await dialog.getByText('no coffee here').first().waitFor();
    await inspect(page, 'test-event-failed');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Send test event' }).and(page.locator(':focus')).waitFor();
  });

  it('gets the events of a span again, with their progress', async () => {
    const integration = await create();
    const orders = [await placeOrder(service, shop), await placeOrder(service, shop)];
    await receiver.received(2);
    const page = await open(`${screenOf(integration)}/replays`);
    await page.getByText('No replays yet').waitFor();
    await press(page, 'Replay events');
    await press(page, 'Start replay');
    await page.getByText('The list shows how many deliveries it makes.').waitFor();
    await row(page, 'Done').waitFor();
    // The span is the last hour, so the orders of the tests before this one are sent as well, in any order.
    const timesSent = ({ id }: { id: string }): number =>
      receiver.requests.filter(({ headers }) => headers['x-service-event-target-uuid'] === id).length;
    await until(
      () => orders.map(timesSent),
      (times) => times.every((each) => each === 2),
    );
    await inspect(page, 'replays');
  });

  it('gets a new secret in two steps', async () => {
    const integration = await create();
    const page = await open(screenOf(integration));
    await press(page, 'Rotate secret');
    await press(page, 'Create the next secret');
    const next = await page.getByRole('textbox', { name: 'Secret', exact: true }).inputValue();
    await press(page, 'I have saved the secret');
    await page.getByText('Rotation in progress: step 2 of 2').waitFor();
    await inspect(page, 'secret-rotation');
    await sendTest(service, integration);
    await receiver.received(1);
    await press(page, 'Finish rotation');
    await page.getByRole('dialog').getByRole('button', { name: 'Finish rotation' }).click();
    await page.getByText('The next secret is now the only secret.').waitFor();
    await press(page, 'Send test event');
    await page.getByText('The receiver accepted the test event.').waitFor();
    const signedWithNext = receiver.requests.map(
      ({ headers, body }) => headers['x-service-signature'] === createHmac('sha256', next).update(body).digest('hex'),
    );
    expect(signedWithNext).toEqual([false, true]);
  });

  it('sends a sample of a chosen type', async () => {
    const integration = await create();
    const page = await open(screenOf(integration));
    await press(page, 'Send a sample of a type');
    await page.getByRole('menuitem', { name: 'ORDER_PLACED' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('menuitem', { name: 'ORDER_PLACED' }).click();
    await page.getByText('The receiver accepted the test event.').waitFor();
    const [request] = await receiver.received(1);
    expect(JSON.parse(request?.body.toString() ?? '')).toMatchObject({ type: 'ORDER_PLACED', test: true });
  });

  it('holds events while it is paused', async () => {
    const integration = await create();
    const page = await open(screenOf(integration));
    await press(page, 'Pause');
    await page.getByText('The integration is paused.').waitFor();
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Integrations' }).click();
    await row(page, 'Kitchen display').getByText('Paused').waitFor();
    await inspect(page, 'integrations');
    await page.goBack();
    await placeOrder(service, shop);
    await page.getByRole('link', { name: 'Held deliveries' }).click();
    await row(page, 'ORDER_PLACED').getByText('Held').waitFor();
    expect(receiver.requests).toEqual([]);
    await page.goBack();
    await press(page, 'Enable');
    await page.getByText('The integration is enabled.').waitFor();
    await receiver.received(1);
  });

  it('is edited in two tabs: either version can be kept', async () => {
    browser.tolerate(/status of 412/);
    const integration = await create();
    const mine = await open(`${screenOf(integration)}/edit`);
    const theirs = await mine.context().newPage();
    const name = (page: Page): Locator => page.getByRole('textbox', { name: 'Name' });
    /** Changes the name in both tabs, and saves the other tab first. */
    const conflict = async (own: string, other: string): Promise<Locator> => {
      await name(mine).fill(own);
      // The browser slows down pages that are not in front.
      await theirs.bringToFront();
      await theirs.goto(`/dashboard${screenOf(integration)}/edit`);
      await name(theirs).fill(other);
      await press(theirs, 'Save');
      await heading(theirs, other).waitFor();
      await mine.bringToFront();
      await press(mine, 'Save');
      const dialog = mine.getByRole('dialog', { name: 'Changed in the meantime' });
      await dialog.getByRole('row').filter({ hasText: own }).getByText(other).waitFor();
      return dialog;
    };

    await (await conflict('Bar', 'Counter')).getByRole('button', { name: 'Keep mine' }).click();
    await heading(mine, 'Bar').waitFor();
    await mine.getByRole('link', { name: 'Edit' }).click();
    const dialog = await conflict('Kitchen', 'Terrace');
    await inspect(mine, 'conflict');
    await dialog.getByRole('button', { name: 'Take theirs' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await name(mine).inputValue()).toBe('Terrace');
    await mine.getByRole('link', { name: 'Cancel' }).click();
    await heading(mine, 'Terrace').waitFor();
  });

  it('keeps what is typed in its form when the API key is revoked, and is saved with another key', async () => {
    browser.tolerate(/status of 401/);
    const integration = await create();
    const { body: key } = await service.call('POST', '/api/v1/api-keys', {
      body: { name: 'Operator', scopes: ['integrations:read', 'integrations:manage', 'catalog:read'] },
    });
    const page = await open(`${screenOf(integration)}/edit`, key.key);
    await page.getByRole('textbox', { name: 'Name' }).fill('Typed before');
    await service.call('POST', `/api/v1/api-keys/${key.id}/revoke`);
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await signIn(page, service.adminKey);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await press(page, 'Save');
    await heading(page, 'Typed before').waitFor();
    await press(page, 'Account: administrator');
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading(page, 'Sign in').waitFor();
  });
});

describe('the keyboard', () => {
  /** Presses Tab until this element has the focus, and expects that one sees where the focus is. */
  async function tabTo(page: Page, target: Locator): Promise<void> {
    await target.waitFor();
    for (let presses = 0; presses < 60; presses += 1) {
      await page.keyboard.press('Tab');
      if ((await target.and(page.locator(':focus')).count()) === 0) continue;
      // The link of a row shows its focus around the whole row.
      const outlines = `[undefined, '::after'].map((part) => getComputedStyle(document.activeElement, part).outlineStyle)`;
      expect(await page.evaluate(outlines)).toContainEqual(expect.stringMatching(/solid|auto/));
      return;
    }
    throw new Error('the element cannot be reached');
  }

  it('signs in, opens an integration and pauses it', async () => {
    const integration = await create({ name: 'Bar' });
    const page = await browser.open(service.url, '/dashboard');
    await page.getByLabel('API key', { exact: true }).waitFor();
    await page.keyboard.type(service.adminKey);
    await page.keyboard.press('Enter');
    const steps = [
      page.getByRole('link', { name: 'Integrations', exact: true }),
      page.getByRole('link', { name: 'Bar' }),
      page.getByRole('button', { name: 'Pause' }),
    ];
    for (const step of steps) {
      await tabTo(page, step);
      await page.keyboard.press('Enter');
    }
    await page.getByText('The integration is paused.').waitFor();
    expect((await service.call('GET', integration.path)).body.status).toBe('paused');
  });
});
