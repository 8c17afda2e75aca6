/** Canaries in the dashboard: started, watched, changed, ended and promoted, and what a gate says of them. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import {
  addGate,
  answering,
  createLevels,
  createVersionsOf,
  name,
} from '../prompts/evaluations/gates/gates-harness.ts';
import { createReleased, invokeMany, setCanary } from '../prompts/evaluations/canaries/canaries-harness.ts';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { openSignedIn } from './support/sign-in.ts';

const browser = useBrowser();
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const press = (button: Locator): Promise<void> => button.and(button.page().locator(':enabled')).press('Enter');
const dialogOf = (page: Page): Locator => page.getByRole('dialog');
const menu = async (page: Page, item: string): Promise<void> => {
  await press(page.getByRole('button', { name: 'More actions for production' }));
  await press(page.getByRole('menuitem', { name: item }));
};
const panelOf = (page: Page, title = 'Canary of production: version 2'): Locator =>
  page.getByRole('region', { name: title });

describe('a canary', () => {
  it('is started, changed, ended, and promoted', async () => {
    const { id } = await createReleased(service);
    const page = await openSignedIn(browser, service, `/prompts/${id}/history`);
    await menu(page, 'Start a canary');
    const dialog = dialogOf(page);
    await dialog.getByText('This can break callers').waitFor();
    await dialog.getByRole('textbox', { name: 'Share of the invocations' }).fill('50');
    await dialog.getByRole('checkbox', { name: 'Promote it at the end' }).check();
    await dialog.getByRole('textbox', { name: 'If it has had so many invocations' }).fill('500');
    await expectAccessible(page);
    await takeScreenshots(page, 'canary-start');
    await press(dialog.getByRole('button', { name: 'Run version 2 in 50%' }));
    const panel = panelOf(page);
    await panel.getByText(/it goes back to version 1, unless version 2 has had 500 invocations by then/).waitFor();
    await panel.getByText('Nothing is counted yet.').waitFor();
    await page.getByText('50% run version 2').waitFor();
    await invokeMany(service, id, 20, { variables: { name: 'Ada' } });
    await panel.getByText('Nothing is counted yet.').waitFor({ state: 'detached' });
    await panel.getByRole('img', { name: 'Evidence 1. 1 says nothing, and at 100 it is rolled back.' }).waitFor();
    await panel.getByRole('rowheader', { name: 'Version 2 (canary)' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'canary-running');

    await press(panel.getByRole('button', { name: 'Change' }));
    await dialog.getByRole('textbox', { name: 'Share of the invocations' }).fill('20');
    await dialog.getByRole('checkbox', { name: 'Promote it at the end' }).uncheck();
    await press(dialog.getByRole('button', { name: 'Change the canary' }));
    await panel.getByText('20% of the invocations by production run version 2').waitFor();
    await panel.getByText(/it goes back to version 1, unless promoted\./).waitFor();

    await press(panel.getByRole('button', { name: 'End it' }));
    await press(dialog.getByRole('button', { name: 'End it' }));
    await panel.getByText(/Somebody ended it at .* All invocations run version 1 again\./).waitFor();
    expect(await panel.getByRole('button').count()).toBe(0);

    await menu(page, 'Start a canary');
    await press(dialog.getByRole('button', { name: 'Run version 2 in 10%' }));
    await press(panel.getByRole('button', { name: 'Promote' }));
    await dialog.getByText('This can break callers').waitFor();
    await expectAccessible(page);
    await press(dialog.getByRole('button', { name: 'Promote' }));
    await panel.getByText(/It was promoted at .*: the label names version 2\./).waitFor();
    await page.getByText('production → v2').waitFor();
    await menu(page, 'History');
    await dialog.getByText('Promoted: version 2').waitFor();
    await dialog.getByText('Version 2 in 50%').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'canary-history');
  });

  it('ends by itself when its version fails more often, and says why, in German and on a phone', async () => {
    const { id } = await createReleased(service);
    await setCanary(service, id);
    const page = await openSignedIn(browser, service, `/prompts/${id}/history`);
    const panel = panelOf(page);
    await panel.getByText(/it goes back to version 1, unless promoted\./).waitFor();
    await invokeMany(service, id, 60);
    await panel.getByText('Rolled back', { exact: true }).waitFor();
    await panel.getByText(/because version 2 failed more often\. All invocations run version 1 again\./).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'canary-failed');
    await panel.getByRole('link', { name: 'Invocations of Version 2 (canary)' }).click();
    const records = page.getByRole('table', { name: 'Invocations' });
    await records.getByRole('link').first().click();
    await page.getByRole('row', { name: 'Canary' }).getByRole('link', { name: 'The canary' }).waitFor();
    await page.goBack();
    await page.getByText('Drawn for').first().waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'canary-invocations');
    await page.goBack();
    await menu(page, 'History');
    await dialogOf(page)
      .getByText(/Rolled back: version 2\. \d+ of \d+ failed, beside 0 of \d+/)
      .waitFor();
    await dialogOf(page).getByRole('cell', { name: 'The service' }).waitFor();
    await panel.getByText(/Started by administrator/).waitFor();
    const german = await openSignedIn(browser, service, `/prompts/${id}/history`, { locale: 'de-AT', width: 390 });
    await german
      .getByRole('region', { name: 'Canary von production: Version 2' })
      .getByText('Zurückgenommen', { exact: true })
      .waitFor();
    await german.getByText(/weil Version 2 öfter fehlschlug/).waitFor();
    await german.getByText('Der Dienst', { exact: true }).first().waitFor();
    expect(await german.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await expectAccessible(german);
    await press(german.getByRole('button', { name: 'Weitere Aktionen für production' }));
    await press(german.getByRole('menuitem', { name: 'Canary beginnen' }));
    browser.tolerate(/status of 409/);
    await press(dialogOf(german).getByRole('button', { name: /^Version 2 in 10\s%/ }));
    await dialogOf(german).getByText('An earlier canary has shown that version 2 fails more often.').waitFor();
  });

  it('asks the gate: at the start, and before a promotion if the gate came later', async () => {
    await createLevels(service, 'tickets');
    const prompt = await createVersionsOf(service, answering(100), answering(60));
    await name(service, prompt, 1);
    const gate = { dataset: { name: 'tickets', version: 1 }, rule: { not_worse_by: 0.05 } };
    await setCanary(service, prompt);
    await addGate(service, prompt, gate);
    const page = await openSignedIn(browser, service, `/prompts/${prompt}/history`);
    const dialog = dialogOf(page);
    await press(panelOf(page).getByRole('button', { name: 'Promote' }));
    await dialog.getByText('The gate does not let version 2 in.').waitFor();
    await dialog.getByRole('button', { name: 'Promote', disabled: true }).waitFor();
    await dialog.getByRole('textbox', { name: 'Release it all the same, because' }).fill('Hotfix');
    await expectAccessible(page);
    await takeScreenshots(page, 'canary-promote-gated');
    await press(dialog.getByRole('button', { name: 'Promote' }));
    await page.getByText('production → v2').waitFor();
    await panelOf(page)
      .getByText(/because somebody moved the label/)
      .waitFor();

    await service.call('PUT', `/api/v1/prompts/${prompt}`, { body: answering(97) });
    await page.reload();
    await menu(page, 'Start a canary');
    await dialog.getByText('The gate does not let version 3 in.').waitFor();
    await dialog.getByRole('button', { name: 'Run version 3 in 10%', disabled: true }).waitFor();
    await dialog.getByRole('textbox', { name: 'Release it all the same, because' }).fill('Must go out');
    await press(dialog.getByRole('button', { name: 'Run version 3 in 10%' }));
    await panelOf(page, 'Canary of production: version 3')
      .getByText('Started past the gate, because: Must go out')
      .waitFor();
  });

  it('is not changed if somebody else has changed it, and is only shown to those who may not release', async () => {
    browser.tolerate(/status of 412/);
    const { id } = await createReleased(service);
    await setCanary(service, id);
    const page = await openSignedIn(browser, service, `/prompts/${id}/history`);
    await press(panelOf(page).getByRole('button', { name: 'End it' }));
    const confirm = dialogOf(page).getByRole('button', { name: 'End it' });
    await confirm.and(page.locator(':enabled')).waitFor();
    await setCanary(service, id, { version: 2, share: 0.2, hours: 2 });
    await press(confirm);
    await dialogOf(page).getByText('Changed in the meantime').waitFor();
    await press(confirm);
    await panelOf(page)
      .getByText(/Somebody ended it/)
      .waitFor();
    const key = await service.createKey('prompts:read');
    await setCanary(service, id);
    const reader = await openSignedIn(browser, service, `/prompts/${id}/history`, { apiKey: key });
    await panelOf(reader)
      .getByText(/it goes back to version 1, unless promoted\./)
      .waitFor();
    expect(await panelOf(reader).getByRole('button').count()).toBe(0);
  });
});
