import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import {
  addGate,
  answering,
  createLevels,
  createVersionsOf,
  gatePath,
  name,
  setGate,
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
    await dialog.getByLabel('Version', { exact: true }).selectOption('2');
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
    await dialog.getByLabel('Version', { exact: true }).selectOption('1');
    await dialog.getByText('you need the scope prompts:override').waitFor();
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
    await dialog.getByLabel('Version', { exact: true }).selectOption('2');
    await dialog.getByRole('alert').getByText('status 500').waitFor();
    await page.unroute('**/gates?*');
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByRole('group', { name: 'Gate' }).waitFor();
  });
});

describe('the form of a gate', () => {
  const openGate = async (
    page: Page,
    label: string,
    words: readonly [more: string, gate: string],
  ): Promise<Locator> => {
    await press(page.getByRole('button', { name: `${words[0]} ${label}` }));
    await press(page.getByRole('menuitem', { name: words[1] }));
    return page.getByRole('dialog');
  };
  const english = ['More actions for', 'Gate'] as const;

  it('sets, changes and removes it', async () => {
    browser.tolerate(/status of 422/);
    const gated = await createVersionsOf(service, answering(100), answering(97));
    await name(service, gated, 1);
    const page = await openSignedIn(browser, service, `/prompts/${gated}/history`);
    const dialog = await openGate(page, 'production', english);
    await dialog.getByText('production has no gate: it can name any version.').waitFor();
    await dialog.getByRole('combobox', { name: 'Data set' }).first().fill('tickets');
    await page.getByRole('option', { name: 'tickets' }).click();
    expect(await dialog.getByRole('combobox', { name: 'Version of the data set' }).inputValue()).toBe('1');
    await dialog.getByRole('textbox', { name: 'Margin, in points of 100' }).fill('1');
    await press(dialog.getByRole('button', { name: 'Set the gate' }));
    await dialog
      .getByText(/needs at least \d+ cases/)
      .first()
      .waitFor();
    await dialog.getByRole('textbox', { name: 'Margin, in points of 100' }).fill('5');
    await press(dialog.getByRole('button', { name: 'Add a check' }));
    await press(page.getByRole('menuitem', { name: 'Is complete' }));
    await dialog.getByRole('textbox', { name: 'Days for which an evaluation counts' }).fill('14');
    await dialog.getByRole('combobox', { name: 'Anchor' }).selectOption('1');
    await dialog.getByRole('checkbox', { name: 'Refuse versions that can break callers' }).check();
    await expectAccessible(page);
    await takeScreenshots(page, 'gate-form');
    await press(dialog.getByRole('button', { name: 'Set the gate' }));
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('img', { name: 'Has a gate' }).waitFor();
    const set = await service.call('GET', gatePath(gated));
    expect(set.body).toMatchObject({
      dataset: { name: 'tickets', version: 1 },
      checks: [{ type: 'finish-reason', value: 'stop' }],
      rule: { not_worse_by: 0.05 },
      ...{ max_age_days: 14, breaking: 'refuse', anchor: 1 },
    });

    await openGate(page, 'production', english);
    await dialog.getByRole('radio', { name: 'Passes each case' }).check();
    await press(dialog.getByRole('button', { name: 'Change the gate' }));
    await dialog.waitFor({ state: 'detached' });
    const changed = await service.call('GET', gatePath(gated));
    expect([changed.body.rule, changed.body.anchor]).toEqual([{ all_pass: true }, undefined]);

    await openGate(page, 'production', english);
    await press(dialog.getByRole('button', { name: 'Remove the gate' }));
    await dialog.getByText('production can name any version from then on.').waitFor();
    await press(dialog.getByRole('button', { name: 'Remove the gate' }));
    await page.getByRole('img', { name: 'Has a gate' }).waitFor({ state: 'detached' });
    expect((await service.call('GET', `/api/v1/prompts/${gated}/gates`)).body.data).toEqual([]);
  });

  it('keeps what was typed if somebody else has changed it, also of a label that does not exist', async () => {
    browser.tolerate(/status of 412/);
    const gated = await createVersionsOf(service, answering(100), answering(97));
    const gate = { dataset: { name: 'tickets', version: 1 }, rule: { not_worse_by: 0.05 } };
    await addGate(service, gated, gate);
    const page = await openSignedIn(browser, service, `/prompts/${gated}/history`);
    await press(page.getByRole('button', { name: 'production', exact: true }));
    const dialog = page.getByRole('dialog');
    const days = dialog.getByRole('textbox', { name: 'Days for which an evaluation counts' });
    await days.fill('9');
    await setGate(service, gated, { ...gate, max_age_days: 99, breaking: 'refuse' });
    await press(dialog.getByRole('button', { name: 'Change the gate' }));
    const alert = dialog.getByRole('alert', { name: 'Changed in the meantime' });
    await alert.getByText('An evaluation counts for 99 days.').waitFor();
    await alert.getByText('Versions that can break callers are refused.').waitFor();
    expect(await days.inputValue()).toBe('9');
    await expectAccessible(page);
    await takeScreenshots(page, 'gate-overtaken');
    await press(dialog.getByRole('button', { name: 'Change the gate' }));
    await dialog.waitFor({ state: 'detached' });
    expect((await service.call('GET', gatePath(gated))).body).toMatchObject({ max_age_days: 9, breaking: 'warn' });
  });

  it('is only read by others, in German and on a phone', async () => {
    const key = await service.createKey('prompts:read', 'prompts:release');
    const options = { apiKey: key, locale: 'de-AT', width: 390 };
    const page = await openSignedIn(browser, service, `/prompts/${prompt}/history`, options);
    const dialog = await openGate(page, 'production', ['Weitere Aktionen für', 'Hürde']);
    await dialog.getByText('brauchen Sie die Berechtigung prompts:override').waitFor();
    await dialog.getByText('um 5 % der Fälle').waitFor();
    expect(await dialog.getByRole('button').count()).toBe(1);
    await expectAccessible(page);
    await takeScreenshots(page, 'gate-read');
    const owner = await openSignedIn(browser, service, `/prompts/${prompt}/history`, { locale: 'de-AT', width: 390 });
    const form = await openGate(owner, 'production', ['Weitere Aktionen für', 'Hürde']);
    await form.getByRole('button', { name: 'Hürde entfernen' }).waitFor();
    expect(await owner.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await expectAccessible(owner);
    await takeScreenshots(owner, 'gate-form-de');
  });
});
