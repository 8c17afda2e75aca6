/** Data sets in the dashboard: imported from files of several kinds, read, extended by invocations and test runs, deleted. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startInvokeHarness, type InvokeHarness } from '../prompts/invoke/invoke-harness.ts';
import { setDataset } from '../prompts/evaluations/datasets/datasets-harness.ts';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { openSignedIn } from './support/sign-in.ts';

const browser = useBrowser();
let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness({ environment: { INVOCATION_CONTENT: 'all' } });
});
afterAll(() => harness.close());

type Options = Parameters<typeof openSignedIn>[3];
const open = (target: string, options?: Options): Promise<Page> =>
  openSignedIn(browser, harness.service, target, options);

async function choose(page: Page, name: string, text: string, encoding: BufferEncoding = 'utf8'): Promise<void> {
  const file = { name, mimeType: 'text/plain', buffer: Buffer.from(text, encoding) };
  await page.locator('input[type=file]').setInputFiles(file);
}

async function casesOf(name: string, version: number): Promise<Record<string, unknown>[]> {
  const { body } = await harness.service.call('GET', `/api/v1/datasets/${name}/versions/${version}/cases?limit=100`);
  return body.data as Record<string, unknown>[];
}

/** Whether something is wider than the window. */
async function expectNoSidewaysScroll(page: Page): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
}

const cases = (page: Page, name: string) => page.getByRole('table', { name }).locator('tbody tr');

describe('a file of cases that is not UTF-8', () => {
  it.each(['latin1', 'utf16le'] as const)('is refused by name: %s', async (encoding) => {
    browser.tolerate(/status of 404/);
    const page = await open('/dataset-import?name=latin');
    const line = `${JSON.stringify({ id: 'umlaut', variables: { ticket: 'Die Größe stimmt nicht.' } })}\n`;
    await choose(page, 'cases.jsonl', line, encoding);
    await page.getByText('The file cases.jsonl is not UTF-8. Save it as UTF-8.').waitFor();
    expect(await page.getByRole('table').count()).toBe(0);
    await choose(page, 'cases.jsonl', `\uFEFF${line}`);
    await page.getByText('latin is new, and gets 1 case.').waitFor();
    await page.close();
  });
});

describe('data sets', () => {
  it('are imported with a preview, get versions, are read and deleted', async () => {
    browser.tolerate(/status of 404/);
    const page = await open('/datasets');
    await page.getByText('No data sets yet').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'datasets-empty');
    await page.getByRole('link', { name: 'Import cases' }).click();
    await page.getByRole('textbox', { name: 'Data set' }).fill('support-tickets');
    const lines = [
      {
        id: 'export',
        variables: { ticket: 'The export button is grey.' },
        checks: [{ type: 'icontains', value: 'export' }],
        tags: ['product'],
      },
      { id: 'login', variables: { ticket: 'I cannot sign in.' }, expected: 'Sign-in fails.' },
    ];
    await choose(page, 'tickets.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await page.getByText('support-tickets is new, and gets 2 cases.').waitFor();
    expect(await cases(page, 'Cases of the file').count()).toBe(2);
    await expectAccessible(page);
    await takeScreenshots(page, 'dataset-import');
    await page.getByRole('button', { name: 'Create data set' }).click();
    await page.getByRole('heading', { level: 1, name: 'support-tickets' }).waitFor();
    await cases(page, 'Cases of version 1').nth(1).waitFor();
    await cases(page, 'Cases of version 1').getByRole('button', { name: 'login' }).click();
    await page.getByRole('dialog', { name: 'login' }).getByText('Sign-in fails.').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'dataset-case');
    await page.keyboard.press('Escape');

    await page.getByRole('link', { name: 'Import new version' }).click();
    await page.getByText('Text', { exact: true }).click();
    await page.getByRole('textbox', { name: 'Cases' }).fill(JSON.stringify(lines[0]));
    await page.getByRole('button', { name: 'Show cases' }).click();
    await page.getByText('support-tickets gets 1 case, in place of the 2 of version 1.').waitFor();
    await page.getByRole('button', { name: 'Save as version 2' }).click();
    await cases(page, 'Cases of version 2').first().waitFor();
    await page.getByRole('link', { name: 'v1' }).click();
    await cases(page, 'Cases of version 1').nth(1).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'dataset');
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    expect((await download).suggestedFilename()).toBe('support-tickets.jsonl');

    await page.getByRole('link', { name: 'Data sets' }).first().click();
    await page.getByRole('table', { name: 'Data sets' }).getByRole('link', { name: 'support-tickets' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('All its versions are deleted, the current one with 1 case.').waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No data sets yet').waitFor();
    expect((await harness.service.call('GET', '/api/v1/datasets/support-tickets')).status).toBe(404);
  });

  it('are imported from a table and from tests of promptfoo; what does not fit is named with its line', async () => {
    browser.tolerate(/status of (404|422)/);
    const page = await open('/dataset-import', { width: 390 });
    await page.getByRole('textbox', { name: 'Data set' }).fill('tickets-table');
    const table =
      'ticket,__expected\nThe export button is grey.,icontains: export\nI cannot sign in.,icontains-any: sign\n';
    await choose(page, 'tickets.csv', table);
    const alert = page.getByRole('alert', { name: 'Not all of it can be converted' });
    await alert.getByText('tickets.csv:3: the service has no check "icontains-any"').waitFor();
    expect(await page.getByRole('button', { name: 'Create data set' }).count()).toBe(0);
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await takeScreenshots(page, 'dataset-import-mistakes');
    await choose(page, 'tickets.csv', table.replace('icontains-any', 'icontains'));
    await page.getByRole('button', { name: 'Create data set' }).click();
    await page.getByRole('heading', { level: 1, name: 'tickets-table' }).waitFor();
    await cases(page, 'Cases of version 1').nth(1).waitFor();
    await expectNoSidewaysScroll(page);
    expect(await casesOf('tickets-table', 1)).toMatchObject([
      { checks: [{ type: 'icontains', value: 'export' }] },
      { variables: { ticket: 'I cannot sign in.' } },
    ]);

    await page.goto('/dashboard/dataset-import?name=tickets-table');
    const tests =
      'tests:\n  - vars: { ticket: One. }\n  - vars: { ticket: Two. }\n    assert:\n      - type: javascript\n        value: 1\n';
    await choose(page, 'promptfooconfig.yaml', tests);
    await page.getByText('promptfooconfig.yaml:5: the service has no check "javascript"').waitFor();
    // What only the service knows has its line, too.
    await choose(page, 'tickets.jsonl', '\n{"id": "one"}\n{"id": "one", "expected": "Two."}\n{"tags": [1]}\n');
    await page.getByRole('button', { name: 'Save as version 2' }).click();
    const refused = page.getByRole('alert', { name: 'The service refused the cases' });
    await refused.getByText('tickets.jsonl:3').waitFor();
    await refused.getByText('tickets.jsonl:4 /tags/0').waitFor();
    await choose(page, 'notes.txt', 'Hello.');
    await page.getByText('cases are in files that end in').waitFor();
  });

  it('get cases from invocations and test runs, and show what was erased', async () => {
    const { service } = harness;
    await setDataset(service, 'complaints', ['{"id": "first", "variables": {"name": "Ada"}}']);
    const slug = await harness.createPrompt();
    const { headers } = await harness.invoke(slug, { variables: { name: 'Grace' } });
    const id = headers['x-invocation-id'] ?? '';
    const page = await open(`/invocations/${id}`);
    await page.getByRole('button', { name: 'Add to a data set' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a case to a data set' });
    await dialog.getByRole('combobox', { name: 'Data set' }).click();
    await page.getByRole('option', { name: 'complaints (v1)' }).click();
    await expectAccessible(page);
    await takeScreenshots(page, 'dataset-add');
    await dialog.getByRole('button', { name: 'Add case' }).click();
    await page.getByText('Added: complaints has version 2.').waitFor();
    expect((await casesOf('complaints', 2))[1]).toMatchObject({ invocation_id: id, variables: { name: 'Grace' } });

    await service.call('DELETE', `/api/v1/invocations/${id}/content`);
    await page.goto('/dashboard/datasets/complaints');
    await page.getByText('Erased').waitFor();
    await page.getByRole('button', { name: id }).click();
    await page.getByText('The content of this case was erased').waitFor();
    await page.getByRole('dialog').getByRole('link', { name: id }).click();
    await page.getByRole('button', { name: 'Add to a data set' }).click();
    await dialog.getByRole('combobox', { name: 'Data set' }).click();
    await page.getByRole('option', { name: 'complaints (v2)' }).click();
    await dialog.getByRole('button', { name: 'Add case' }).click();
    await page.getByText('complaints has this case already.').waitFor();

    const silent = await harness.createPrompt({ slug: 'silent', invocation_content: 'off' });
    const { headers: unkept } = await harness.invoke(silent, {});
    await page.goto(`/dashboard/invocations/${unkept['x-invocation-id'] ?? ''}`);
    await page.getByRole('button', { name: 'Add to a data set' }).click();
    await dialog.getByText('The content of this invocation is not kept').waitFor();

    const providers = [{ provider: 'echo' }];
    const body = { providers, variables: { name: 'Linus' } };
    const { body: run } = await service.call('POST', `/api/v1/prompts/${slug}/test`, { body });
    await page.goto(`/dashboard/prompts/${slug}/test-runs/${String(run.id)}`);
    await page.getByRole('button', { name: 'Add to a data set' }).click();
    await dialog.getByRole('combobox', { name: 'Data set' }).click();
    await page.getByRole('option', { name: 'complaints (v2)' }).click();
    await dialog.getByRole('combobox', { name: 'Expected answer' }).selectOption({ label: 'echo / echo-1' });
    await dialog.getByRole('button', { name: 'Add case' }).click();
    await page.getByText('Added: complaints has version 3.').waitFor();
    const added = (await casesOf('complaints', 3))[2];
    expect(added).toMatchObject({
      variables: { name: 'Linus' },
      expected: expect.stringContaining('Linus') as unknown,
    });

    await page.goto('/dashboard/audit-log?resource_type=dataset');
    await page.getByRole('table').getByRole('link', { name: 'complaints', exact: true }).first().click();
    await page.getByRole('heading', { level: 1, name: 'complaints' }).waitFor();
  });

  it('are offered to keys that may read or change them only', async () => {
    const { service } = harness;
    const reader = await open('/datasets', { apiKey: await service.createKey('datasets:read') });
    await reader.getByRole('heading', { level: 1, name: 'Data sets' }).waitFor();
    await reader.getByText('complaints').waitFor();
    expect(await reader.getByRole('link', { name: 'Import cases' }).count()).toBe(0);
    await reader.goto('/dashboard/dataset-import');
    await reader.getByText('datasets:write').waitFor();
    const other = await open('/datasets', { apiKey: await service.createKey('prompts:read') });
    await other.getByText('datasets:read').waitFor();
  });
});
