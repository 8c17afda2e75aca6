import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { unwrap } from '../../clients/typescript/src/webhooks.ts';
import { useBrowser } from '../support/browser.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { isNightly } from '../support/run-settings.ts';
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';

const browser = useBrowser();

/** Starts the real program with a database of its own, which takes some seconds. */
(isNightly ? describe : describe.skip)('a newcomer', () => {
  let dataDir: string;
  let receiver: Receiver;
  let service: ServiceProcess;
  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'newcomer-'));
    receiver = await startReceiver();
    service = await startServiceProcess({ PORT: '0', DATA_DIR: dataDir, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' });
  });
  afterAll(async () => {
    await service.stop();
    await receiver.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('gets from the first start to a signed delivery', async () => {
    const [link = ''] = await until(
      () => /\S+#sign-in=\S+/.exec(service.messages.join('\n')) ?? [],
      ({ length }) => length > 0,
    );
    const [key = ''] = /pgw_\S+/.exec(service.messages.join('\n')) ?? [];
    const page = await browser.open(service.url, link);
    await page.getByRole('navigation', { name: 'Main navigation' }).getByRole('link', { name: 'Integrations' }).click();
    await page.getByRole('link', { name: 'Create integration' }).first().click();
    await page.getByRole('textbox', { name: 'Name' }).first().fill('My receiver');
    await page.getByRole('textbox', { name: 'URL' }).fill(receiver.url);
    await page.getByLabel('ORDER_PLACED', { exact: true }).check();
    await page.getByRole('button', { name: 'Create integration' }).click();
    const secret = await page.getByRole('textbox', { name: 'Secret', exact: true }).inputValue();
    await page.getByRole('link', { name: 'I have saved the secret' }).click();

    const order = await placeOrder(service.url, key);
    await page.getByRole('main').getByRole('link', { name: 'Deliveries', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'My receiver' }).getByText('Delivered').waitFor();
    const [request] = receiver.requests;
    if (request === undefined) throw new Error('nothing arrived');
    const event = await unwrap(request.body, request.headers, secret);
    expect(event).toMatchObject({ type: 'ORDER_PLACED', targetUuid: order });
  });
});

/** Creates a location with a product, and places an order. @returns its id */
async function placeOrder(url: string, key: string): Promise<string> {
  const create = async (target: string, body: object): Promise<string> => {
    const answer = await fetch(url + target, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(201);
    return ((await answer.json()) as { id: string }).id;
  };
  const location_id = await create('/v1/locations', { name: 'Café', currency: 'EUR', time_zone: 'Europe/Amsterdam' });
  const category_id = await create('/v1/categories', { location_id, name: 'Hot drinks' });
  const product_id = await create('/v1/products', { location_id, category_id, name: 'Flat white', price: 420 });
  return await create('/v1/orders', { location_id, items: [{ product_id, quantity: 1 }] });
}
