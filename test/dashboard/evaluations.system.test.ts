/** Evaluations in the dashboard: started after their cost is known, watched without outcomes, judged, and read case by case. */
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createEvaluationResults } from '../../src/prompts/evaluations/runs/result-archive.ts';
import { createEvaluationStore } from '../../src/prompts/evaluations/runs/evaluation-store.ts';
import { createSweep } from '../../src/prompts/evaluations/runs/sweep.ts';
import { system } from '../../src/base/runtime/system.ts';
import { createFsBlobStore } from '../../src/storage/blobs/fs-blob-store.ts';
import {
  createDataset,
  createEchoPrompt,
  ended,
  evaluationPath,
  sayCase,
  setUpEvaluations,
  startEvaluation,
} from '../prompts/evaluations/runs/evaluations-harness.ts';
import { addGate } from '../prompts/evaluations/gates/gates-harness.ts';
import { createJudge } from '../prompts/evaluations/judges/judges-harness.ts';
import { create, saying } from '../prompts/prompts-harness.ts';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { clockAhead } from '../support/clock.ts';
import { until } from '../support/until.ts';
import { openSignedIn } from './support/sign-in.ts';

const browser = useBrowser();
const harness = setUpEvaluations();

type Options = Parameters<typeof openSignedIn>[3];
const open = (target: string, options?: Options): Promise<Page> =>
  openSignedIn(browser, harness.service, target, options);

/** Cases of which version 2 of the prompt fails those that say more. */
const cases = (count: number, regressing: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    sayCase(`case-${index}`, 'good', index < regressing ? { variables: { say: 'good', also: ' and more' } } : {}),
  );

async function expectNoSidewaysScroll(page: Page): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
}

/** An evaluation that has ended. @returns its page */
async function evaluated(
  name: string,
  lines: readonly string[],
  members: object,
): Promise<{ id: string; page: string }> {
  const { service } = harness;
  const prompt = await createEchoPrompt(service);
  const dataset = { name: await createDataset(service, name, lines) };
  const id = await startEvaluation(service, prompt, { candidate: { version: 2 }, dataset, ...members });
  await ended(service, id);
  return { id, page: `/prompts/${prompt}/evaluations/${id}` };
}

describe('an evaluation', () => {
  it('is started after its calls and cost are known, and its verdict leads to the cases', async () => {
    const { service } = harness;
    const prompt = await createEchoPrompt(service);
    await service.call('PUT', `/api/v1/prompts/${prompt}/labels/production`, { body: { version: 1 } });
    await createDataset(service, 'greetings', cases(80, 3));
    const page = await open(`/prompts/${prompt}`);
    await page.getByRole('link', { name: 'Evaluations' }).click();
    await page.getByText('No evaluations yet').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'evaluations-empty');
    await page.getByRole('link', { name: 'Evaluate a version' }).click();
    expect(await page.getByRole('combobox', { name: 'Baseline' }).inputValue()).toBe('production');
    await page.getByRole('combobox', { name: 'Data set' }).first().fill('greetings');
    await page.getByRole('option', { name: 'greetings' }).click();
    await page.getByRole('button', { name: 'Add a check' }).click();
    await page.getByRole('menuitem', { name: 'Is complete' }).click();
    await page.getByRole('button', { name: 'Show calls and cost' }).click();
    await page.getByText('160 calls').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'evaluation-new');
    await page.getByRole('button', { name: 'Start evaluation' }).click();
    await page.getByText(/These cases do not show whether Version 2 is worse than version 1 by 5 points/).waitFor();
    await page.getByText(/About [\d,]+ cases would decide/).waitFor();
    await page.getByRole('img', { name: /^Difference between −/ }).waitFor();
    const list = page.getByRole('region', { name: 'Cases' });
    const rows = list.getByRole('list').first().locator('> li');
    await rows.nth(2).waitFor();
    expect(await rows.count()).toBe(3);
    await page.locator('.cm-merge-b .cm-changedLine', { hasText: 'and more' }).waitFor();
    await list.getByRole('button', { name: 'Show case' }).click();
    await list.getByText('"say": "good"').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'evaluation');
    await list.getByRole('link', { name: 'Same: 77' }).click();
    await rows.nth(19).waitFor();
    expect(await rows.count()).toBe(20);
    await list.getByRole('button', { name: 'Show more' }).click();
    await rows.nth(39).waitFor();
    await rows.nth(0).getByText('Both answered the same').waitFor();

    await page.getByRole('link', { name: 'All invocations of this evaluation' }).click();
    await page.waitForURL('**/invocations?evaluation_id=*');
    await page.getByRole('table', { name: 'Invocations' }).getByRole('link').first().click();
    await page.getByRole('rowheader', { name: 'Evaluation' }).waitFor();
    await page.goto('/dashboard/audit-log?resource_type=evaluation');
    await page.getByRole('table').getByRole('link').first().click();
    await page.waitForURL('**/prompts/*/evaluations/*');
    await page.getByRole('link', { name: 'All evaluations' }).click();
    await page.getByRole('table', { name: 'Evaluations' }).getByText('Inconclusive').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'evaluations');
  });

  it('says how well its judge agrees with people, who mark answers by a key for each', async () => {
    const { service } = harness;
    const judge = await createJudge(service);
    const lines = Array.from({ length: 40 }, (_, index) =>
      JSON.stringify({ id: `case-${index}`, variables: { say: `Answer ${index}` }, expected: `${index % 3 > 0}` }),
    );
    const checks = [{ type: 'llm-rubric', value: 'Answers the question, politely.', judge }];
    const { id, page: path } = await evaluated('judged', lines, {
      ...{ baseline: { version: 1 }, checks, rule: { not_worse_by: 0.5 } },
    });
    const page = await open(path);
    const judges = page.locator('section', { has: page.getByRole('heading', { name: 'Judges' }) });
    await judges.getByText('0 of 50 needed').waitFor();
    await judges.getByText('of the same family as the candidate').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'evaluation-judges');
    await judges.getByRole('link', { name: 'Mark answers' }).click();
    const answer = page.getByRole('article', { name: 'Answer' });
    await answer.getByText('Answers the question, politely.').waitFor();
    await answer.getByText(/"say": "Answer \d+"/).waitFor();
    expect(await page.getByText('The judge says').count()).toBe(0);
    await expectAccessible(page);
    await takeScreenshots(page, 'marks');
    await page.keyboard.press('s');
    await page.keyboard.press('b');
    await answer.waitFor();
    for (let marked = 0; marked < 60; marked += 1) {
      const key =
        (await answer.getByRole('region', { name: 'Expected' }).textContent())?.includes('true') === true ? 'p' : 'f';
      await page.keyboard.press(key);
      await page
        .getByRole('status')
        .getByText(`${marked + 1} marked`)
        .waitFor();
    }
    await expectNoSidewaysScroll(page);
    // What was marked is left out by whoever goes on later.
    await page.reload();
    await page.getByRole('status').getByText('60 marked').waitFor();
    const { body } = await service.call('GET', `/api/v1/evaluations/${id}/calibration`);
    expect(body.judges[0]).toMatchObject({ marks: 60, sensitivity: { rate: 1 }, specificity: { rate: 1 } });
    await page.getByRole('link', { name: 'Back to the evaluation' }).click();
    await judges.getByText('Agrees with people').waitFor();
    await judges.getByText('60 of 50 needed').waitFor();
    await takeScreenshots(page, 'evaluation-judges-enough');
    const { prompt_id: prompt } = (await service.call('GET', evaluationPath(id))).body as { prompt_id: string };
    await service.call('PUT', `/api/v1/prompts/${prompt}/labels/production`, { body: { version: 1 } });
    await addGate(service, prompt, { dataset: { name: 'judged', version: 1 }, checks, rule: { not_worse_by: 0.5 } });
    await page.goto(`/dashboard/prompts/${prompt}/history`);
    await page.getByRole('button', { name: 'Move production' }).click();
    await page.getByRole('dialog').getByLabel('Version', { exact: true }).selectOption('2');
    await page.getByText(/Its judge agreed with people by 0\.\d+ \(J, from 60 marks\)/).waitFor();
    await takeScreenshots(page, 'gate-judged');
    await page.goto(`/dashboard${path}`);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectNoSidewaysScroll(page);
  });

  it('says what its rule shows, in both languages and on a phone', async () => {
    const baseline = { version: 1 };
    const passed = await evaluated('all-good', cases(80, 0), { baseline, rule: { not_worse_by: 0.05 } });
    const page = await open(passed.page, { width: 390 });
    await page
      .getByText('Version 2 is not worse than version 1 by 5 points or more: at most 4.6 points worse')
      .waitFor();
    await page.getByRole('link', { name: 'Regressed: 0' }).waitFor();
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await takeScreenshots(page, 'evaluation-passed');
    const worse = await evaluated('worse', cases(80, 20), { baseline, rule: { not_worse_by: 0.05 } });
    await page.goto(`/dashboard${worse.page}`);
    await page.getByText(/Version 2 is worse than version 1: by \d/).waitFor();
    await page.locator('.cm-insertedLine, .cm-changedLine').first().waitFor();
    await expectNoSidewaysScroll(page);
    const rate = await evaluated('rate', cases(60, 30), { rule: { min_pass_rate: 0.9 } });
    await page.goto(`/dashboard${rate.page}`);
    await page.getByText('Version 2 passes less than 90% of all cases like these').waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'evaluation-rate');
    const german = await open(rate.page, { locale: 'de-AT' });
    await german.getByText(/Version 2 besteht weniger als 90\s%/).waitFor();
    await german.getByRole('link', { name: 'Nicht bestanden: 30' }).waitFor();
    await expectAccessible(german);
  });

  it('compares models, as it is told, and takes them over into the next one', async () => {
    const { service } = harness;
    const prompt = await createEchoPrompt(service);
    await createDataset(service, 'models', cases(80, 0));
    const page = await open(`/prompts/${prompt}/evaluations/new`);
    const candidate = page.getByRole('group', { name: 'Candidate' });
    await candidate.getByRole('combobox', { name: 'Provider' }).fill('mock');
    await page.getByRole('option', { name: 'mock' }).click();
    await candidate.getByRole('combobox', { name: 'Model' }).fill('model-a');
    await page.getByRole('combobox', { name: 'Data set' }).first().fill('models');
    await page.getByRole('option', { name: 'models' }).click();
    await expectNoSidewaysScroll(page);
    await expectAccessible(page);
    await takeScreenshots(page, 'evaluation-models');
    await page.getByRole('button', { name: 'Show calls and cost' }).click();
    await page.getByRole('button', { name: 'Start evaluation' }).click();
    await page.getByRole('rowheader', { name: 'Candidate' }).waitFor();
    await page.getByText('v2 · mock / model-a').first().waitFor();
    await page.getByRole('link', { name: 'Evaluate again' }).click();
    await candidate.getByRole('combobox', { name: 'Model' }).waitFor();
    expect(await candidate.getByRole('combobox', { name: 'Model' }).inputValue()).toBe('model-a');
    expect(await page.getByText('with these replacements').count()).toBe(0);
  });

  it('shows no outcomes while it runs, and is canceled', async () => {
    const { service, mock } = harness;
    const selected = { selected_provider: 'mock', selected_model: 'mock-hang' };
    const { id: prompt } = await create(service, { ...saying('Hi'), ...selected });
    const dataset = { name: await createDataset(service, 'hanging', ['{"id":"one"}']) };
    const checks = [{ type: 'contains', value: 'Hello' }];
    const id = await startEvaluation(service, prompt, { candidate: {}, dataset, checks, rule: { all_pass: true } });
    await until(() => mock.requests.length === 1);
    const page = await open(`/evaluations/${id}`);
    await page.getByText('0 of 1 cases are done.').waitFor();
    expect(await page.getByRole('region', { name: 'Cases' }).count()).toBe(0);
    await expectAccessible(page);
    await takeScreenshots(page, 'evaluation-running');
    await page.getByRole('button', { name: 'Cancel evaluation' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel evaluation' }).click();
    await page.getByText('Somebody canceled it. It has no verdict.').waitFor();
  });

  it('is refused with the cases, and with what is wrong with checks and rule', async () => {
    browser.tolerate(/status of (400|422)/);
    const { service } = harness;
    const prompt = await createEchoPrompt(service);
    await createDataset(service, 'few', ['{"id": "empty"}', sayCase('full', 'good')]);
    const page = await open(`/prompts/${prompt}/evaluations/new`);
    await page.getByRole('combobox', { name: 'Data set' }).first().fill('few');
    await page.getByRole('button', { name: 'Show calls and cost' }).click();
    await page.getByText('needs at least 73 cases').first().waitFor();
    await page.getByRole('radio', { name: 'Passes each case' }).check();
    await page.getByRole('textbox', { name: 'Checks of every answer' }).fill('[{"type": "cost"}]');
    await page.getByRole('button', { name: 'Show calls and cost' }).click();
    await page.getByText(/^0: /).or(page.getByText(/^0\./)).first().waitFor();
    await expectAccessible(page);
    await takeScreenshots(page, 'evaluation-mistakes');
    await page.getByRole('textbox', { name: 'Checks of every answer' }).fill('[{"type"');
    await page.getByText('This is not a list in JSON.').waitFor();
    await page.getByRole('textbox', { name: 'Checks of every answer' }).fill('');
    await page.getByRole('button', { name: 'Show calls and cost' }).click();
    const refused = page.getByRole('alert', { name: 'It cannot be evaluated' });
    await refused
      .getByText(/case empty/)
      .first()
      .waitFor();
    expect(await page.getByRole('button', { name: 'Start evaluation' }).count()).toBe(0);
  });

  it('keeps its verdict when its results are deleted; who may not start one is told so', async () => {
    browser.tolerate(/status of 409/);
    const { service } = harness;
    const { id, page: target } = await evaluated('deleted', [sayCase('one', 'good')], { rule: { all_pass: true } });
    const blobs = createFsBlobStore(path.join(service.environment['DATA_DIR'] ?? '', 'files'));
    const results = createEvaluationResults(blobs, system.random);
    const store = createEvaluationStore(harness.database);
    await createSweep({ store, results, clock: clockAhead(31 * 24 * 3_600_000) })();
    expect((await service.call('GET', `${evaluationPath(id)}/results`)).status).toBe(409);
    const reader = await open(target, { apiKey: await service.createKey('prompts:read', 'datasets:read') });
    await reader.getByText('Version 2 passes the case.').waitFor();
    await reader.getByText('The results are deleted').waitFor();
    await expectAccessible(reader);
    const page = await open(target, { apiKey: await service.createKey('prompts:read') });
    await page.getByText('Version 2 passes the case.').waitFor();
    await page.getByText('The cases are hidden').waitFor();
    await expectAccessible(page);
    expect(await page.getByRole('link', { name: 'Evaluate again' }).count()).toBe(0);
    await page.goto(`/dashboard${target.replace(id, 'new')}`);
    await page.getByText('prompts:invoke').waitFor();
  });
});
