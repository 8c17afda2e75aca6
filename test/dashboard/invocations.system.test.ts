import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startInvokeHarness, type InvokeHarness } from '../prompts/invoke/invoke-harness.ts';
import { setBudget, usd } from '../accounting/budgets/budgets-harness.ts';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { openSignedIn } from './support/sign-in.ts';

const browser = useBrowser();
let harness: InvokeHarness;
let slug: string;
beforeAll(async () => {
  harness = await startInvokeHarness({ environment: { INVOCATION_CONTENT: 'all' } });
  slug = await harness.createPrompt({ fallbacks: [{ provider: 'spare', model: 'spare-a' }] });
  const call = (body: object, headers: Record<string, string> = {}): Promise<unknown> =>
    harness.invoke(slug, body, headers);
  await call({ variables: { name: 'Ada' } });
  await call({ model: 'mock-400' });
  await call({ model: 'mock-503', fallbacks: [{ provider: 'spare', model: 'spare-a' }] });
  await call({}, { 'X-Tags': 'team=checkout' });
});
afterAll(() => harness.close());

const open = (target: string, apiKey = harness.service.adminKey): Promise<Page> =>
  openSignedIn(browser, harness.service, target, { apiKey });
const rows = (page: Page) => page.getByRole('table', { name: 'Invocations' }).getByRole('row');

describe('the invocation log', () => {
  it('leads from the list to what failed and why', async () => {
    const page = await open('/invocations');
    await page.getByRole('heading', { level: 1, name: 'Invocations' }).waitFor();
    await rows(page).nth(4).waitFor();
    expect(await rows(page).count()).toBe(5);
    await expectAccessible(page);
    await takeScreenshots(page, 'invocations');

    await page.getByLabel('Status').selectOption('failed');
    await page.waitForURL('**/invocations?status=failed');
    await rows(page).getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: slug }).waitFor();
    const calls = page.locator('section', { hasText: 'Calls to providers' });
    await calls.getByText('mock / mock-400').waitFor();
    await page.getByRole('link', { name: 'provider-failed' }).click();
    await page.waitForURL('**/invocations?problem=provider-failed');
  });

  it('says where each answer broke', async () => {
    const schema = { properties: { priority: { enum: ['low', 'high'] } } };
    const prompt = await harness.createPrompt({ response_format: { type: 'json', schema }, retries: 1 });
    for (const text of ['{"priority": low}', '{"priority": "urgent"}']) {
      harness.mock.behave('model-a', { kind: 'stream', steps: [{ text }, { finish: 'stop' }] });
    }
    const { headers } = await harness.invoke(prompt);
    const page = await open(`/invocations/${headers['x-invocation-id'] ?? ''}`);
    const why = page.getByRole('alert', { name: 'Why it failed' });
    await why.getByText("The provider's answer is not JSON at character 14.").waitFor();
    await why.getByText('at /priority (#/properties/priority/enum: ["low","high"])').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'invocation-bad-answers');
    await harness.service.call('DELETE', `/api/v1/prompts/${prompt}`);
  });

  it('shows each call, what it cost, and the tags of an invocation', async () => {
    const page = await open('/invocations?tag=team%3Dcheckout');
    await rows(page).getByRole('link').click();
    await page.getByRole('link', { name: 'team=checkout' }).waitFor();
    await page.goto(`${harness.service.url}/dashboard/invocations?model=spare-a`);
    await rows(page).getByRole('link').click();
    const calls = page.locator('section', { hasText: 'Calls to providers' });
    await calls.getByRole('listitem').nth(1).waitFor();
    await calls.getByText('spare / spare-a').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'invocation');
    await page.getByRole('link', { name: 'All invocations of this prompt' }).click();
    await rows(page).nth(4).waitFor();
    await page.goBack();
    // The playground begins with what the invocation had.
    await page.getByRole('link', { name: 'Open the prompt in the playground' }).click();
    await expect(page.getByLabel('Version', { exact: true }).inputValue()).resolves.toBe('1');
    await expect(page.getByRole('combobox', { name: 'Model' }).inputValue()).resolves.toBe('spare-a');
  });

  it('is filtered by version and label, and says who uses a prompt', async () => {
    await harness.service.call('PUT', `/api/v1/prompts/${slug}/labels/production`, { body: { version: 1 } });
    await harness.invoke(slug, { label: 'production' });
    const page = await open('/invocations');
    await page.getByLabel('Label').selectOption('production');
    await rows(page).nth(2).waitFor({ state: 'detached' });
    await page.getByLabel('Version').selectOption('1');
    await page.waitForURL('**/invocations?label=production&version=1');
    await page.goto(`${harness.service.url}/dashboard/prompts/${slug}/statistics`);
    const users = page.getByRole('table', { name: 'Who uses this prompt' });
    await users.getByRole('link', { name: 'administrator' }).waitFor();
    await page.getByText('Last week').click();
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-users');
    await users.getByRole('link', { name: 'administrator' }).click();
    await page.waitForURL('**/invocations?prompt=*&since=*&until=*&author_id=administrator');
    await rows(page).nth(5).waitFor();
  });

  it('adds up to the costs, which lead back to it', async () => {
    const price = { rates: [{ input: '2.5', output: '10' }] };
    expect((await harness.service.call('PUT', '/api/v1/prices/mock/model-a', { body: price })).status).toBe(201);
    for (let call = 0; call < 3; call += 1) await harness.invoke(slug, {}, { 'X-Tags': 'team=checkout' });
    const page = await open('/costs');
    await page.getByText('Some costs are unknown').waitFor();
    await page.getByRole('table').getByRole('link', { name: 'mock / model-a' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'costs');
    await page.getByText('By tag').click();
    await page.waitForURL('**/costs?by=tag');
    await page.getByRole('link', { name: 'team=checkout' }).click();
    await page.waitForURL('**/invocations?*tag=**');
    await rows(page).nth(4).waitFor();
  });

  it('gives a model its price, from the costs that are unknown', async () => {
    const page = await open('/costs');
    await page.getByRole('link', { name: 'Set a price for spare / spare-a' }).click();
    await page.getByRole('heading', { level: 1, name: 'Price of spare / spare-a' }).waitFor();
    await page.getByLabel('Input tokens').fill('free');
    await page.getByRole('button', { name: 'Set price' }).click();
    await page.getByText('Enter dollars, such as 2.5').first().waitFor();
    await page.locator('input:focus[data-path="input"]').waitFor();
    await page.getByLabel('Input tokens').fill('2,5');
    await page.getByLabel('Output tokens').fill('10');
    await page.getByLabel('Input from the cache').fill('0.25');
    await expectAccessible(page);
    await takeScreenshots(page, 'price');
    await page.getByRole('button', { name: 'Set price' }).click();
    await page.getByText('has a price now').nth(1).waitFor();
    const { body } = await harness.service.call('GET', '/api/v1/prices/spare/spare-a');
    expect(body.rates).toMatchObject([{ source: 'operator', input: '2.5', cached_input: '0.25', output: '10' }]);
  });

  it('is limited by budgets, which are created, changed and deleted beside the costs', async () => {
    const { service } = harness;
    const team = { name: 'Checkout', scopes: ['prompts:invoke'], limits: { tags: { team: 'checkout' } } };
    const { body: key } = await service.call('POST', '/api/v1/api-keys', { body: team });
    const page = await open('/costs');
    const budgets = page.getByRole('region', { name: 'Budgets' });
    await budgets.getByText('A call that could exceed it is not made').waitFor();
    await budgets.getByRole('link', { name: 'Create budget' }).click();
    await page.getByRole('button', { name: 'Create budget' }).click();
    await page.getByText('Enter lower-case letters and digits').waitFor();
    await page.locator('input:focus[data-path="name"]').waitFor();
    await page.getByLabel('Name').fill('checkout');
    await page.getByLabel('Calls that count').selectOption({ label: 'With a tag' });
    await page.getByRole('combobox', { name: 'Tag' }).click();
    await page.getByRole('option', { name: 'team=checkout' }).click();
    await page.getByRole('textbox', { name: 'Limit', exact: true }).fill('0,05');
    await page.getByLabel('Period').selectOption({ label: 'Each month' });
    await page.getByLabel('Output tokens if a call has no limit').fill('20');
    const events = page.getByRole('combobox', { name: 'Events' });
    await events.fill('80 %');
    await events.press('Enter');
    await expectAccessible(page);
    await takeScreenshots(page, 'new-budget');
    await page.getByRole('button', { name: 'Create budget' }).click();
    const card = (name: string) => budgets.getByRole('listitem', { name });
    await card('checkout').getByText('Within the limit').waitFor();
    await card('checkout').getByText('$0.00 of $0.05 spent (0%)').waitFor();
    await card('checkout').getByRole('link', { name: 'team=checkout' }).waitFor();
    await card('checkout').getByText('Event at 80%').waitFor();

    expect((await harness.invoke(slug, {}, {}, key.key as string)).status).toBe(200);
    const { body: prompt } = await service.call('GET', `/api/v1/prompts/${slug}`);
    await setBudget(service, 'greeting', {
      scope: { prompt_id: prompt.id },
      period: 'month',
      time_zone: 'Europe/Berlin',
    });
    await setBudget(service, 'helpdesk', { scope: { key_id: key.id }, limit: usd('0'), period: 'once' });
    await until(
      () => service.call('GET', '/api/v1/budgets/checkout'),
      ({ body }) => (body.current as { spent: { amount: string } }).spent.amount !== '0',
    );
    await page.reload();
    await card('checkout').getByText('$0.000098 of $0.05 spent').waitFor();
    await card('helpdesk').getByText('Used up').waitFor();
    await card('helpdesk').getByRole('link', { name: 'Checkout', exact: true }).waitFor();
    await card('greeting').getByRole('link', { name: 'Greeting', exact: true }).waitFor();
    await card('greeting').getByText('Each month, Europe/Berlin').waitFor();
    await expectAccessible(page);
    await budgets.scrollIntoViewIfNeeded();
    await takeScreenshots(page, 'budgets');

    await page.getByRole('link', { name: 'Change checkout' }).click();
    expect(await page.getByLabel('Name').isDisabled()).toBe(true);
    await page.getByRole('textbox', { name: 'Limit', exact: true }).fill('5');
    await page.getByLabel('Period').selectOption({ label: 'Each week' });
    await page.getByText('the budget begins anew').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await card('checkout').getByText('$0.00 of $5.00 spent (0%)').waitFor();
    const { body: saved } = await service.call('GET', '/api/v1/budgets/checkout');
    expect(saved).toMatchObject({
      scope: { tag: 'team=checkout' },
      period: 'week',
      assume_max_output_tokens: 20,
      thresholds: [80],
    });

    await page.getByRole('button', { name: 'Delete helpdesk' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete budget' }).click();
    await card('helpdesk').waitFor({ state: 'detached' });
    const reader = await open('/costs', await service.createKey('invocations:read', 'budgets:read'));
    await reader.getByRole('region', { name: 'Budgets' }).getByText('checkout', { exact: true }).waitFor();
    expect(await reader.getByRole('link', { name: /Create budget|Change/ }).count()).toBe(0);
    expect(await reader.getByRole('button', { name: /Delete/ }).count()).toBe(0);
    for (const name of ['checkout', 'greeting']) await service.call('DELETE', `/api/v1/budgets/${name}`);
  });

  it('shows feedback, and reads and erases the content when asked', async () => {
    const { headers } = await harness.invoke(slug, { variables: { name: 'Grace' } }, { 'X-Tags': 'user=grace' });
    const id = headers['x-invocation-id'] ?? '';
    const feedback = { score: -1, comment: 'Too short' };
    await harness.service.call('POST', `/api/v1/invocations/${id}/feedback`, { body: feedback });
    const readings = async (): Promise<unknown[]> => {
      const { body } = await harness.service.call('GET', `/api/v1/audit-log?resource_id=${id}`);
      return body.data as unknown[];
    };
    const page = await open(`/invocations/${id}`);
    await page.getByText('Too short').waitFor();
    await page.getByRole('button', { name: 'Read content' }).waitFor();
    expect(await readings()).toEqual([]);
    await page.getByRole('button', { name: 'Read content' }).click();
    await page.getByText('Hello Grace').waitFor();
    await page.getByText('Hello from model-a.').waitFor();
    expect(await readings()).toHaveLength(1);
    await expectAccessible(page);
    await takeScreenshots(page, 'invocation-content');

    // The playground has its values, and nothing is read again.
    await page.getByRole('link', { name: 'Open the prompt in the playground' }).click();
    await page.getByText('With the values of the invocation').waitFor();
    await expect(page.getByRole('textbox', { name: 'name' }).inputValue()).resolves.toBe('Grace');
    await expectAccessible(page);
    await takeScreenshots(page, 'playground-of-invocation');
    expect(await readings()).toHaveLength(1);
    await page.goBack();
    await page.getByRole('button', { name: 'Read content' }).click();
    await page.getByText('Hello Grace').waitFor();

    await page.getByRole('button', { name: 'Erase content and tags' }).click();
    const question = page.getByRole('dialog');
    for (const lost of ['the texts of the request', 'the tags user=grace', 'the comment of a rating']) {
      await question.getByRole('listitem').getByText(lost).waitFor();
    }
    await takeScreenshots(page, 'invocation-erase');
    await question.getByRole('button', { name: 'Erase content and tags' }).click();
    await page.getByText('Too short').waitFor({ state: 'hidden' });
    expect(await page.getByText('Hello Grace').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'user=grace' }).count()).toBe(0);
  });

  it('keeps the content that the prompt says', async () => {
    const page = await open(`/prompts/${slug}`);
    const field = page.getByLabel('Texts in the invocation log');
    await field.selectOption({ label: 'Only of invocations that fail' });
    await field.scrollIntoViewIfNeeded();
    await takeScreenshots(page, 'prompt-invocation-content');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('there is no new version').waitFor();
    const stored = async () => (await harness.service.call('GET', `/api/v1/prompts/${slug}`)).body;
    expect(await stored()).toMatchObject({ invocation_content: 'errors', version: 1 });
    await field.selectOption({ label: 'As the service is set' });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Unsaved changes').first().waitFor({ state: 'detached' });
    expect(await stored()).not.toHaveProperty('invocation_content');
  });

  it('does not offer the content to a key without its scope', async () => {
    const { headers } = await harness.invoke(slug);
    const key = await harness.service.createKey('invocations:read');
    const page = await open(`/invocations/${headers['x-invocation-id'] ?? ''}`, key);
    await page.getByText('needs a key with the scope invocations:content').waitFor();
    expect(await page.getByRole('button', { name: 'Read content' }).count()).toBe(0);
  });

  it('is not offered to a key without its scope', async () => {
    const page = await open('/prompts', await harness.service.createKey('prompts:read'));
    await page.getByRole('heading', { level: 1, name: 'Prompts' }).waitFor();
    expect(await page.getByRole('link', { name: 'Invocations' }).count()).toBe(0);
  });
});
