import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startInvokeHarness, type InvokeHarness } from '../invoke/invoke-harness.ts';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { openSignedIn } from './support/sign-in.ts';

const browser = useBrowser();
let harness: InvokeHarness;
let slug: string;
beforeAll(async () => {
  harness = await startInvokeHarness();
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
  });

  it('adds up to the costs, which lead back to it', async () => {
    const price = { rates: [{ input: '2.5', output: '10' }] };
    expect((await harness.service.call('PUT', '/api/v1/prices/mock/model-a', { body: price })).status).toBe(201);
    for (let call = 0; call < 3; call += 1) await harness.invoke(slug, {}, { 'X-Tags': 'team=checkout' });
    const page = await open('/costs');
    await page.getByText('For some calls no price is known').waitFor();
    await page.getByRole('link', { name: 'mock / model-a' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'costs');
    await page.getByText('By tag').click();
    await page.waitForURL('**/costs?by=tag');
    await page.getByRole('link', { name: 'team=checkout' }).click();
    await page.waitForURL('**/invocations?tag=**');
    await rows(page).nth(4).waitFor();
  });

  it('is not offered to a key without its scope', async () => {
    const page = await open('/prompts', await harness.service.createKey('prompts:read'));
    await page.getByRole('heading', { level: 1, name: 'Prompts' }).waitFor();
    expect(await page.getByRole('link', { name: 'Invocations' }).count()).toBe(0);
  });
});
