import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import type { MockProvider } from '../support/mock-provider.ts';
import type { TestService } from '../support/service.ts';
import { openSignedIn } from './support/sign-in.ts';
import { startWithProvider } from './support/with-provider.ts';

const browser = useBrowser();
let provider: MockProvider;
let service: TestService;
beforeAll(async () => {
  ({ service, provider } = await startWithProvider());
});
afterAll(() => service.close());

/** Creates a prompt with three versions, which say "One.", "Two." and "Three.". */
async function createVersions(name: string): Promise<string> {
  const contents = ['One.', 'Two.', 'Three.'].map((content) => ({ messages: [{ role: 'user', content }] }));
  const body = { name, selected_provider: 'echo', ...contents[0] };
  const { body: created } = await service.call('POST', '/api/v1/prompts', { body });
  const { id } = created as { id: string };
  for (const changed of contents.slice(1)) await service.call('PUT', `/api/v1/prompts/${id}`, { body: changed });
  return id;
}

/** Creates or moves a label as someone else would. */
async function setLabel(id: string, name: string, version: number): Promise<void> {
  const path = `/api/v1/prompts/${id}/labels/${name}`;
  const { headers } = await service.call('GET', path);
  const etag = headers['etag'];
  const { status } = await service.call('PUT', path, {
    body: { version },
    headers: etag === undefined ? {} : { 'If-Match': etag },
  });
  expect(status).toBeLessThan(300);
}

/** By keyboard: a notification can lie over a button, and stays as long as the pointer is on it. */
const press = (button: Locator): Promise<void> => enabled(button).press('Enter');
const enabled = (button: Locator): Locator => button.and(button.page().locator(':enabled'));

const rowsOf = (page: Page, table: string): Promise<string[]> =>
  page.getByRole('table', { name: table }).getByRole('rowheader').allTextContents();

describe('labels', () => {
  it('are created, moved, and deleted, after the difference was shown', async () => {
    browser.tolerate(/status of 412/);
    const id = await createVersions('Released');
    const page = await openSignedIn(browser, service, `/prompts/${id}/history`);
    await page.getByText('No labels yet').waitFor();
    await press(page.getByRole('button', { name: 'New label' }));
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Label' }).fill('Production');
    await dialog.getByText('Begin with a lower-case letter').waitFor();
    await dialog.getByRole('combobox', { name: 'Label' }).fill('production');
    await dialog.getByLabel('Version').selectOption('1');
    await dialog.getByText('production is a new label.').waitFor();
    await press(dialog.getByRole('button', { name: 'Create production → v1' }));
    await page.getByText('production names version 1 now.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('production → v1').waitFor();

    await press(page.getByRole('button', { name: 'Move production' }));
    await dialog.getByText('What changes for production: v1 → v3').waitFor();
    await dialog.locator('.cm-merge-b .cm-changedLine', { hasText: 'Three.' }).waitFor();
    await takeScreenshots(page, 'prompt-label-move');

    // Someone else is faster: nothing is moved, and the difference is that to the version which they chose.
    await setLabel(id, 'production', 2);
    await press(dialog.getByRole('button', { name: 'Move production to v3' }));
    await dialog.getByRole('alert').getByText('has moved production to version 2. Nothing was changed.').waitFor();
    await dialog.getByText('What changes for production: v2 → v3').waitFor();
    await dialog.locator('.cm-merge-a .cm-changedLine', { hasText: 'Two.' }).waitFor();
    await expectAccessible(page);
    await press(dialog.getByRole('button', { name: 'Move production to v3' }));
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('production → v3').waitFor();
    await page.getByRole('rowheader', { name: 'Version 3' }).getByText('production').waitFor();
    expect(await rowsOf(page, 'Versions')).toEqual(['Version 3Currentproduction', 'Version 2', 'Version 1']);

    // A version gets a label where it stands in the history; a label that exists is moved.
    await press(page.getByRole('button', { name: 'Set a label on version 2' }));
    await dialog.getByRole('combobox', { name: 'Label' }).fill('staging');
    await press(dialog.getByRole('button', { name: 'Create staging → v2' }));
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('staging → v2').waitFor();
    await press(page.getByRole('button', { name: 'Set a label on version 2' }));
    await dialog.getByRole('combobox', { name: 'Label' }).fill('production');
    await dialog.getByText('What changes for production: v3 → v2').waitFor();
    await press(dialog.getByRole('button', { name: 'Cancel' }));
    await dialog.waitFor({ state: 'detached' });
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-labels');

    await press(page.getByRole('button', { name: 'More actions for production' }));
    await press(page.getByRole('menuitem', { name: 'History' }));
    await dialog.getByRole('table', { name: 'History of production' }).waitFor();
    expect(await rowsOf(page, 'History of production')).toEqual(['v3', 'v2', 'v1']);
    await expectAccessible(page);
    // One Escape closes it, and the focus is where it came from.
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'More actions for production' }).and(page.locator(':focus')).waitFor();

    await press(page.getByRole('button', { name: 'More actions for production' }));
    await press(page.getByRole('menuitem', { name: 'Delete' }));
    await dialog.getByText('production names version 3.').waitFor();
    await enabled(dialog.getByRole('button', { name: 'Delete label' })).waitFor();
    await setLabel(id, 'production', 1);
    await press(dialog.getByRole('button', { name: 'Delete label' }));
    await dialog.getByRole('alert').getByText('has moved production to version 1.').waitFor();
    await press(dialog.getByRole('button', { name: 'Delete label' }));
    await page.getByText('production is deleted.').waitFor();
    await page.getByText('production → v1').waitFor({ state: 'detached' });
    const { body: stored } = await service.call('GET', `/api/v1/prompts/${id}`);
    expect(stored.labels).toEqual({ staging: 2 });
  });

  it('name a version with text that looks like a placeholder only if this is accepted', async () => {
    const id = await createVersions('Flawed');
    const body = { messages: [{ role: 'user', content: 'Dear {{user name}}' }] };
    await service.call('PUT', `/api/v1/prompts/${id}`, { body });
    const page = await openSignedIn(browser, service, `/prompts/${id}/history`);
    await press(page.getByRole('button', { name: 'Set a label on version 4' }));
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Label' }).fill('production');
    await dialog.getByText('"{{user name}}" is not a placeholder').waitFor();
    const accept = dialog.getByRole('checkbox', { name: 'The text of version 4 is intended as it is.' });
    const submit = dialog.getByRole('button', { name: /^Create production/ });
    expect(await submit.isDisabled()).toBe(true);
    // Accepting one version accepts no other.
    await accept.check();
    await dialog.getByLabel('Version', { exact: true }).selectOption('3');
    await accept.waitFor({ state: 'detached' });
    await dialog.getByLabel('Version', { exact: true }).selectOption('4');
    await accept.waitFor();
    expect([await accept.isChecked(), await submit.isDisabled()]).toEqual([true, false]);
    await expectAccessible(page);
    await press(submit);
    await page.getByText('production → v4').waitFor();
  });

  it('say what a move can break for callers, before it and in the history', async () => {
    const id = await createVersions('Broken');
    const schema = { type: 'object', properties: { 'reply/text': { type: 'string' } }, required: ['reply/text'] };
    const contents = [
      { messages: [{ role: 'user', content: 'Dear {{customer}}' }], response_format: { type: 'json', schema } },
      { response_format: { type: 'json', schema: { ...schema, required: [] } } },
    ];
    for (const body of contents) await service.call('PUT', `/api/v1/prompts/${id}`, { body });
    await setLabel(id, 'production', 4);
    const page = await openSignedIn(browser, service, `/prompts/${id}/history`);
    await press(page.getByRole('button', { name: 'Move production' }));
    const dialog = page.getByRole('dialog');
    const breaking = dialog.getByRole('alert', { name: 'This can break callers' });
    await breaking.waitFor();
    const answer = 'response_format/schema/properties/reply~1text: can be absent now';
    expect(await breaking.getByRole('listitem').allTextContents()).toEqual([answer]);
    // The comparison is that of the chosen version.
    await dialog.getByLabel('Version', { exact: true }).selectOption('1');
    await breaking.getByText('the answer is text now; it was json').waitFor();
    const older = [
      'customer: is gone; a value for it is ignored',
      'response_format: the answer is text now; it was json',
    ];
    expect(await breaking.getByRole('listitem').allTextContents()).toEqual(older);
    await dialog.getByLabel('Version', { exact: true }).selectOption('5');
    await breaking.getByText(answer).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-label-breaking');
    await press(dialog.getByRole('button', { name: 'Move production to v5' }));
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('production → v5').waitFor();
    await setLabel(id, 'production', 4);

    await press(page.getByRole('button', { name: 'More actions for production' }));
    await press(page.getByRole('menuitem', { name: 'History' }));
    await dialog.getByRole('row', { name: 'v5' }).getByText(answer).waitFor();
    const remarks = dialog.getByRole('table', { name: 'History of production' }).getByRole('listitem');
    expect(await remarks.allTextContents()).toEqual([answer]);
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-label-history');

    const german = await openSignedIn(browser, service, `/prompts/${id}/history`, { locale: 'de-AT' });
    await press(german.getByRole('button', { name: 'production verschieben' }));
    await german.getByRole('dialog').getByLabel('Version', { exact: true }).selectOption('1');
    const remarksInGerman = german.getByRole('alert', { name: 'Das kann bei Aufrufern' }).getByRole('listitem');
    await remarksInGerman.getByText('Die Antwort ist jetzt JSON statt Text, oder umgekehrt.').waitFor();
    expect(await remarksInGerman.first().textContent()).toBe(
      'customer: ist weggefallen; ein Wert dafür wird ignoriert, von einem strengen Prompt abgelehnt',
    );
    await takeScreenshots(german, 'prompt-label-breaking-german');
  });

  it('choose what runs in the playground, in code, and in test runs', async () => {
    const id = await createVersions('Chosen');
    await setLabel(id, 'production', 1);
    const page = await openSignedIn(browser, service, `/prompts/${id}/playground`);
    await page.getByLabel('Version').selectOption('production → v1');
    await page.getByRole('region', { name: 'curl' }).getByText('"label": "production"').waitFor();
    await press(page.getByRole('button', { name: 'Run', exact: true }));
    await page.getByRole('region', { name: 'Answer' }).getByText('One.').waitFor();
    expect(await page.locator('dl').textContent()).toContain('Served version1');

    await page.getByRole('link', { name: 'Test runs' }).click();
    // The playground has such a list, too.
    const run = page.getByRole('button', { name: 'Run on 1 target' });
    await run.waitFor();
    await page.getByLabel('Version').selectOption('production');
    await press(run);
    await page.getByRole('region', { name: 'Answer 1: echo / echo-1' }).getByText('One.').waitFor();
  });

  it('disturb nobody who edits the prompt', async () => {
    const id = await createVersions('Edited');
    const page = await openSignedIn(browser, service, `/prompts/${id}`);
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Renamed');
    await setLabel(id, 'production', 3);
    // Another screen reads the prompt again, as the focus of the window does.
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByRole('button', { name: 'Move production' }).waitFor();
    await press(page.getByRole('button', { name: 'Move production' }));
    await page.getByLabel('Version', { exact: true }).selectOption('2');
    await press(page.getByRole('button', { name: 'Move production to v2' }));
    await page.getByText('production → v2').waitFor();
    await page.getByRole('link', { name: 'Editor' }).click();
    await page.getByText('Unsaved changes').waitFor();
    expect(await page.getByText('Someone else has changed this prompt').count()).toBe(0);
    await press(page.getByRole('button', { name: 'Save' }));
    await page.getByRole('heading', { name: 'Renamed', level: 1 }).waitFor();
  });

  it('are shown without buttons to a key that may not release', async () => {
    const id = await createVersions('Watched');
    await setLabel(id, 'production', 2);
    const apiKey = await service.createKey('prompts:read', 'prompts:write');
    const page = await openSignedIn(browser, service, `/prompts/${id}/history`, { apiKey });
    await page.getByText('production → v2').waitFor();
    await page.getByText('You need the scope prompts:release.').waitFor();
    await page.getByRole('button', { name: 'Restore version 1' }).waitFor();
    for (const name of [/^Move/, /^New label/, /^Set a label/]) {
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    }
    await press(page.getByRole('button', { name: 'More actions for production' }));
    await page.getByRole('menuitem', { name: 'History' }).waitFor();
    expect(await page.getByRole('menuitem', { name: 'Delete' }).count()).toBe(0);
  });
});

describe('streams in the playground', () => {
  /** Opens the playground of a prompt that runs on this model of the mock. */
  async function openPlayground(model: string): Promise<Page> {
    const messages = [{ role: 'user', content: 'Hello.' }];
    const body = { name: model, messages, selected_provider: 'openai', selected_model: model };
    const { body: created } = await service.call('POST', '/api/v1/prompts', { body });
    const { id } = created as { id: string };
    return openSignedIn(browser, service, `/prompts/${id}/playground`);
  }
  const run = (page: Page): Promise<void> => page.getByRole('button', { name: 'Run', exact: true }).click();

  it('grow in place, and end like a whole answer', async () => {
    const more = Promise.withResolvers<undefined>();
    const end = Promise.withResolvers<undefined>();
    const steps = [{ text: 'Hello' }, { wait: more.promise }, { text: ' Ada.' }, { wait: end.promise }];
    provider.behave('growing', { kind: 'stream', steps: [...steps, { finish: 'stop' }] });
    const page = await openPlayground('growing');
    await page.getByRole('region', { name: 'curl' }).getByText('"stream": true').waitFor();
    await run(page);
    const answer = page.getByRole('region', { name: 'Answer' });
    await answer.getByText('Hello', { exact: true }).waitFor();
    await page.evaluate('document.querySelector("[aria-label=Answer]").dataset.first = "box"');
    await page.getByText('The answer is coming').waitFor();
    expect(await answer.getAttribute('aria-live')).toBe('off');
    await expectAccessible(page);
    more.resolve(undefined);
    await answer.getByText('Hello Ada.', { exact: true }).waitFor();
    expect(await page.locator('dl').count()).toBe(0);
    await takeScreenshots(page, 'prompt-stream');
    end.resolve(undefined);
    await page.locator('dl').getByText('openai / growing').waitFor();
    expect(await answer.textContent()).toBe('Hello Ada.');
    expect(await answer.getAttribute('data-first')).toBe('box');
    expect(await page.locator('dl').textContent()).toContain('Finished');
    await page.getByText('The answer is coming').waitFor({ state: 'detached' });
  });

  it('stop with the call of the provider, and keep what came', async () => {
    provider.behave('endless', { kind: 'stream', steps: [{ text: 'Once' }, 'hang'] });
    const page = await openPlayground('endless');
    await run(page);
    const answer = page.getByRole('region', { name: 'Answer' });
    await answer.getByText('Once').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText(/^Stopped after/).waitFor();
    expect(await answer.textContent()).toBe('Once');
    const call = provider.requests.find(({ model }) => model === 'endless');
    await call?.ended;
    expect(call).toMatchObject({ streamed: true, aborted: true });
  });

  it('show what came before they failed, with the problem', async () => {
    const page = await openPlayground('mock-error');
    await run(page);
    await page.getByRole('region', { name: 'Problem as JSON' }).getByText('"provider": "openai"').waitFor();
    await page.getByRole('alert', { name: 'Provider failed' }).waitFor();
    expect(await page.getByRole('region', { name: 'Answer' }).textContent()).toBe('Hello from');
    await expectAccessible(page);
  });

  it('can be turned off', async () => {
    const page = await openPlayground('whole');
    await page.getByLabel('Stream: show the answer').uncheck();
    await run(page);
    await page.getByRole('region', { name: 'Answer' }).getByText('Hello from whole.').waitFor();
    expect(provider.requests.find(({ model }) => model === 'whole')?.streamed).toBe(false);
    expect(await page.getByRole('region', { name: 'curl' }).textContent()).not.toContain('stream');
  });
});
