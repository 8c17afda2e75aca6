import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import type { TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { openSignedIn, signIn } from './support/sign-in.ts';
import { startWithProvider } from './support/with-provider.ts';

/** An image of one pixel. */
const dot =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const browser = useBrowser();
let service: TestService;
beforeAll(async () => {
  ({ service } = await startWithProvider());
});
afterAll(() => service.close());

const open = (target: string): Promise<Page> => openSignedIn(browser, service, target);

/** Writes at the end of the text of a message. */
async function type(page: Page, message: number, text: string): Promise<void> {
  await page.getByLabel(`Text of message ${message}`).click();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.type(text);
}

/** Goes to another screen of the prompt. */
async function goTo(page: Page, tab: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Screens of this prompt' }).getByRole('link', { name: tab }).click();
}

async function createPrompt(body: object): Promise<{ id: string; slug: string }> {
  const { body: created } = await service.call('POST', '/api/v1/prompts', { body });
  return created as { id: string; slug: string };
}

describe('prompts', () => {
  it('are written, compared, restored, tried, tested and deleted', async () => {
    const page = await open('/prompts');
    await page.getByText('No prompts yet').waitFor();
    await page.getByRole('link', { name: 'New prompt' }).first().click();

    // The editor knows the language: what is typed is marked, completed, declared and rendered.
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Greeter');
    await type(page, 1, 'Greet {{name}} in {{language|English}}, not {{user name}}. \\{{');
    await page.getByRole('button', { name: 'Declare name' }).click();
    expect(await page.locator('.tpl-unknown').count()).toBe(0);
    expect(await page.locator('.tpl-defaulted').textContent()).toBe('language');
    expect(await page.locator('.tpl-stray').count()).toBe(1);
    await page.getByText('"{{user name}}" is not a placeholder').waitFor();
    await type(page, 1, ' Again: {{na');
    await page.getByRole('option', { name: /^name/ }).click();
    await page.getByRole('textbox', { name: 'name', exact: true }).fill('Ada');
    await page.getByText('Greet Ada in English, not {{user name}}. {{ Again: Ada').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Provider', { exact: true }).first().click();
    await page.getByRole('option', { name: 'Echo' }).click();
    await page.getByRole('button', { name: 'Create prompt' }).click();
    await page.getByRole('heading', { name: 'Greeter', level: 1 }).waitFor();

    // Messages move by keyboard, and a change of the content is a version.
    await page.getByRole('button', { name: 'Add message' }).click();
    await type(page, 2, 'Be brief.');
    await page.getByRole('button', { name: 'Move message 2: drag' }).press('ArrowUp');
    await page.getByText('The message is now number 1 of 2.').waitFor();
    await page.getByLabel('Role of message 1').selectOption('system');
    await page.keyboard.press('ControlOrMeta+s');
    await page.getByText('Saved as version 2.').waitFor();
    await takeScreenshots(page, 'prompt-editor');
    const { body: saved } = await service.call('GET', '/api/v1/prompts/greeter');
    expect(saved).toMatchObject({ selected_provider: 'echo', variables: { name: { required: true } } });
    expect(saved.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: 'Greet {{name}} in {{language|English}}, not {{user name}}. \\{{ Again: {{name}}',
      },
    ]);

    await goTo(page, 'History');
    await page.locator('.cm-merge-b .cm-changedLine', { hasText: 'Be brief.' }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-history');
    await page.getByRole('button', { name: 'Restore version 1' }).click();
    const restoring = page.getByRole('dialog');
    await restoring.locator('.cm-merge-a .cm-changedLine', { hasText: 'Be brief.' }).waitFor();
    await restoring.getByRole('button', { name: 'Restore version', exact: true }).click();
    await page.getByText('The content of version 1 is now version 3.').waitFor();

    await goTo(page, 'Playground');
    await page.getByRole('textbox', { name: 'name', exact: true }).fill('');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('alert').getByText('No value for: name.').waitFor();
    browser.tolerate(/status of 422/);
    await page.getByRole('textbox', { name: 'name', exact: true }).fill('Bo');
    await page.getByLabel('Version').selectOption('2');
    await page.keyboard.press('ControlOrMeta+Enter');
    const answer = page.getByRole('region', { name: 'Answer' });
    await answer.waitFor();
    expect(await answer.textContent()).toBe('Greet Bo in English, not {{user name}}. {{ Again: Bo');
    expect(await page.locator('dl').textContent()).toContain('echo / echo-1Served version2');
    await page.getByRole('region', { name: 'curl' }).getByText('"version": 2').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-playground');

    await goTo(page, 'Test runs');
    await page.getByRole('button', { name: 'Add target' }).click();
    await page.getByRole('button', { name: 'Run on 2 targets' }).click();
    await page.getByRole('region', { name: /^Result 2: openai/ }).waitFor();
    await page.locator('[data-bar]').first().waitFor({ state: 'attached' });
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-test-run');
    await goTo(page, 'Test runs');
    await page.getByRole('table').getByText('echo-1, gpt').waitFor();
    await expectAccessible(page);

    // Of a copy only name and slug differ.
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate prompt' }).click();
    await page.getByRole('button', { name: 'Create prompt' }).click();
    await page.getByRole('heading', { name: 'Greeter (copy)', level: 1 }).waitFor();
    const [{ body: original }, { body: copy }] = [
      await service.call('GET', '/api/v1/prompts/greeter'),
      await service.call('GET', '/api/v1/prompts/greeter-copy'),
    ];
    expect(copy).toMatchObject({
      messages: original.messages,
      variables: original.variables,
      selected_provider: 'echo',
    });
    await service.call('DELETE', '/api/v1/prompts/greeter-copy');
    await page.goto('/dashboard/prompts/greeter');

    await goTo(page, 'Statistics');
    await page.getByText('No invocations in this time').waitFor();
    await expectAccessible(page);

    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete prompt' }).click();
    await page.getByLabel('Type greeter to confirm').fill('greeter');
    await page.getByRole('button', { name: 'Delete prompt' }).click();
    await page.getByText('No prompts yet').waitFor();
    await expectAccessible(page);
  });

  it('keep what two tabs have typed, until one decides', async () => {
    browser.tolerate(/status of 412/);
    const { id } = await createPrompt({ name: 'Shared', messages: [{ role: 'user', content: 'One.' }] });
    const first = await open(`/prompts/${id}`);
    const second = await first.context().newPage();
    await second.goto(`/dashboard/prompts/${id}`);
    await type(second, 1, ' Mine.');
    // A page in the background is shown less often.
    await first.bringToFront();
    await type(first, 1, ' Theirs.');
    await first.getByRole('button', { name: 'Save' }).click();
    await first.getByText('Saved as version 2.').waitFor();

    await second.bringToFront();
    await second.getByRole('button', { name: 'Save' }).click();
    const dialog = second.getByRole('dialog', { name: 'Changed in the meantime' });
    await dialog.getByText('One. Theirs.').waitFor();
    await dialog.getByRole('button', { name: 'Keep mine' }).click();
    await second.getByText('Saved as version 3.').waitFor();

    // Other parts, even two parameters, are merged.
    await service.call('PUT', `/api/v1/prompts/${id}`, { body: { parameters: { temperature: 0.2 } } });
    await second.getByRole('textbox', { name: 'Description' }).fill('What both need');
    await second.getByRole('button', { name: 'Save' }).click();
    await second.getByText('Saved together with what someone else changed in the meantime.').waitFor();
    const { body: both } = await service.call('GET', `/api/v1/prompts/${id}`);
    expect(both).toMatchObject({ description: 'What both need', parameters: { temperature: 0.2 }, version: 4 });

    await first.bringToFront();
    await type(first, 1, ' More.');
    await first.getByRole('button', { name: 'Save' }).click();
    await first.getByRole('button', { name: 'Take theirs' }).click();
    await first.getByLabel('Text of message 1').getByText('One. Mine.').waitFor();
    expect(await first.getByRole('button', { name: 'Save' }).count()).toBe(0);
    const { body: stored } = await service.call('GET', `/api/v1/prompts/${id}`);
    expect(stored).toMatchObject({ version: 4, messages: [{ content: 'One. Mine.' }] });
  });

  it('are listed with the calls of the last day, and with how many invocations failed', async () => {
    const messages = [{ role: 'user', content: 'Hello.' }];
    const target = { selected_provider: 'openai', selected_model: 'mock-400' };
    const { service: counting } = await startWithProvider({ statisticsEveryMs: 100 });
    const { body: made } = await counting.call('POST', '/api/v1/prompts', {
      body: { name: 'Failing', messages, ...target },
    });
    const { slug } = made as { slug: string };
    await counting.call('POST', `/api/v1/prompts/${slug}/invoke`, { body: {} });
    await until(async () => {
      const { body } = await counting.call('GET', '/api/v1/attention');
      return (body as { data: { name: string }[] }).data.some(({ name }) => name === slug);
    });
    const page = await openSignedIn(browser, counting, '/prompts');
    const row = page.getByRole('row', { name: 'Failing' });
    await row.getByText('1 call · 1 failed', { exact: false }).waitFor();
    await row.locator('[data-label="Failing, last hour"]').getByText('v1: 1 of 1').waitFor();
    await takeScreenshots(page, 'prompt-list');
    await page.close();
    await counting.close();
  });

  it('show the feedback on each version where versions are compared', async () => {
    const { service: counting } = await startWithProvider({ statisticsEveryMs: 100 });
    const said = (content: string): object[] => [{ role: 'user', content }];
    const { body: made } = await counting.call('POST', '/api/v1/prompts', {
      body: { name: 'Rated', messages: said('One.'), selected_provider: 'echo' },
    });
    const prompt = `/api/v1/prompts/${(made as { slug: string }).slug}`;
    await counting.call('PUT', prompt, { body: { messages: said('Two.') } });
    for (const [version, score] of [
      [1, -1],
      [2, 1],
      [2, 0.5],
    ]) {
      const { headers } = await counting.call('POST', `${prompt}/invoke`, { body: { version } });
      const rated = `/api/v1/invocations/${headers['x-invocation-id']}/feedback`;
      await counting.call('POST', rated, { body: { score } });
    }
    await until(async () => {
      const { body } = await counting.call('GET', `${prompt}/statistics?span=day`);
      return (body as { totals: { feedback?: number } }).totals.feedback === 3;
    });
    const page = await openSignedIn(browser, counting, `/prompts/${(made as { id: string }).id}/history`);
    await page
      .getByText('Feedback of the last day: Version 1: 1 rated, mean -1 · Version 2: 2 rated, mean +0.75')
      .waitFor();
    const versions = page.getByRole('table', { name: 'Versions' });
    await versions.getByRole('row', { name: 'Version 2' }).getByText('2 rated, mean +0.75').waitFor();
    await versions.getByRole('row', { name: 'Version 1' }).getByText('1 rated, mean -1').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-history-feedback');
    await goTo(page, 'Statistics');
    await page.getByRole('table', { name: 'By version' }).getByText('2 rated, mean +0.75').waitFor();
    await page.close();
    await counting.close();
  });

  it('explain placeholders before someone edits', async () => {
    const messages = [{ role: 'user', content: 'Greet {{name}}.' }];
    const { id } = await createPrompt({ name: 'Explained', messages, variables: { name: { description: 'A guest' } } });
    const page = await open(`/prompts/${id}`);
    expect(await page.locator('.tpl-name').getAttribute('title')).toContain('A guest');
  });

  it('keep what was typed when saving fails, and when the session is lost', async () => {
    browser.tolerate(/status of (409|401)/);
    await createPrompt({ name: 'Taken', messages: [{ role: 'user', content: 'One.' }] });
    const { id } = await createPrompt({ name: 'Other', messages: [{ role: 'user', content: 'One.' }] });
    const page = await open(`/prompts/${id}`);
    await type(page, 1, ' Two.');
    await page.getByRole('textbox', { name: 'Slug' }).fill('taken');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('Slug taken').waitFor();
    await page.getByRole('textbox', { name: 'Slug' }).fill('free');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await signIn(page, service.adminKey);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved as version 2.').waitFor();
    const { body: stored } = await service.call('GET', '/api/v1/prompts/free');
    expect(stored.messages).toEqual([{ role: 'user', content: 'One. Two.' }]);
  });

  it('show what a provider cannot do and why it failed, and cancel a call that takes too long', async () => {
    browser.tolerate(/status of (422|502)/);
    const messages = [{ role: 'user', content: 'Hello.' }];
    const { id } = await createPrompt({
      name: 'Slow',
      messages,
      selected_provider: 'openai',
      selected_model: 'mock-401',
      parameters: { top_k: 5 },
    });
    const page = await open(`/prompts/${id}/playground`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('alert').getByText('parameters/top_k').waitFor();
    await page.getByRole('button', { name: 'Leave them out and run' }).click();
    await page.getByRole('region', { name: 'Problem as JSON' }).getByText('"provider_status": 401').waitFor();
    await page.getByLabel('Provider', { exact: true }).first().click();
    await page.getByRole('option', { name: 'OpenAI', exact: true }).click();
    await page.getByLabel('Model', { exact: true }).first().fill('mock-404');
    await page.keyboard.press('ControlOrMeta+Enter');
    await page.getByRole('alert').getByText('The provider says: Refused with').waitFor();
    await page.getByLabel('Model', { exact: true }).first().fill('mock-hang');
    await page.keyboard.press('ControlOrMeta+Enter');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText(/Stopped after/).waitFor();
    const past = page.getByRole('region', { name: 'Invocations of this tab' }).getByRole('button');
    await past.getByText('Provider', { exact: false }).first().click();
    await page.getByRole('region', { name: 'Problem as JSON' }).waitFor();
  });

  it('say that a call without an answer may have been made, and nothing of a change', async () => {
    const { id } = await createPrompt({ name: 'Lost', slug: 'lost', messages: [{ role: 'user', content: 'Say hi' }] });
    const page = await open(`/prompts/${id}/playground`);
    browser.tolerate(/ERR_CONNECTION_RESET/);
    await page.route('**/invoke', (route) => route.abort('connectionreset'));
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'The service cannot be reached' });
    await alert.getByText('The model may have been called, which can cost something.').waitFor();
    expect(await alert.textContent()).not.toContain('change');
    await alert.getByRole('link', { name: 'invocations' }).click();
    await page.getByRole('heading', { level: 1, name: 'Invocations' }).waitFor();
  });

  it('begin with a provider that can run them, and with the first mistake', async () => {
    const page = await openSignedIn(browser, service, '/prompts/new', { width: 390 });
    const provider = page.getByLabel('Provider', { exact: true }).first();
    await provider.waitFor();
    expect(await provider.inputValue()).toBe('OpenAI');
    // A second click on what is chosen leaves it.
    await provider.click();
    await page.getByRole('option', { name: 'OpenAI', exact: true }).click();
    expect(await provider.inputValue()).toBe('OpenAI');
    await page.getByRole('button', { name: 'Create prompt' }).click();
    await page.getByText('Enter a name.').waitFor();
    await page.getByRole('textbox', { name: 'Name', exact: true }).and(page.locator(':focus')).waitFor();
  });

  it('are tried on several models at once, and what was tried becomes a test run or a version', async () => {
    const { id } = await createPrompt({
      name: 'Compared',
      messages: [{ role: 'user', content: 'Greet {{name}}.' }],
      selected_provider: 'echo',
    });
    const page = await open(`/prompts/${id}/playground`);
    await page.getByRole('textbox', { name: 'name', exact: true }).fill('Ada');
    await page.getByRole('button', { name: 'Compare with another model' }).click();
    const other = page.getByRole('group', { name: 'Model 2' });
    await other.getByLabel('Model', { exact: true }).fill('mock-1');
    await page.keyboard.press('Escape');
    await page.keyboard.press('ControlOrMeta+Enter');
    const answer = (name: string): Locator => page.getByRole('group', { name, exact: true });
    await answer('echo').getByText('Greet Ada.').waitFor();
    await answer('openai / mock-1').getByText('Hello from mock-1.').waitFor();
    await answer('openai / mock-1').getByText('Latency').waitFor();
    await answer('openai / mock-1').getByText('Cost', { exact: true }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-comparison');
    await page.getByText('Python (openai)').click();
    await page.getByRole('region', { name: 'Python (openai)' }).getByText('client.responses.create(').waitFor();

    await page.getByRole('button', { name: 'As a test run' }).click();
    await page.getByRole('button', { name: 'Kept targets' }).click();
    await page.getByRole('menuitem', { name: 'Keep these targets' }).click();
    await page.getByRole('button', { name: 'Remove target 2' }).click();
    await page.getByRole('button', { name: 'Run on 1 target' }).waitFor();
    await page.getByRole('button', { name: 'Kept targets' }).click();
    await page.getByRole('menuitem', { name: 'echo, openai / mock-1' }).click();
    await page.getByRole('button', { name: 'Run on 2 targets' }).click();
    await page.getByRole('region', { name: 'Result 2: openai / mock-1' }).waitFor();
    expect(await page.getByRole('region', { name: 'Values' }).textContent()).toContain('"name": "Ada"');

    await goTo(page, 'Playground');
    await answer('openai / mock-1').getByRole('button', { name: 'Use in the prompt' }).click();
    await page.getByRole('textbox', { name: 'Note about the version' }).fill('Faster');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved as version 2.').waitFor();
    const { body: saved } = await service.call('GET', `/api/v1/prompts/${id}`);
    expect(saved).toMatchObject({ selected_provider: 'openai', selected_model: 'mock-1' });
  });

  it('run as a draft before they are saved, beside the saved version, with the difference of the answers', async () => {
    const { id } = await createPrompt({
      name: 'Drafted',
      messages: [{ role: 'user', content: 'Greet {{name}}.' }],
      selected_provider: 'echo',
    });
    const page = await open(`/prompts/${id}`);
    await type(page, 1, ' And {{other}}.');
    await goTo(page, 'Playground');
    await page.getByText('They run here as a draft.').waitFor();
    await page.getByRole('textbox', { name: 'name', exact: true }).fill('Ada');
    await page.getByRole('textbox', { name: 'other', exact: true }).fill('Grace');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const answer = (name: string): Locator => page.getByRole('group', { name, exact: true });
    await answer('echo').getByText('Greet Ada. And Grace.').waitFor();
    await answer('echo').getByText('Draft', { exact: true }).waitFor();
    expect(await page.getByRole('region', { name: 'curl' }).count()).toBe(0);

    await page.getByRole('button', { name: 'Compare with another version' }).click();
    const comparison = page.getByRole('group', { name: 'Comparison 2' }).getByLabel('Version');
    expect(await comparison.inputValue()).toBe('1');
    for (const [width, height] of [
      [1280, 800],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const place of [0, 100_000]) {
        await page.evaluate(`window.scrollTo(0, ${place})`);
        const { y = 0, height: own = 0 } =
          (await page.getByRole('button', { name: 'Run', exact: true }).boundingBox()) ?? {};
        expect(y > 0 && y + own <= height).toBe(true);
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await answer('Draft').getByText('Greet Ada. And Grace.').waitFor();
    await answer('v1').getByText('Greet Ada.', { exact: true }).waitFor();
    expect(await answer('v1').getByText('is not declared or used').count()).toBe(0);
    const difference = page.getByRole('region', { name: 'Difference of the answers' });
    await difference.locator('.cm-merge-a .cm-changedText', { hasText: 'And Grace.' }).waitFor();
    await difference.getByText('Cost: $0.00 → $0.00').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-draft');

    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    // What is typed and answered stays.
    const opened = page.context().waitForEvent('page');
    await answer('Draft').getByRole('link', { name: 'Open the invocation' }).click();
    await (await opened).getByRole('heading', { level: 1, name: 'drafted' }).waitFor();
    expect((await service.call('GET', `/api/v1/prompts/${id}`)).body.version).toBe(1);
  });

  it('have test runs of several versions', async () => {
    const { id } = await createPrompt({
      name: 'Versions',
      messages: [{ role: 'user', content: 'Greet {{name}}.' }],
      selected_provider: 'echo',
    });
    const messages = [{ role: 'user', content: 'Thank {{name}} for {{gift}}.' }];
    await service.call('PUT', `/api/v1/prompts/${id}`, { body: { messages } });
    const page = await open(`/prompts/${id}/test-runs`);
    await page.getByRole('textbox', { name: 'name', exact: true }).fill('Ada');
    await page.getByRole('textbox', { name: 'gift', exact: true }).fill('tea');
    await page.getByRole('button', { name: 'Compare with another version' }).click();
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-test-run-versions-new');
    await page.getByRole('button', { name: 'Run on 2 targets' }).click();
    await page.getByRole('region', { name: 'Result 1: echo / echo-1' }).getByText('Thank Ada for tea.').waitFor();
    await page.getByRole('region', { name: 'Result 2: v1 · echo / echo-1' }).getByText('Greet Ada.').waitFor();
    await page.locator('[data-bar]').first().waitFor({ state: 'attached' });
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-test-run-versions');
    await goTo(page, 'Test runs');
    await page.getByRole('table').getByText('v2, v1').waitFor();
  });

  it('show answers in Markdown as they are meant, and as they came; nothing in them runs or is loaded', async () => {
    const content = `# Title\n\n- **one**\n- [two](https://example.com/) and [three](javascript:window.ran=1)\n\n![four](https://example.com/x.png) <b onclick="window.ran=1">five</b>`;
    const { id } = await createPrompt({
      name: 'Marked',
      messages: [{ role: 'user', content }],
      selected_provider: 'echo',
    });
    const page = await open(`/prompts/${id}/playground`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const answer = page.getByRole('region', { name: 'Answer' });
    await answer.getByRole('listitem').first().waitFor();
    expect(await answer.getByRole('listitem').allTextContents()).toEqual(['one', 'two and three']);
    expect(await answer.getByRole('link').allTextContents()).toEqual(['two', 'four']);
    expect(await answer.locator('img, b, h1').count()).toBe(0);
    await answer.getByText('<b onclick="window.ran=1">five</b>').waitFor();
    expect(await page.evaluate('"ran" in window')).toBe(false);
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-markdown');
    await page.getByRole('button', { name: 'Show as plain text' }).click();
    await answer.getByText('# Title').waitFor();
    expect(await answer.textContent()).toContain(content);
  });

  it('have test runs that name every model, fail in the chosen language, and move a label', async () => {
    const { id } = await createPrompt({ name: 'Many', messages: [{ role: 'user', content: 'Hello.' }] });
    const models = Array.from({ length: 9 }, (_, index) => ({ provider: 'openai', model: `mock-${index}` }));
    const providers = [...models, { provider: 'openai', model: 'mock-429' }];
    const { body: run } = await service.call('POST', `/api/v1/prompts/${id}/test`, { body: { providers } });
    const page = await openSignedIn(browser, service, `/prompts/${id}/test-runs/${run.id}`);
    const chart = page.getByRole('figure', { name: 'Latency' });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      for (const { model } of providers) await chart.getByText(model, { exact: true }).waitFor();
    }
    await takeScreenshots(page, 'prompt-test-run-many');
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('button', { name: 'Set a label on version 1' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Version 1 has no provider.').waitFor();
    await dialog.getByRole('combobox', { name: 'Label' }).fill('production');
    await dialog.getByRole('button', { name: 'Create production → v1' }).press('Enter');
    await page.getByText('production → v1').waitFor();

    await page.getByRole('button', { name: 'Account: administrator' }).press('Enter');
    await page.getByRole('menuitemradio', { name: 'Deutsch' }).press('Enter');
    const failed = page.getByRole('alert');
    await failed.getByText('Anfragelimit des Anbieters erreicht').waitFor();
    await failed.getByText('Der Anbieter begrenzt').waitFor();
    expect(await failed.textContent()).not.toMatch(/limits the rate/);
  });

  it('ask before a change is lost, and not between their own screens', async () => {
    const { id } = await createPrompt({ name: 'Kept', messages: [{ role: 'user', content: 'One.' }] });
    const page = await open(`/prompts/${id}`);
    await type(page, 1, ' Two.');
    await goTo(page, 'Playground');
    await page.getByText('Your changes are not saved.').waitFor();
    await goTo(page, 'Editor');
    await page.getByLabel('Text of message 1').getByText('One. Two.').waitFor();
    await page.getByRole('navigation', { name: 'Main navigation' }).getByRole('link', { name: 'Prompts' }).click();
    await page.getByRole('button', { name: 'Stay' }).click();
    await page.getByLabel('Text of message 1').getByText('One. Two.').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('navigation', { name: 'Main navigation' }).getByRole('link', { name: 'Prompts' }).click();
    await page.getByRole('heading', { name: 'Prompts', level: 1 }).waitFor();
  });

  it('say how answers are generated, with tools, a format and fallbacks', async () => {
    browser.tolerate(/status of 422/);
    const page = await open('/prompts/new');
    const fold = (name: string): Locator => page.getByRole('button', { name, exact: false });
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Helper');
    await type(page, 1, 'call find_customer {"name":"Ada"}');
    await page.getByLabel('Provider', { exact: true }).first().click();
    await page.getByRole('option', { name: 'Echo' }).click();
    await page.getByRole('button', { name: 'Set parameters, tools and more' }).click();

    await fold('Parameters').click();
    await page.getByRole('textbox', { name: 'Temperature' }).fill('0.2');
    await page.getByRole('combobox', { name: 'Stop sequences' }).fill('\\n###');
    await page.keyboard.press('Enter');
    await page.getByLabel('Reasoning effort').selectOption('low');
    await fold('Response format').click();
    await page.getByText('JSON', { exact: true }).first().click();
    await page.getByRole('textbox', { name: 'Name of the schema' }).fill('customer');
    await page.getByLabel('JSON Schema of the answer').click();
    await page.keyboard.insertText('{"type": "object", "properties": {"name": {"type": "strin"}}}');
    await fold('Tools').click();
    await page.getByRole('button', { name: 'Add tool' }).click();
    const tool = page.getByRole('region', { name: 'Tool 1', exact: true });
    await tool.getByRole('textbox', { name: 'Name', exact: true }).fill('find_customer');
    await tool.getByLabel('Description').fill('Finds a customer by name');
    await tool.getByRole('button', { name: 'Duplicate tool 1' }).click();
    await fold('Provider options').click();
    await fold('Fallbacks').click();
    await page.getByRole('button', { name: 'Add fallback' }).click();
    const fallback = page.getByRole('group', { name: 'Fallback 1' });
    await fallback.getByLabel('Provider', { exact: true }).click();
    await page.getByRole('option', { name: 'Echo' }).click();
    await fallback.getByRole('combobox', { name: 'Model' }).fill('echo-upper');
    await page.keyboard.press('Escape');
    await page.getByRole('textbox', { name: 'Retries of calls that may have been billed' }).fill('1');

    // What the page knows to be wrong stays here; what only the service knows is shown at its field.
    await page.getByRole('button', { name: 'Create prompt' }).click();
    await page.getByText('This name is taken.').waitFor();
    await page.getByRole('button', { name: 'Remove tool 2' }).click();
    await page.getByLabel('Tool choice').selectOption('tool:find_customer');
    await page.getByRole('button', { name: 'Create prompt' }).click();
    await page.getByRole('alert').getByText('Invalid JSON Schema').waitFor();
    const schema = page.getByLabel('JSON Schema of the answer');
    expect(await schema.getAttribute('aria-invalid')).toBe('true');
    await expectAccessible(page);
    await schema.click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText('{"type": "object", "properties": {"name": {"type": "string"}}}');
    await page.getByText('temperature 0.2', { exact: false }).first().waitFor();
    await page.getByRole('button', { name: 'Create prompt' }).click();
    await page.getByRole('heading', { name: 'Helper', level: 1 }).waitFor();
    const { body: created } = await service.call('GET', '/api/v1/prompts/helper');
    expect(created).toMatchObject({
      parameters: { temperature: 0.2, stop: ['\n###'], reasoning_effort: 'low' },
      response_format: {
        type: 'json',
        name: 'customer',
        schema: { type: 'object', properties: { name: { type: 'string' } } },
      },
      tools: [
        {
          name: 'find_customer',
          description: 'Finds a customer by name',
          parameters: { type: 'object', properties: {}, required: [] },
        },
      ],
      tool_choice: { name: 'find_customer' },
      fallbacks: [{ provider: 'echo', model: 'echo-upper' }],
      retries: 1,
    });

    await page.reload();
    await page
      .getByText('temperature 0.2 · stop sequences "\\n###" · reasoning Low', { exact: false })
      .first()
      .waitFor({ state: 'attached' });
    await fold('Parameters').click();
    await takeScreenshots(page, 'prompt-generation');
    await page.getByRole('textbox', { name: 'Temperature' }).fill('');
    await fold('Tools').click();
    await page.getByLabel('Tool choice').selectOption('');
    await page.keyboard.press('ControlOrMeta+s');
    await page.getByText('Saved as version 2.').waitFor();
    await goTo(page, 'History');
    await page.locator('.cm-merge-a .cm-changedLine', { hasText: 'Temperature: 0.2' }).waitFor();
    await page.locator('.cm-merge-a .cm-changedLine', { hasText: 'Always find_customer' }).waitFor();
    await page.getByLabel('Fold what is the same').click();
    await page.locator('.cm-merge-b').getByText('1. echo / echo-upper').waitFor();

    // The call of the tool is answered by the user; the answer after it has the form that the prompt asks for.
    await goTo(page, 'Playground');
    await page.getByRole('combobox', { name: 'Model' }).fill('echo-fail');
    await page.keyboard.press('Escape');
    await fold('Parameters').click();
    await page.getByRole('textbox', { name: 'Temperature' }).fill('1');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('echo / echo-fail: provider-failed').waitFor();
    const call = page.getByRole('region', { name: 'Arguments of find_customer' });
    expect(await call.textContent()).toBe('{\n  "name": "Ada"\n}');
    await page.getByRole('button', { name: 'Continue conversation' }).click();
    await page.getByLabel('Result of find_customer').fill('{"name": "Ada Lovelace"}');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('region', { name: 'Answer' }).getByText('"name": "Ada Lovelace"').waitFor();
    await page.getByRole('region', { name: 'curl' }).getByText('"temperature": 1').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-conversation');

    await goTo(page, 'Test runs');
    await page.getByRole('button', { name: 'Run on 1 target' }).click();
    await page.getByRole('region', { name: 'Arguments of find_customer' }).waitFor();
  });

  it('keep the images of a message while its text is edited', async () => {
    const text = (value: string): object => ({ type: 'text', text: value });
    const image = (url: string): object => ({ type: 'image', url });
    const remote = 'https://images.example.com/{{picture}}.png';
    const { id } = await createPrompt({
      name: 'Pictures',
      messages: [
        { role: 'system', content: 'Look.' },
        { role: 'user', content: [text('Compare'), image(dot), image(remote)] },
      ],
    });
    const page = await open(`/prompts/${id}`);
    const message = page.getByRole('region', { name: 'Message 2' });
    await message.getByRole('img', { name: 'Image URL of part 2 of message 2' }).waitFor();
    // An image elsewhere is a link; the page would be stopped from loading it.
    await page.getByRole('textbox', { name: 'picture' }).fill('cat');
    await page.getByRole('link', { name: 'https://images.example.com/cat.png' }).waitFor();
    await message.getByLabel('Text of part 1 of message 2').click();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type(' both.');
    await page.getByRole('button', { name: 'Add an image to message 1' }).click();
    const png = { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(dot.slice(dot.indexOf(',')), 'base64') };
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ ...png, mimeType: 'image/svg+xml' });
    await page.getByRole('alert').getByText('Choose a PNG, JPEG, GIF or WebP image.').waitFor();
    await page.locator('input[type=file]').first().setInputFiles(png);
    await page.getByRole('img', { name: 'Image URL of part 2 of message 1' }).waitFor();
    // Away from the button, whose tooltip covers the page.
    await page.getByRole('heading', { level: 1 }).hover();
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-images');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved as version 2.').waitFor();
    const { body: stored } = await service.call('GET', `/api/v1/prompts/${id}`);
    expect(stored.messages).toEqual([
      { role: 'system', content: [text('Look.'), image(dot)] },
      { role: 'user', content: [text('Compare both.'), image(dot), image(remote)] },
    ]);
    await page.getByRole('button', { name: 'Remove part 2 of message 1' }).click();
    await page.getByLabel('Text of message 1').getByText('Look.').waitFor();
    await goTo(page, 'History');
    await page.locator('.cm-merge-b .cm-changedLine', { hasText: '[Image: data:image/png;base64' }).waitFor();
  });

  it('keep hints for the cache of the provider while they are edited, and set them', async () => {
    const hour = { type: 'ephemeral', ttl: '1h' };
    const parameters = { type: 'object', properties: {} };
    const { id } = await createPrompt({
      name: 'Kept',
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'The terms.', cache_control: hour }] },
        { role: 'user', content: 'Hi {{name}}' },
      ],
      tools: [{ name: 'find', parameters, cache_control: { type: 'ephemeral' } }],
    });
    const page = await open(`/prompts/${id}`);
    const menu = page.getByRole('button', { name: "Provider's cache: Message 1. Keep for 1 hour" });

    await menu.waitFor();
    await page.getByRole('button', { name: "Provider's cache: Message 2. No hint" }).click();
    await page.getByRole('menuitem', { name: 'Keep for the usual time' }).waitFor();
    await page.getByText('costs less the next time').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-cache-hints');
    await page.getByRole('menuitem', { name: 'Keep for the usual time' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved as version 2.').waitFor();
    const messagesNow = async (): Promise<unknown> => (await service.call('GET', `/api/v1/prompts/${id}`)).body;
    expect(await messagesNow()).toMatchObject({
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'The terms.', cache_control: hour }] },
        { role: 'user', content: [{ type: 'text', text: 'Hi {{name}}', cache_control: { type: 'ephemeral' } }] },
      ],
      tools: [{ name: 'find', parameters, cache_control: { type: 'ephemeral' } }],
    });
    await menu.click();
    await page.getByRole('menuitem', { name: 'No hint' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved as version 3.').waitFor();
    expect(await messagesNow()).toMatchObject({ messages: [{ role: 'system', content: 'The terms.' }, {}] });
    await goTo(page, 'History');
    await page.locator('.cm-merge-a .cm-changedLine', { hasText: '[cache_control: 1h]' }).waitFor();
  });

  it('show hostile content as text', async () => {
    const hostile = `<img src=x onerror="window.ran=1"><script>window.ran=1</script>'"\${window.ran=1}`;
    const { id } = await createPrompt({
      name: hostile,
      description: hostile,
      messages: [{ role: 'user', content: `${hostile} {{value|${hostile}}}` }],
      variables: { value: { description: hostile, default: hostile } },
      selected_provider: 'echo',
    });
    await service.call('PUT', `/api/v1/prompts/${id}`, { body: { messages: [{ role: 'user', content: hostile }] } });
    const page = await open('/prompts');
    await page.getByRole('link', { name: hostile }).click();
    await page.getByRole('heading', { name: hostile, level: 1 }).waitFor();
    await page.getByLabel('Text of message 1').getByText(hostile).waitFor();
    await goTo(page, 'History');
    await page.locator('.cm-mergeView').getByText(hostile).first().waitFor();
    await goTo(page, 'Playground');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('region', { name: 'Answer' }).getByText(hostile).waitFor();
    await goTo(page, 'Test runs');
    await page.getByRole('button', { name: 'Run on 1 target' }).click();
    await page.locator('[data-bar]').first().waitFor({ state: 'attached' });
    expect(await page.evaluate('["ran" in window, document.querySelectorAll("img[src=x]").length]')).toEqual([
      false,
      0,
    ]);
  });
});
