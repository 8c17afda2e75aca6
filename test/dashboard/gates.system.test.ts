import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import {
  addGate,
  answering,
  createLevels,
  createVersionsOf,
  name,
} from '../prompts/evaluations/gates/gates-harness.ts';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { openSignedIn } from './support/sign-in.ts';

const browser = useBrowser();
let service: TestService;
let prompt: string;
beforeAll(async () => {
  service = await startTestService();
  await createLevels(service, 'tickets');
  // Version 2 is as good as version 1, version 3 is worse.
  prompt = await createVersionsOf(service, answering(100), answering(100, ' indeed'), answering(60));
  await name(service, prompt, 1);
  await addGate(service, prompt, { dataset: { name: 'tickets', version: 1 }, rule: { not_worse_by: 0.05 }, anchor: 1 });
});
afterAll(() => service.close());

const press = (button: Locator): Promise<void> => button.and(button.page().locator(':enabled')).press('Enter');

describe('the gate of a label', () => {
  it('lets a version in after its evaluation, which is started here', async () => {
    const page = await openSignedIn(browser, service, `/prompts/${prompt}/history`);
    await press(page.getByRole('button', { name: 'Move production' }));
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Version').selectOption('2');
    await dialog.getByText('The gate does not let version 2 in.').waitFor();
    await dialog.getByText('Against version 1: not evaluated yet.').waitFor();
    await dialog.getByRole('button', { name: 'Move production to v2', disabled: true }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'gate-not-evaluated');
    await press(dialog.getByRole('button', { name: 'Evaluate version 2 for the gate' }));
    await dialog.getByText('The gate lets version 2 in.').waitFor();
    await dialog.getByText('Against version 1: passed. 100 of 100 cases pass, 0 regressed.').waitFor();
    await takeScreenshots(page, 'gate-passed');
    await press(dialog.getByRole('button', { name: 'Move production to v2' }));
    await page.getByText('production → v2').waitFor();
  });

  it('shows why a version failed, and releases it with a reason', async () => {
    const page = await openSignedIn(browser, service, `/prompts/${prompt}/history`);
    await press(page.getByRole('button', { name: 'Move production' }));
    const dialog = page.getByRole('dialog');
    await press(dialog.getByRole('button', { name: 'Evaluate version 3 for the gate' }).first());
    await dialog.getByText('Against version 2: failed.').waitFor();
    await dialog.getByText('Against the anchor, version 1: not evaluated yet.').waitFor();
    await dialog.getByRole('textbox', { name: 'Release it all the same, because' }).fill('The old one offends');
    await takeScreenshots(page, 'gate-overridden');
    await press(dialog.getByRole('button', { name: 'Move production to v3' }));
    await page.getByText('production → v3').waitFor();
    await press(page.getByRole('button', { name: 'More actions for production' }));
    await press(page.getByRole('menuitem', { name: 'History' }));
    await dialog.getByText('Overridden: The old one offends').waitFor();
    await dialog.getByText('Passed: 1 evaluation').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'gate-history');
  });

  it('says to those who may not override what they need', async () => {
    const key = await service.createKey('prompts:read', 'prompts:release');
    const page = await openSignedIn(browser, service, `/prompts/${prompt}/history`, { apiKey: key });
    await press(page.getByRole('button', { name: 'Move production' }));
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Version').selectOption('1');
    await dialog.getByText('your API key needs the scope prompts:override').waitFor();
    expect(await dialog.getByRole('button', { name: /Evaluate/ }).count()).toBe(0);
  });

  it('is not taken for missing if it cannot be read', async () => {
    browser.tolerate(/status of 500/);
    const page = await openSignedIn(browser, service, `/prompts/${prompt}/history`);
    await page.getByRole('button', { name: 'Move production' }).waitFor();
    await page.route('**/gates?*', (route) => route.fulfill({ status: 500, body: '' }));
    await page.reload();
    await press(page.getByRole('button', { name: 'Move production' }));
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Version').selectOption('2');
    await dialog.getByRole('alert').getByText('status 500').waitFor();
    await page.unroute('**/gates?*');
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByRole('group', { name: 'Gate' }).waitFor();
  });
});
