import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listOperations } from '../../src/codegen/contract-document.ts';
import { readGuides } from '../../src/codegen/guides.ts';
import { contract } from '../support/schema-arbitraries.ts';
import { useBrowser } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

const browser = useBrowser();
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe('the reference in a browser', () => {
  it('shows every guide, finds its words, and keeps the spaces between them', async () => {
    const page = await browser.open(service.url, '/docs');
    const guides = await readGuides(new URL('../..', import.meta.url).pathname);
    expect(guides.length).toBeGreaterThan(5);
    for (const { title } of guides) {
      await page.getByText(title, { exact: true }).first().click();
      await page.getByLabel(`link to ${title}`, { exact: true }).first().waitFor({ state: 'attached' });
    }
    await page.getByText('Search', { exact: false }).first().click();
    await page.keyboard.type('mongodump');
    await page.getByText('mongodump', { exact: true }).first().waitFor();
    // Redoc's search drops the line breaks in a paragraph.
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('attempts to deliver events, summed');
    await page.getByText('attempts to deliver events, summed over all processes').first().waitFor();
  });

  it('shows every operation, and finds it by its operationId', async () => {
    const page = await browser.open(service.url, '/docs');
    const operations = listOperations(contract).map(({ operation }) => operation);
    for (const [tag = '', some] of Map.groupBy(operations, ({ tags }) => tags?.[0])) {
      await page.goto(`${service.url}/docs#/${tag.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`);
      for (const { summary = '' } of some) await page.getByText(summary, { exact: true }).first().waitFor();
    }
    await page.getByText('Search', { exact: false }).first().click();
    await page.keyboard.type('setBudget');
    await page.getByText('setBudget', { exact: true }).first().waitFor();
  });
});
