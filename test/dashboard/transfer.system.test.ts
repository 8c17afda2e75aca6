import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Download, Page } from 'playwright-core';
import { exportText, importPrompts, parseLines } from '../prompts/transfer-harness.ts';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { openSignedIn } from './support/sign-in.ts';

const browser = useBrowser();
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const foreign = path.join(import.meta.dirname, '../client/foreign');

function promptOf(slug: string, ...texts: string[]) {
  const versions = texts.map((content, index) => ({ version: index + 1, messages: [{ role: 'user', content }] }));
  return { slug, name: `Prompt ${slug}`, labels: { production: 1 }, versions };
}

/** Chooses files on the import page. */
async function choose(page: Page, files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  const payload = Object.entries(files).map(([name, text]) => ({
    name,
    mimeType: 'text/plain',
    buffer: typeof text === 'string' ? Buffer.from(text) : text,
  }));
  await page.locator('input[type=file]').setInputFiles(payload);
}

async function textOf(download: Download): Promise<string> {
  return await readFile(await download.path(), 'utf8');
}

const rowOf = (page: Page, name: string | RegExp) => page.getByRole('row').filter({ has: page.getByText(name) });

describe('an import', () => {
  it('names files that are not UTF-8, and takes the others', async () => {
    const page = await openSignedIn(browser, service, '/prompts/import');
    const latin = Buffer.from(JSON.stringify(promptOf('size', 'Die Größe.')), 'latin1');
    await choose(page, { 'size.jsonl': latin, 'well.jsonl': JSON.stringify(promptOf('well', 'Größe.')) });
    await page.getByText('The file size.jsonl is not UTF-8. Save it as UTF-8.').waitFor();
    await page.getByText('New: 1').waitFor();
    await page.close();
  });

  it('shows what will happen, follows what is chosen about conflicts, and takes more prompts than a request can', async () => {
    await importPrompts(service, [promptOf('stored', 'Hello.'), promptOf('other', 'One.')]);
    const page = await openSignedIn(browser, service, '/prompts');
    await page.getByRole('link', { name: 'Import' }).click();
    const lines = [
      promptOf('stored', 'Hello.'),
      promptOf('other', 'Another.'),
      ...Array.from({ length: 148 }, (_, index) => promptOf(`many-${index}`, 'One.', 'Two.')),
    ];
    await choose(page, { 'prompts.jsonl': lines.map((line) => `${JSON.stringify(line)}\n`).join('') });
    await page.getByText('New: 148 · Unchanged: 1 · Refused: 1').waitFor();
    await rowOf(page, /^slug$/)
      .getByText('is the slug of a stored prompt that is different')
      .waitFor();
    expect(await page.getByRole('button', { name: 'Import 150 prompts' }).isDisabled()).toBe(true);
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-import');

    await page.getByRole('button', { name: 'Leave out the refused prompt' }).click();
    await page.getByText('New: 148 · Unchanged: 1').waitFor();
    await choose(page, { 'prompts.jsonl': lines.map((line) => `${JSON.stringify(line)}\n`).join('') });
    await page.getByText('Refused: 1').waitFor();
    await page.getByRole('combobox', { name: 'If a stored prompt with the same slug is different' }).click();
    await page.getByRole('option', { name: 'Add a new version to it' }).click();
    await page.getByText('New: 148 · Changed: 1 · Unchanged: 1').waitFor();
    expect(parseLines(await exportText(service))).toHaveLength(2);
    await page.getByRole('button', { name: 'Import 150 prompts' }).click();
    await page.getByRole('status').getByText('Created: 148 · Updated: 1 · Unchanged: 1').waitFor();
    await expectAccessible(page);
    expect(parseLines(await exportText(service))).toHaveLength(150);
    const { body: other } = await service.call('GET', '/api/v1/prompts/other');
    expect(other).toMatchObject({ version: 2, labels: { production: 1 }, messages: [{ content: 'Another.' }] });
    await page.getByRole('link', { name: 'other', exact: true }).click();
    await page.getByRole('heading', { name: 'Prompt other', level: 1 }).waitFor();
  });

  it('takes dropped files of other tools, and names what does not fit', async () => {
    const page = await openSignedIn(browser, service, '/prompts/import', { width: 390 });
    const files = {
      'langfuse.json': await readFile(path.join(foreign, 'langfuse.json'), 'utf8'),
      'broken.json': JSON.stringify({ slug: 'broken', name: 'Broken', versions: [{ version: 1 }] }),
      'notes.csv': 'a,b',
    };
    const dropped = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      for (const [name, text] of Object.entries(${JSON.stringify(files)})) transfer.items.add(new File([text], name));
      return transfer;
    })()`);
    await page.getByRole('region', { name: 'Files' }).dispatchEvent('drop', { dataTransfer: dropped });
    browser.tolerate(/status of 400/);
    await page.getByText('notes.csv: its format is not known').waitFor();
    await rowOf(page, 'broken').getByText('Refused').waitFor();
    await rowOf(page, 'movie-critic').getByText('tags are left out', { exact: false }).waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-import-foreign');
    await page.getByRole('button', { name: 'Leave out the refused prompt' }).click();
    await page.getByRole('button', { name: /^Import \d+ prompts?$/ }).click();
    await page
      .getByRole('status')
      .getByText(/^Created: \d+$/)
      .waitFor();
    const { body } = await service.call('GET', '/api/v1/prompts/movie-critic');
    expect(body).toMatchObject({ name: 'movie-critic', labels: { production: 2 } });
  });

  it('is offered only to a key that may write, and sets labels only for one that may release', async () => {
    const reader = await openSignedIn(browser, service, '/prompts/import', {
      apiKey: await service.createKey('prompts:read'),
    });
    await reader.getByText('prompts:write').waitFor();
    await reader.goto('/dashboard/prompts');
    await reader.getByRole('button', { name: 'Export' }).waitFor();
    expect(await reader.getByRole('link', { name: 'Import' }).count()).toBe(0);
    const writer = await openSignedIn(browser, service, '/prompts/import', {
      apiKey: await service.createKey('prompts:read', 'prompts:write'),
    });
    await choose(writer, { 'unlabelled.json': JSON.stringify(promptOf('unlabelled', 'Hello.')) });
    await writer.getByText('This needs the scope prompts:release.').waitFor();
    await writer.getByRole('button', { name: 'Import 1 prompt' }).click();
    await writer.getByRole('status').getByText('Created: 1').waitFor();
    const { body } = await service.call('GET', '/api/v1/prompts/unlabelled');
    expect(body).not.toHaveProperty('labels');
  });
});

describe('an export', () => {
  it('has all prompts, or those that are chosen', async () => {
    await importPrompts(service, [promptOf('first-of-two', 'One.', 'Two.'), promptOf('second-of-two', 'One.')]);
    const page = await openSignedIn(browser, service, '/prompts');
    const submit = async (): Promise<string> => {
      const started = page.waitForEvent('download');
      await page
        .getByRole('dialog')
        .getByRole('link', { name: 'Export' })
        .or(page.getByRole('dialog').getByRole('button', { name: 'Export' }))
        .click();
      return await textOf(await started);
    };
    await page.getByRole('button', { name: 'Export' }).click();
    await expectAccessible(page);
    await takeScreenshots(page, 'prompt-export');
    expect(await submit()).toBe(await exportText(service));

    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('combobox', { name: 'Prompts' }).fill('first-of');
    await page.getByRole('option', { name: 'Prompt first-of-two' }).click();
    await page.keyboard.press('Tab');
    await page.getByRole('checkbox', { name: 'All versions' }).uncheck();
    const [chosen, ...others] = parseLines(await submit());
    expect(chosen).toMatchObject({ slug: 'first-of-two', versions: [{ version: 2 }] });
    expect(others).toEqual([]);
  });
});
