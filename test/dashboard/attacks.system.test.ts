import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Exchange } from '../../src/http/exchange.ts';
import {
  createIntegration,
  eventually,
  type CreatedIntegration,
} from '../webhooks/integrations/integrations-harness.ts';
import { openShop, placeOrder } from '../orders/orders-harness.ts';
import { useBrowser } from '../support/browser.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { openSignedIn } from './support/sign-in.ts';

const browser = useBrowser();
const exchanges: Exchange[] = [];
let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
    onExchange: (exchange) => exchanges.push(exchange),
  });
});
afterAll(() => service.close());

describe('a page of another origin in the same browser', () => {
  let site: Server;
  let port: number;
  let html = '';
  beforeAll(async () => {
    site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(`<link rel="icon" href="data:,">${html}`);
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    ({ port } = site.address() as AddressInfo);
  });
  afterAll(() => {
    site.closeAllConnections();
    site.close();
  });

  /** The requests of the attacker, as the service saw them. */
  const attacks = (): [string, number, number][] =>
    exchanges
      .filter(({ requestHeaders }) => requestHeaders.origin?.endsWith(`:${port}`) === true)
      .map(({ method, url, requestHeaders, answer }) => [
        `${method} ${url}`,
        requestHeaders.cookie === undefined ? 0 : 1,
        answer.status,
      ]);

  /** Opens the page of the attacker beside the dashboard of an administrator. */
  async function attack(origin: string, content: string): Promise<{ page: Page; isUnchanged: () => Promise<void> }> {
    browser.tolerate(/CORS policy|ERR_FAILED|status of 4\d\d|favicon/);
    const dashboard = await openSignedIn(browser, service, '/api-keys', { origins: [origin] });
    const before = await dashboard.context().cookies();
    html = content;
    exchanges.length = 0;
    const page = await dashboard.context().newPage();
    await page.goto(origin);
    return {
      page,
      async isUnchanged() {
        expect(await dashboard.context().cookies()).toEqual(before);
        const { body } = await service.call('GET', '/api/v1/whoami');
        expect(body.id).toBe('administrator');
      },
    };
  }

  // The other port is of the same site, so the browser sends the cookie along. The other host is of another site.
  describe.each([
    ['of the same site', '127.0.0.1', 1],
    ['of another site', 'localhost', 0],
  ])('%s', (_name, host, hasCookie) => {
    it('changes nothing by fetch', async () => {
      const integration = await createIntegration(service);
      const session = `${service.url}/api/v1/session`;
      const pause = `${service.url}${integration.path}/pause`;
      const { page, isUnchanged } = await attack(`http://${host}:${port}`, '');
      const body = { api_key: await service.createKey('prompts:read') };
      exchanges.length = 0;
      const outcomes = await page.evaluate(
        `Promise.all([
          ['${session}', { method: 'POST', headers: { 'content-type': 'application/json' } }],
          ['${session}', { method: 'POST', mode: 'no-cors' }],
          ['${session}', { method: 'DELETE' }],
          ['${pause}', { method: 'POST' }],
          ['${pause}', { method: 'POST', mode: 'no-cors' }],
          ['${service.url}/api/v1/whoami', {}],
        ].map(([url, options]) => fetch(url, {
          ...options,
          credentials: 'include',
          ...(options.method === 'POST' && { body: ${JSON.stringify(JSON.stringify(body))} }),
        }).then((answer) => answer.type, () => 'refused')))`,
      );
      expect(outcomes).toEqual(['refused', 'opaque', 'refused', 'refused', 'opaque', 'refused']);
      await until(() => attacks().filter(([request]) => !request.startsWith('OPTIONS')).length === 4);
      expect(
        attacks()
          .filter(([request]) => !request.startsWith('OPTIONS'))
          .sort(),
      ).toEqual([
        ['GET /api/v1/whoami', hasCookie, 401],
        [`POST ${integration.path}/pause`, hasCookie, 401],
        [`POST ${integration.path}/pause`, hasCookie, 401],
        ['POST /api/v1/session', hasCookie, 415],
      ]);
      expect((await service.call('GET', integration.path)).body.status).toBe('active');
      await isUnchanged();
    });

    it('changes nothing by a form', async () => {
      const integration = await createIntegration(service);
      const key = await service.createKey('prompts:read');
      const form = (target: string): string =>
        `<form method="post" enctype="text/plain" action="${service.url}${target}">
          <input name='{"api_key":"${key}","x":"' value='"}'><button>${target}</button></form>`;
      const targets = ['/api/v1/session', `${integration.path}/pause`];
      const { page, isUnchanged } = await attack(`http://${host}:${port}`, targets.map(form).join(''));
      for (const target of targets) {
        await page.getByRole('button', { name: target }).click();
        await page.getByText('"status"').waitFor();
        await page.goBack();
      }
      await until(() => attacks().length === targets.length);
      expect(attacks()).toEqual([
        ['POST /api/v1/session', hasCookie, 415],
        [`POST ${integration.path}/pause`, hasCookie, 401],
      ]);
      expect((await service.call('GET', integration.path)).body.status).toBe('active');
      await isUnchanged();
    });
  });
});

describe('text full of HTML and script', () => {
  const hostile = `"'><b data-attack>x</b><img src=x onerror="window.attacked=1"><script>window.attacked=1</script>`;
  const elsewhere = `<img src="http://elsewhere.example/a"><a href="javascript:window.attacked=1">y</a>`;
  let receiver: Receiver;
  let integration: CreatedIntegration;
  let delivery: string;
  beforeAll(async () => {
    receiver = await startReceiver();
    receiver.always({ kind: 'answer', status: 200, headers: { 'x-answer': hostile }, body: hostile + elsewhere });
    const shop = await openShop(service);
    integration = await createIntegration(service, {
      name: hostile,
      url: `${receiver.url}?x='onmouseover=window.attacked=1`,
      headers: { 'X-Hostile': hostile + elsewhere },
    });
    await service.call('POST', '/api/v1/api-keys', { body: { name: hostile, scopes: ['prompts:read'] } });
    const messages = [{ role: 'user', content: hostile + elsewhere }];
    await service.call('POST', '/api/v1/prompts', { body: { name: hostile, slug: 'hostile', messages } });
    await placeOrder(service, shop, { note: hostile + elsewhere });
    const { body } = await eventually(
      service,
      `${integration.deliveries}&status=delivered`,
      ({ data }) => data.length > 0,
    );
    delivery = body.data[0].id;
  });
  afterAll(() => receiver.close());

  it('is shown as text on every page, and runs nowhere', async () => {
    const page = await openSignedIn(browser, service, '/integrations');
    const targets = [
      '/integrations',
      `/integrations/${integration.id}`,
      `/integrations/${integration.id}/edit`,
      `/integrations/${integration.id}/replays`,
      '/deliveries',
      `/deliveries/${delivery}`,
      '/api-keys',
      '/prompts',
      '/prompts/hostile',
      '/prompts/hostile/history',
      '/prompts/hostile/playground',
    ];
    for (const target of targets) {
      await page.goto(`/dashboard${target}`);
      await page.locator('main h1').waitFor();
      // Some texts are values of fields.
      await until(() =>
        page.evaluate(`document.body.innerText.includes('data-attack') ||
        [...document.querySelectorAll('input')].some(({ value }) => value.includes('data-attack'))`),
      );
      const [found, attacked, links] = (await page.evaluate(`[
        document.querySelectorAll('[data-attack], main script, main img').length,
        window.attacked ?? 0,
        [...document.links].filter(({ protocol }) => !/^https?:$/.test(protocol)).map(({ href }) => href),
      ]`)) as [number, number, string[]];
      expect([target, found, attacked, links]).toEqual([target, 0, 0, []]);
    }
  });

  it('is no URL of an integration or an image', async () => {
    const page = await openSignedIn(browser, service, '/integrations/new');
    await page.getByRole('textbox', { name: 'Name' }).first().fill('Script');
    await page.getByRole('textbox', { name: 'URL' }).fill('javascript:window.attacked=1');
    await page.getByRole('button', { name: 'Create integration' }).click();
    await page.getByText('Enter an http or https address').waitFor();
    for (const scheme of ['javascript:', 'data:text/html,', 'vbscript:', ' javascript:']) {
      const url = `${scheme}window.attacked=1`;
      const refused = [
        await service.call('POST', '/api/v1/integrations', { body: { name: 'x', url, event_types: ['ORDER_PLACED'] } }),
        await service.call('POST', '/v1/products', {
          body: { location_id: integration.id, category_id: integration.id, name: 'x', price: 1, image_url: url },
        }),
      ];
      for (const { status, body } of refused) {
        expect(status).toBe(400);
        expect(body.errors).toContainEqual(expect.objectContaining({ pointer: expect.stringMatching(/url$/) }));
      }
    }
  });
});

describe('a session of a key with few scopes', () => {
  it('sees no other pages and no buttons, and can do no more than the key', async () => {
    browser.tolerate(/status of 403/);
    const integration = await createIntegration(service, { name: 'Reader' });
    const page = await openSignedIn(browser, service, '/integrations', {
      apiKey: await service.createKey('integrations:read'),
    });
    await page.getByRole('link', { name: 'Reader' }).click();
    await page.getByText('Deliveries are not signed.').first().waitFor();
    const navigation = page.getByRole('navigation', { name: 'Main navigation' });
    expect(await navigation.getByRole('link').allTextContents()).toEqual([
      'Integrations',
      'Deliveries',
      'API reference',
    ]);
    for (const name of ['Pause', 'Delete', 'Send test event', 'Add a secret', 'Edit', 'Create integration']) {
      expect([name, await page.getByText(name, { exact: true }).count()]).toEqual([name, 0]);
    }
    for (const target of [
      '/api-keys',
      '/api-keys/new',
      '/prompts',
      '/integrations/new',
      `/integrations/${integration.id}/edit`,
    ]) {
      await page.goto(`/dashboard${target}`);
      await page
        .getByText(/keys:manage|prompts:read|integrations:manage/)
        .first()
        .waitFor();
    }
    const statuses = await page.evaluate(
      `Promise.all([
        ['GET', '/api/v1/api-keys'], ['GET', '/v1/orders'], ['GET', '/metrics'],
        ['POST', '${integration.path}/pause'], ['DELETE', '${integration.path}'], ['POST', '${integration.path}/test'],
      ].map(([method, url]) => fetch(url, { method }).then(({ status }) => status)))`,
    );
    expect(statuses).toEqual([403, 403, 403, 403, 403, 403]);
  });
});
