/**
 * What operators come for. Each story begins at the sign-in: the overview says what fails, and few steps lead to the cause in the words of the provider or the receiver, to what was hit, and to what to do.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { defaultTiming, type WebhookTiming } from '../../src/webhooks/timing.ts';
import { createWebhooks } from '../../src/webhooks/webhooks.ts';
import { setBudget, usd } from '../accounting/budgets/budgets-harness.ts';
import { counting } from '../accounting/statistics/statistics-harness.ts';
import { openShop, placeOrder } from '../orders/orders-harness.ts';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { startMockProvider, type Behaviour, type MockProvider } from '../support/mock-provider.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createIntegration } from '../webhooks/integrations/integrations-harness.ts';
import { until } from '../support/until.ts';
import { signIn } from './support/sign-in.ts';

/** Failed deliveries are due again immediately. */
const timing: WebhookTiming = {
  ...defaultTiming,
  schedule: defaultTiming.schedule.map(() => 0),
  breaker: { failures: 3, firstOpen: 3_600_000, longestOpen: 3_600_000 },
};

const browser = useBrowser();
let mock: MockProvider;
let service: TestService;
beforeAll(async () => {
  mock = await startMockProvider();
});
afterAll(() => mock.close());
beforeEach(async () => {
  mock.reset();
  const providers = [
    { id: 'anthropic-eu', name: 'Anthropic EU', base_url: mock.url, api_key: 'EXAMPLE-key', models: ['claude'] },
    {
      id: 'vllm',
      name: 'vLLM',
      base_url: mock.url,
      models: ['llama'],
      structured_outputs: true,
      enforces_max_output: true,
    },
  ];
  service = await startTestService({
    ...counting,
    environment: {
      ...counting.environment,
      INVOCATION_CONTENT: 'all',
      OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify(providers),
    },
    createWebhooks: (dependencies) => createWebhooks({ ...dependencies, timing }),
  });
});
afterEach(() => service.close());

async function createPrompt(name: string, members: object = {}): Promise<string> {
  const messages = [{ role: 'user', content: 'Reply to {{customer|Ada}} in {{language|English}}.' }];
  const body = { name, messages, selected_provider: 'vllm', selected_model: 'llama', ...members };
  return (await service.call('POST', '/api/v1/prompts', { body })).body.id;
}

async function invoke(prompt: string, times: number, body: object = {}): Promise<number[]> {
  const statuses: number[] = [];
  for (let time = 0; time < times; time += 1) {
    statuses.push((await service.call('POST', `/api/v1/prompts/${prompt}/invoke`, { body })).status);
  }
  return statuses;
}

function failWith(model: string, times: number, behaviour: Behaviour): void {
  mock.behave(model, ...Array.from({ length: times }, () => behaviour));
}

/** Signs in at the overview. @returns the line about what needs attention */
async function signInAndSee(name: string, width = 1280): Promise<{ page: Page; line: Locator }> {
  const page = await browser.open(service.url, '/dashboard/', { width });
  await signIn(page, service.adminKey);
  const attention = page.getByRole('region', { name: 'Needs attention' });
  const line = attention.getByRole('listitem').filter({ hasText: name });
  await line.waitFor();
  return { page, line };
}

const rows = (page: Page): Locator => page.getByRole('table', { name: 'Invocations' }).locator('tbody tr');

/** Counts the steps of a story after the sign-in. */
function countSteps(): { readonly count: number; press: (target: Locator) => Promise<void> } {
  let count = 0;
  return {
    get count() {
      return count;
    },
    async press(target) {
      await target.click();
      count += 1;
    },
  };
}

async function expectRows(page: Page, count: number): Promise<void> {
  await rows(page)
    .nth(count - 1)
    .waitFor();
  expect(await rows(page).count()).toBe(count);
}

async function look(page: Page, name: string): Promise<void> {
  await expectAccessible(page);
  await takeScreenshots(page, `story-${name}`);
}

describe('an operator', () => {
  it('sees that a provider refuses its key, what it hit, and whether another key works', async () => {
    browser.tolerate(/status of 502/);
    const summary = await createPrompt('Summarise a ticket', {
      selected_provider: 'anthropic-eu',
      selected_model: 'claude',
      fallbacks: [{ provider: 'vllm', model: 'llama' }],
    });
    failWith('claude', 5, { kind: 'status', status: 401 });
    expect(await invoke(summary, 4)).toEqual([200, 200, 200, 200]);
    const { page, line } = await signInAndSee('Anthropic EU');
    await line.getByText('does not accept the configured credentials (status 401)').waitFor();
    await line.getByText('4 invocations').waitFor();
    await look(page, 'key-overview');
    const german = await browser.open(service.url, '/dashboard/overview', { locale: 'de-AT' });
    await signIn(german, service.adminKey);
    await german.getByText('Der Anbieter hat die Zugangsdaten abgelehnt (Status 401).').first().waitFor();
    await german.close();
    const steps = countSteps();
    const { press } = steps;
    await press(line.getByRole('link'));
    await expectRows(page, 4);
    await page.goBack();
    await press(page.getByRole('region', { name: 'Providers' }).getByRole('link', { name: 'Anthropic EU' }));
    await page.getByText('Check api_key and headers of "anthropic-eu"').first().waitFor();
    const test = page.getByRole('button', { name: 'Test it' });
    await press(test);
    await page.getByText('Provider refused the credentials').waitFor();
    await look(page, 'key-provider');
    // The next call has the right key.
    await press(test);
    await page.getByText('No call has succeeded since').waitFor({ state: 'detached' });
    expect(steps.count).toBeLessThanOrEqual(4);
  });

  it('sees a rate limit, in the words of the provider, and which calls it hit', async () => {
    browser.tolerate(/status of 502/);
    const reply = await createPrompt('Reply to a customer');
    failWith('llama', 9, {
      kind: 'body',
      status: 429,
      contentType: 'application/json',
      body: '{"error": {"message": "Rate limit reached: 30,000 tokens a minute.", "code": "rate_limit_exceeded"}}',
    });
    expect(await invoke(reply, 3)).toEqual([502, 502, 502]);
    const { page, line } = await signInAndSee('vLLM', 390);
    await line.getByText('“Rate limit reached: 30,000 tokens a minute.”').waitFor();
    await line.getByText('3 invocations, 1 prompt').waitFor();
    await look(page, 'limit-overview');
    const { press } = countSteps();
    await press(line.getByRole('link'));
    await expectRows(page, 3);
    await press(rows(page).first().getByRole('link').first());
    const why = page.getByRole('alert', { name: 'Why it failed' });
    await why.getByText('vllm / llama, 3 calls').waitFor();
    await why.getByText('Rate limit reached: 30,000 tokens a minute.').waitFor();
    await why.getByRole('link', { name: 'What this means and what to do' }).waitFor();
    await look(page, 'limit-why');
  });

  it('sees a receiver that is down, and sends what waits when it is back', async () => {
    const receiver = await startReceiver();
    receiver.always({ kind: 'answer', status: 503, body: 'closed for repair' });
    const shop = await openShop(service);
    await createIntegration(service, { name: 'Kitchen display', url: receiver.url });
    await placeOrder(service, shop);
    const { page, line } = await signInAndSee('Kitchen display');
    await line.getByText('Last answer: status 503').waitFor();
    await line.getByText('3 failures in a row').waitFor();
    const steps = countSteps();
    const { press } = steps;
    await press(line.getByRole('link'));
    await page.getByText('closed for repair').waitFor();
    await look(page, 'receiver');
    receiver.always({ kind: 'answer' });
    await press(page.getByRole('button', { name: 'Attempt now' }));
    await page.locator('main h1 + *').getByText('Active').waitFor();
    await press(page.getByRole('link', { name: 'Overview' }));
    await page.getByText('Nothing needs attention.').waitFor();
    expect(steps.count).toBe(3);
    await receiver.close();
  });

  it('sees a release that fails, and rolls it back', async () => {
    browser.tolerate(/status of 502/);
    const reply = await createPrompt('Reply to a customer');
    const label = `/api/v1/prompts/${reply}/labels/production`;
    await service.call('PUT', label, { body: { version: 1 } });
    expect(await invoke(reply, 2, { label: 'production' })).toEqual([200, 200]);
    const schema = { type: 'object', properties: { reply: { type: 'string' } }, required: ['reply'] };
    const body = { response_format: { type: 'json', schema } };
    await service.call('PUT', `/api/v1/prompts/${reply}`, { body });
    const moving = { body: { version: 2 }, headers: { 'If-Match': '*' } };
    expect((await service.call('PUT', label, moving)).status).toBe(200);
    expect(await invoke(reply, 6, { label: 'production' })).toEqual([502, 502, 502, 502, 502, 502]);
    const { page, line } = await signInAndSee('reply-to-a-customer · v2');
    await line.getByText("The provider's answer is not JSON at character 1.").waitFor();
    await line.getByText('6 of 6 failed').waitFor();
    await look(page, 'release-overview');
    const steps = countSteps();
    const { press } = steps;
    await press(line.getByRole('link'));
    await expectRows(page, 6);
    await press(page.getByRole('link', { name: 'reply-to-a-customer · v2' }).first());
    await press(page.getByRole('main').getByRole('link', { name: 'reply-to-a-customer', exact: true }));
    await press(page.getByRole('link', { name: 'History' }));
    await press(page.getByRole('button', { name: 'Move production' }));
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Version', { exact: true }).selectOption('1');
    await dialog.getByText('What changes for production: v2 → v1').waitFor();
    await look(page, 'release-rollback');
    await press(dialog.getByRole('button', { name: 'Move production to v1' }));
    await page.getByText('production → v1').waitFor();
    expect(await invoke(reply, 1, { label: 'production' })).toEqual([200]);
    expect(steps.count).toBeLessThanOrEqual(6);
  });

  it('sees a budget that refuses, what it refuses, and raises it', async () => {
    browser.tolerate(/status of 402/);
    const nightly = await createPrompt('Nightly batch');
    const parameters = { max_output_tokens: 100 };
    await service.call('PUT', '/api/v1/prices/vllm/llama', { body: { rates: [{ input: '1', output: '1' }] } });
    await setBudget(service, 'nightly-batch', {
      scope: { prompt_id: nightly },
      limit: usd('0.000001'),
      period: 'month',
    });
    expect(await invoke(nightly, 3, { parameters })).toEqual([402, 402, 402]);
    const { page, line } = await signInAndSee('nightly-batch');
    await line.getByText('3 invocations, 1 prompt').waitFor();
    const steps = countSteps();
    const { press } = steps;
    await press(line.getByRole('link'));
    await expectRows(page, 3);
    await press(rows(page).first().getByRole('link').first());
    const why = page.getByRole('alert', { name: 'Why it failed' });
    await why.getByText('It could have cost more than what is left of a budget').waitFor();
    await look(page, 'budget-why');
    await press(why.getByRole('link', { name: 'nightly-batch' }));
    await page.getByRole('textbox', { name: 'Limit', exact: true }).fill('5');
    await look(page, 'budget-limit');
    await press(page.getByRole('button', { name: 'Save' }));
    await page.getByText('of $5.00 spent').waitFor();
    expect(await invoke(nightly, 1, { parameters })).toEqual([200]);
    expect(steps.count).toBe(4);
  });

  it('goes from a complaint to the record, the playground with its values, a new version, and its release', async () => {
    const reply = await createPrompt('Reply to a customer');
    await service.call('PUT', `/api/v1/prompts/${reply}/labels/production`, { body: { version: 1 } });
    const variables = { customer: 'Grace', language: 'French' };
    const { headers } = await service.call('POST', `/api/v1/prompts/${reply}/invoke`, { body: { variables } });
    const page = await browser.open(service.url, `/dashboard/invocations/${headers['x-invocation-id'] ?? ''}`);
    await signIn(page, service.adminKey);
    await page.getByRole('heading', { level: 1, name: 'reply-to-a-customer' }).waitFor();
    const steps = countSteps();
    const { press } = steps;
    await press(page.getByRole('link', { name: 'Open the prompt in the playground' }));
    const value = (name: string): Promise<string> => page.getByRole('textbox', { name, exact: true }).inputValue();
    await page.getByRole('textbox', { name: 'language' }).waitFor();
    // The fields are there before the values of the invocation.
    await until(
      () => Promise.all([value('customer'), value('language')]),
      ([customer, language]) => customer === 'Grace' && language === 'French',
    );
    await look(page, 'complaint-playground');
    await press(page.getByRole('link', { name: 'Editor' }));
    await press(page.getByLabel('Text of message 1'));
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type(' Be polite.');
    await press(page.getByRole('button', { name: 'Save' }));
    await page.getByText('Saved as version 2.').waitFor();
    await press(page.getByRole('link', { name: 'History' }));
    await press(page.getByRole('button', { name: 'Move production' }));
    const dialog = page.getByRole('dialog');
    await dialog.locator('.cm-merge-b .cm-changedLine', { hasText: 'Be polite.' }).waitFor();
    await look(page, 'complaint-release');
    await press(dialog.getByRole('button', { name: 'Move production to v2' }));
    await page.getByText('production → v2').waitFor();
    expect(steps.count).toBeLessThanOrEqual(7);
    mock.reset();
    expect(await invoke(reply, 1, { label: 'production' })).toEqual([200]);
    expect(mock.requests[0]?.text).toContain('Be polite.');
  });
});
