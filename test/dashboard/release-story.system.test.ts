/**
 * A complaint, and what a team does about it: the case goes into a data set, a better version is evaluated with it, a gate
 * keeps the rule, and a canary runs the version for some callers. It fails for those who do not send what it needs, and is
 * rolled back before anybody looks. In both languages and widths.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { datasets as datasetsDe } from '../../clients/dashboard/src/texts/de/datasets.ts';
import { evaluations as evaluationsDe } from '../../clients/dashboard/src/texts/de/evaluations.ts';
import { gates as gatesDe } from '../../clients/dashboard/src/texts/de/gates.ts';
import { canaries as canariesDe } from '../../clients/dashboard/src/texts/de/canaries.ts';
import { de } from '../../clients/dashboard/src/texts/de.ts';
import { datasets } from '../../clients/dashboard/src/texts/en/datasets.ts';
import { evaluations } from '../../clients/dashboard/src/texts/en/evaluations.ts';
import { gates } from '../../clients/dashboard/src/texts/en/gates.ts';
import { canaries } from '../../clients/dashboard/src/texts/en/canaries.ts';
import { en } from '../../clients/dashboard/src/texts/en.ts';
import { counting } from '../accounting/statistics/statistics-harness.ts';
import { setDataset } from '../prompts/evaluations/datasets/datasets-harness.ts';
import { invokeMany } from '../prompts/evaluations/canaries/canaries-harness.ts';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { openSignedIn } from './support/sign-in.ts';

const browser = useBrowser();
let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    ...counting,
    environment: { ...counting.environment, INVOCATION_CONTENT: 'all' },
  });
});
afterAll(() => service.close());

const languages = {
  en: { ...en, datasets, evaluations, gates, canaries },
  de: { ...de, datasets: datasetsDe, evaluations: evaluationsDe, gates: gatesDe, canaries: canariesDe },
};

const checks = JSON.stringify([{ type: 'contains', value: '{{customer}}' }]);
const press = (button: Locator): Promise<void> => button.and(button.page().locator(':enabled')).press('Enter');

/** A prompt whose second version needs a variable that callers could leave out, and a data set that has one case too few. */
async function prepare(name: string): Promise<{ prompt: string; complaint: string }> {
  const saying = (content: string) => ({ messages: [{ role: 'user', content }] });
  const body = { name, selected_provider: 'echo', ...saying('Reply to {{customer}} about {{order|the order}}.') };
  const prompt = ((await service.call('POST', '/api/v1/prompts', { body })).body as { id: string }).id;
  const path = `/api/v1/prompts/${prompt}`;
  await service.call('PUT', `${path}/labels/production`, { body: { version: 1 } });
  await service.call('PUT', path, { body: saying('Reply to {{customer}} about order {{order}}, and name it.') });
  const lines = Array.from({ length: 79 }, (_, index) =>
    JSON.stringify({ id: `case-${index}`, variables: { customer: `Customer ${index}`, order: `${index}` } }),
  );
  await setDataset(service, name, lines);
  const variables = { customer: 'Grace Hopper', order: '4711' };
  const { headers } = await service.call('POST', `${path}/invoke`, { body: { variables, label: 'production' } });
  const complaint = headers['x-invocation-id'] ?? '';
  const feedback = { score: -1, comment: 'It does not name the order.' };
  await service.call('POST', `/api/v1/invocations/${complaint}/feedback`, { body: feedback });
  return { prompt, complaint };
}

describe.each([
  { language: 'en', locale: 'en-US', width: 1280 },
  { language: 'de', locale: 'de-AT', width: 390 },
] as const)('in $language, $width pixels wide', ({ language, locale, width }) => {
  const words = languages[language];

  async function look(page: Page, scene: string): Promise<void> {
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await expectAccessible(page);
    await takeScreenshots(page, `release-story-${scene}-${language}`);
  }

  async function choose(within: Page | Locator, page: Page, field: string, value: string): Promise<void> {
    await within.getByRole('combobox', { name: field, exact: true }).fill(value);
    await page.getByRole('option', { name: value }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
  }

  async function menu(page: Page, item: string): Promise<Locator> {
    await press(page.getByRole('button', { name: words.labels.moreOf('production') }));
    await press(page.getByRole('menuitem', { name: item }));
    return page.getByRole('dialog');
  }

  it('a complaint becomes a case, an evaluation, a gate, and a canary that is rolled back by itself', async () => {
    const name = `replies-${language}`;
    const { prompt, complaint } = await prepare(name);
    const page = await openSignedIn(browser, service, `/invocations/${complaint}`, { locale, width });

    // The complaint.
    await page.getByText('It does not name the order.').waitFor();
    await look(page, '1-complaint');
    await press(page.getByRole('button', { name: words.datasets.add.button }));
    const dialog = page.getByRole('dialog');
    await choose(dialog, page, words.datasets.add.dataset, name);
    await look(page, '2-case');
    await press(dialog.getByRole('button', { name: words.datasets.add.submit }));
    await page.getByText(words.datasets.add.done(name, 2)).waitFor();

    // The evaluation.
    await page.getByRole('main').getByRole('link', { name, exact: true }).first().click();
    await page.getByRole('link', { name: words.evaluations.past }).click();
    await page.getByRole('link', { name: words.evaluations.start }).click();
    const { form } = words.evaluations;
    await choose(page, page, form.dataset, name);
    await page.getByRole('textbox', { name: form.checks }).fill(checks);
    await page.getByRole('button', { name: form.plan }).click();
    await page.getByRole('button', { name: form.submit }).click();
    await page.getByRole('region', { name: words.evaluations.results.title }).waitFor();
    await page
      .getByText(words.evaluations.verdicts['passed'] ?? '', { exact: true })
      .first()
      .waitFor();
    await look(page, '3-evaluation');

    // The gate.
    await page.getByRole('link', { name: words.prompts.workspace.tabs.history }).click();
    await menu(page, words.gates.menu);
    await choose(dialog, page, form.dataset, name);
    await dialog.getByRole('textbox', { name: form.checks }).fill(checks);
    await look(page, '4-gate');
    await press(dialog.getByRole('button', { name: words.gates.dialog.set }));
    await dialog.waitFor({ state: 'detached' });

    // The canary.
    await menu(page, words.canaries.start);
    await dialog.getByText(words.gates.refuses(2)).waitFor();
    await press(dialog.getByRole('button', { name: words.gates.evaluate(2) }));
    await dialog.getByText(words.gates.letsIn(2)).waitFor();
    await dialog.getByRole('textbox', { name: words.canaries.form.share }).fill('50');
    await look(page, '5-canary');
    await press(dialog.locator('button[type=submit]'));
    const panel = page.getByRole('region', { name: words.canaries.title('production', 2) });
    await panel.getByText(words.canaries.running, { exact: true }).waitFor();
    await dialog.waitFor({ state: 'detached' });
    await invokeMany(service, prompt, 4, { variables: { customer: 'Ada', order: '1' } });
    await panel.getByText(words.canaries.notYet).waitFor({ state: 'detached' });
    await look(page, '6-running');

    // Callers who do not send the order yet.
    await invokeMany(service, prompt, 50, { variables: { customer: 'Ada' } });
    await panel.getByText(words.canaries.statuses['failures'] ?? '', { exact: true }).waitFor();
    await look(page, '7-rolled-back');
    expect(new Set(await invokeMany(service, prompt, 5, { variables: { customer: 'Ada' } }))).toEqual(new Set([1]));

    // Who comes later sees it first of all.
    await page.goto('/dashboard/overview');
    const line = page
      .getByRole('region', { name: words.overview.attention.title })
      .getByRole('listitem')
      .filter({ hasText: name })
      .filter({ hasText: words.overview.attention.rolledBack('production') });
    await line.waitFor();
    await look(page, '8-overview');
    await line.getByRole('link').click();
    await panel.getByText(words.canaries.statuses['failures'] ?? '', { exact: true }).waitFor();
    await menu(page, words.labels.history);
    await dialog.getByText(words.canaries.move.ended(words.canaries.statuses['failures'] ?? '', 2)).waitFor();
    await dialog.getByText(words.labels.moves.shown(1)).waitFor();
    await look(page, '9-history');
  });
});
