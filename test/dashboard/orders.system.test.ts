import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { adminKey } from '../support/send.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const browser = useBrowser();
let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  [service, receiver] = await Promise.all([
    startTestService({ environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } }),
    startReceiver(),
  ]);
});
afterAll(() => Promise.all([service.close(), receiver.close()]));

/** Opens a screen and signs in. */
async function open(target: string, key = adminKey): Promise<Page> {
  const page = await browser.open(service.url, `/dashboard${target}`);
  await page.getByLabel('API key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Main navigation' }).waitFor();
  return page;
}

async function create<Body>(path: string, body: object): Promise<Body & { id: string }> {
  const { status, body: created } = await service.call('POST', path, { body });
  expect(status).toBe(201);
  return created as Body & { id: string };
}

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, level: 1, exact: true });

/** Opens a list of choices and takes one. */
async function choose(page: Page, label: string, option: string | RegExp): Promise<void> {
  await page.getByRole('combobox', { name: label }).click();
  await page.getByRole('option', { name: option }).click();
}

describe('a newcomer', () => {
  it('gets from an empty service to a completed order and its deliveries', async () => {
    await create('/api/v1/integrations', {
      name: 'Kitchen display',
      url: receiver.url,
      event_types: ['ORDER_PLACED', 'ORDER_COMPLETED'],
    });
    const page = await open('/orders');
    await heading(page, 'Orders').waitFor();
    await page.getByRole('link', { name: 'Create location' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'orders-empty');
    await page.getByRole('link', { name: 'Create location' }).click();

    // A location, after the mistakes are explained.
    await page.getByRole('button', { name: 'Create location' }).click();
    await page.getByText('Enter a name.').waitFor();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Canal Café');
    await page.getByRole('combobox', { name: 'Currency' }).fill('kwd');
    await page.getByRole('option', { name: /^KWD/ }).click();
    await page.getByLabel('Tax rate').fill('9,5');
    await page.getByLabel('End of the fiscal day').fill('04:00');
    await page.getByRole('button', { name: 'Add zone' }).click();
    await page.getByLabel('Name of zone 1').fill('Terrace');
    await page.getByLabel('Name of spot 1 in Terrace').fill('Table 4');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create location' }).click();
    await heading(page, 'Canal Café').waitFor();
    await page.getByText('No fiscal day is closed yet.').waitFor();

    // The location leads on to its first category and product.
    await page.getByRole('link', { name: 'Create category' }).click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Hot drinks');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create category' }).click();
    await page.getByText('No products yet').waitFor();
    await page.getByRole('link', { name: 'Create product' }).first().click();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Flat white');
    await page.getByRole('textbox', { name: 'Price', exact: true }).fill('1.2345');
    await page.getByRole('button', { name: 'Create product' }).click();
    await page.getByText('Enter an amount such as 0.420').waitFor();
    await page.getByRole('textbox', { name: 'Price', exact: true }).fill('1,25');
    await page.getByRole('button', { name: 'Add modifier' }).click();
    await page.getByLabel('Name of modifier 1').fill('Oat milk');
    await page.getByLabel('Price of modifier 1').fill('0.1');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create product' }).click();
    await page.getByRole('row').filter({ hasText: 'Flat white' }).getByText('KWD 1.250').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Categories', exact: true }).click();
    await page.getByRole('link', { name: 'Hot drinks' }).waitFor();
    await expectAccessible(page);

    await page.getByRole('link', { name: 'Orders', exact: true }).click();
    await page.getByRole('link', { name: 'Place a test order' }).click();
    await page.getByRole('button', { name: 'Place order' }).waitFor();
    await page.getByRole('button', { name: 'One Flat white more' }).click();
    await page.getByLabel('Quantity of Flat white').fill('2');
    await page.getByLabel(/^Oat milk/).check();
    await choose(page, 'Spot', 'Table 4');
    await page.getByLabel('Note').fill('Extra hot');
    await page.getByText('KWD 2.700').first().waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'new-order');
    await page.getByRole('button', { name: 'Place order' }).click();

    // 2 × (1.250 + 0.100), and 9.5 % of it: 0.2565.
    await heading(page, /^Order /).waitFor();
    await page.getByText('KWD 2.957').waitFor();
    await page.getByText('Table 4 (Terrace)').waitFor();
    const deliveries = page.getByRole('table', { name: 'Deliveries of its events' });
    await deliveries.getByRole('row').filter({ hasText: 'ORDER_PLACED' }).getByText('Delivered').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'order');
    await page.getByRole('button', { name: 'Complete order' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Complete order' }).click();
    await page.getByText('Order completed.').waitFor();
    await page.getByRole('button', { name: 'Cancel order' }).waitFor({ state: 'detached' });
    await deliveries.getByRole('row').filter({ hasText: 'ORDER_COMPLETED' }).getByText('Delivered').waitFor();
    await deliveries.getByRole('link', { name: 'ORDER_PLACED' }).click();
    await heading(page, /ORDER_PLACED/).waitFor();

    await page.getByRole('link', { name: 'Locations', exact: true }).click();
    await page.getByRole('link', { name: 'Canal Café' }).click();
    await page.getByRole('button', { name: 'Close a day' }).click();
    await page.getByRole('button', { name: 'Close day' }).click();
    const days = page.getByRole('table', { name: 'Closed fiscal days' });
    await days.getByText('KWD 2.957').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'location');
  });
});

/** A location with a category and a product. */
async function createShop(name: string, product: object = {}): Promise<{ location: string; product: string }> {
  const location = await create('/v1/locations', { name, currency: 'EUR', time_zone: 'Europe/Amsterdam' });
  const category = await create('/v1/categories', { location_id: location.id, name });
  const created = await create('/v1/products', {
    location_id: location.id,
    category_id: category.id,
    name,
    price: 420,
    ...product,
  });
  return { location: location.id, product: created.id };
}

describe('the catalog', () => {
  it('merges what two tabs change of a product, and asks about what both changed', async () => {
    browser.tolerate(/status of 412/);
    const { product } = await createShop('Two tabs');
    const first = await open(`/products/${product}`);
    const second = await first.context().newPage();
    await second.goto(`/dashboard/products/${product}`);
    await second.getByRole('textbox', { name: 'Name', exact: true }).fill('Mine');
    await first.bringToFront();
    await first.getByRole('textbox', { name: 'Price', exact: true }).fill('4.50');
    await first.getByRole('button', { name: 'Save' }).click();
    await first.getByText('Product saved.').waitFor();

    // Both changed other fields: both changes stay.
    await second.bringToFront();
    await second.getByRole('button', { name: 'Save' }).click();
    await second.getByText('Saved together with what someone else changed in the meantime.').waitFor();
    await heading(second, 'Mine').waitFor();
    expect(await second.getByRole('textbox', { name: 'Price', exact: true }).inputValue()).toBe('4.50');
    const { body } = await service.call('GET', `/v1/products/${product}`);
    expect(body).toMatchObject({ name: 'Mine', price: 450 });

    // Both changed the price: only that is asked.
    await second.getByRole('textbox', { name: 'Price', exact: true }).fill('5');
    await second.getByRole('textbox', { name: 'Name', exact: true }).fill('Still mine');
    await first.bringToFront();
    await first.getByRole('textbox', { name: 'Price', exact: true }).fill('6');
    await first.getByRole('button', { name: 'Save' }).click();
    await heading(first, 'Mine').waitFor();
    await second.bringToFront();
    await second.getByRole('button', { name: 'Save' }).click();
    const dialog = second.getByRole('dialog', { name: 'Changed in the meantime' });
    await dialog.getByRole('row', { name: 'Price 5.00 6.00' }).waitFor();
    expect(await dialog.getByRole('row').count()).toBe(2);
    expect(await second.evaluate('document.activeElement.tagName')).not.toBe('BUTTON');
    await expectAccessible(second);
    await takeScreenshots(second, 'conflict-of-fields');
    await dialog.getByRole('button', { name: 'Take theirs' }).click();
    expect(await second.getByRole('textbox', { name: 'Price', exact: true }).inputValue()).toBe('6.00');
    await second.getByRole('button', { name: 'Save' }).click();
    await heading(second, 'Still mine').waitFor();
    const { body: last } = await service.call('GET', `/v1/products/${product}`);
    expect(last).toMatchObject({ name: 'Still mine', price: 600 });
  });

  it('is archived after a question, and restored', async () => {
    const { location, product } = await createShop('Old kiosk');
    const page = await open(`/products/${product}`);
    await page.getByRole('button', { name: 'Archive' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
    await page.getByRole('button', { name: 'Restore' }).waitFor();
    await page.goto(`/dashboard/products?location_id=${location}`);
    await page.getByText('No products yet').waitFor();
    await page.getByLabel('Archived').selectOption('only');
    await page.getByRole('link', { name: 'Old kiosk' }).click();
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('button', { name: 'Archive' }).waitFor();
  });

  it('changes a location and keeps the ids of its spots', async () => {
    const { id } = await create('/v1/locations', {
      name: 'Bar',
      currency: 'JPY',
      time_zone: 'Asia/Tokyo',
      zones: [{ name: 'Counter', spots: [{ name: 'Left' }, { name: 'Right' }] }],
    });
    const { body: before } = await service.call('GET', `/v1/locations/${id}`);
    const page = await open(`/locations/${id}/edit`);
    await page.getByRole('button', { name: 'Remove spot Left' }).click();
    await page.getByRole('button', { name: 'Add spot to Counter' }).click();
    await page.getByLabel('Name of spot 2 in Counter').fill('Door');
    await page.getByLabel('Fee rate').fill('2.5');
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'Bar').waitFor();
    const { body: after } = await service.call('GET', `/v1/locations/${id}`);
    expect(after).toMatchObject({ fee_rate_ppm: 25_000, fiscal_day_end: '00:00', zones: [{ id: before.zones[0].id }] });
    expect(after.zones[0].spots).toEqual([before.zones[0].spots[1], { id: expect.any(String), name: 'Door' }]);
  });
});

describe('taxes', () => {
  it('of locations and products are set, and on the receipt', async () => {
    const { location, product } = await createShop('Taxed');
    const page = await open(`/locations/${location}/edit`);
    await page.getByLabel('Tax rate').fill('19');
    await page.getByRole('switch', { name: 'Prices include tax' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Included in prices').waitFor();
    await page.goto(`/dashboard/products/${product}`);
    await page.getByLabel('Tax rate for take away').fill('700');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Enter a percentage').waitFor();
    await page.getByLabel('Tax rate for take away').fill('7');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved').first().waitFor();
    await page.getByLabel('Unavailable until').fill('2099-01-01T09:00');
    await page.getByRole('button', { name: 'Save' }).click();
    await until(
      () => service.call('GET', `/v1/products/${product}`),
      ({ body: { unavailable_until: time } }) => time !== undefined,
    );
    await page.getByLabel('Unavailable until').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    const { body } = await until(
      () => service.call('GET', `/v1/products/${product}`),
      ({ body: { unavailable_until: time } }) => time === undefined,
    );
    expect(body).toMatchObject({ take_away_tax_rate_ppm: 70_000 });
    expect(body).not.toHaveProperty('tax_rate_ppm');
    await expectAccessible(page);
    await takeScreenshots(page, 'product-taxes');

    const order = { location_id: location, items: [{ product_id: product, quantity: 2 }], service: 'take_away' };
    const { id } = await create('/v1/orders', order);
    await page.goto(`/dashboard/orders/${id}`);
    await page.getByText('Included tax, 7%').waitFor();
    await page.getByText('Take away').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'order-taxes');

    const today = new Date().toLocaleDateString('sv-SE', { timeZone: 'Europe/Amsterdam' });
    await service.call('POST', `/v1/locations/${location}/fiscal-days/${today}/close`);
    await page.goto(`/dashboard/locations/${location}`);
    await page.getByText('7%: €').waitFor();

    await page.goto(`/dashboard/orders/new?location_id=${location}`);
    await page.getByRole('button', { name: 'One Taxed more' }).click();
    await page.getByText('Included tax, 19%').waitFor();
    await page.getByText('Take away').click();
    await page.getByText('Included tax, 7%').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'order-new-taxes');
  });
});

describe('groups of modifiers', () => {
  it('are edited with the product, chosen in an order, and shown with it', async () => {
    browser.tolerate(/status of 422/);
    const { location, product } = await createShop('Grouped');
    const page = await open(`/products/${product}`);
    await page.getByRole('button', { name: 'Add group' }).click();
    await page.getByLabel('Name of group 1').fill('Size');
    await page.getByLabel('Name of modifier 1 of Size').fill('Small');
    await page.getByLabel('Price of modifier 1 of Size').fill('0');
    await page.getByRole('button', { name: 'Add modifier to Size' }).click();
    await page.getByLabel('Name of modifier 2 of Size').fill('Large');
    await page.getByLabel('Price of modifier 2 of Size').fill('0.60');
    await page.getByRole('button', { name: 'Add group' }).click();
    await page.getByLabel('Name of group 2').fill('Toppings');
    await page.getByLabel('Least number of modifiers of Toppings').fill('4');
    await page.getByLabel('Largest number of modifiers of Toppings').fill('3');
    await page.getByLabel('Name of modifier 1 of Toppings').fill('Large');
    await page.getByLabel('Price of modifier 1 of Toppings').fill('0.10');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('At most as many as on the right.').waitFor();
    await page.getByLabel('Least number of modifiers of Toppings').fill('0');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('is already the name of another modifier').first().waitFor();
    await page.getByLabel('Name of modifier 1 of Toppings').fill('Nuts');
    await expectAccessible(page);
    await takeScreenshots(page, 'product-groups');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Product saved.').waitFor();

    await page.goto(`/dashboard/orders/new?location_id=${location}`);
    await page.getByRole('button', { name: 'One Grouped more' }).click();
    await page.getByRole('button', { name: 'Place order' }).click();
    await page.getByText('Choose 1 more.').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Large (+ €0.60)').check();
    await page.getByText('Choose 1 more.').waitFor({ state: 'detached' });
    await page.getByLabel('Nuts (+ €0.10)').check();
    await page.getByLabel('Quantity of Nuts').fill('3');
    await page.getByText('€5.10').first().waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'new-order-groups');
    await page.getByRole('button', { name: 'Place order' }).click();
    await page.getByText('Size: 1 × Large').waitFor();
    await page.getByText('Toppings: 3 × Nuts').waitFor();
    await takeScreenshots(page, 'order-groups');
  });
});

describe('hostile names', () => {
  it('are text on every page', async () => {
    const hostile = '<img src=x onerror="window.ran=1"><script>window.ran=1</script>{{7*7}}';
    const { location, product } = await createShop(hostile, {
      tags: [hostile.slice(0, 100)],
      modifiers: [{ name: hostile, price: 1 }],
      modifier_groups: [{ name: hostile, min: 0, max: 1, modifiers: [{ name: `${hostile}2`, price: 1 }] }],
    });
    const order = await create('/v1/orders', {
      location_id: location,
      items: [{ product_id: product, quantity: 1 }],
      note: hostile,
      reference_id: hostile,
      metadata: { constructor: hostile },
    });
    const page = await open('/orders');
    for (const target of [
      `/orders?location_id=${location}`,
      `/orders/${order.id}`,
      `/orders/new?location_id=${location}`,
      '/locations',
      `/locations/${location}`,
      `/locations/${location}/edit`,
      `/products?location_id=${location}`,
      `/products/${product}`,
      `/categories?location_id=${location}`,
    ]) {
      await page.goto(`/dashboard${target}`);
      const shown = page.locator(`:text("onerror"), input[value*="onerror"]`);
      await shown.first().waitFor({ state: 'attached' });
      expect(await page.locator('main img, main script').count()).toBe(0);
    }
    expect(await page.evaluate('window.ran')).toBeUndefined();
  });
});

describe('a key that may only read', () => {
  it('sees orders and catalog, and no button that changes them', async () => {
    const { location, product } = await createShop('Read only');
    const order = await create('/v1/orders', {
      location_id: location,
      items: [{ product_id: product, quantity: 3 }],
    });
    const page = await open('/orders', await service.createKey('orders:read', 'catalog:read'));
    await page.getByRole('link', { name: order.id.slice(0, 8) }).click();
    await page.getByText('€12.60').first().waitFor();
    await page.getByText('You may not read deliveries').waitFor();
    expect(await page.getByRole('button', { name: /order$/ }).count()).toBe(0);
    await page.goto(`/dashboard/products/${product}`);
    expect(await page.getByRole('textbox', { name: 'Name', exact: true }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: /Save|Archive/ }).count()).toBe(0);
    await page.goto(`/dashboard/locations/${location}`);
    await page.getByText('No fiscal day is closed yet.').waitFor();
    expect(await page.getByRole('button', { name: /Close|Archive/ }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0);
  });
});
