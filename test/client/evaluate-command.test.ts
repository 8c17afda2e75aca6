/** `evaluate`: the verdict of a version as an exit code, with the reports that CI systems read. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runCli } from '../../clients/typescript/src/cli/cli.ts';
import { addGate, answering, createLevels, createVersionsOf } from '../prompts/evaluations/gates/gates-harness.ts';
import { setLabel } from '../prompts/labels/labels-harness.ts';
import { create } from '../prompts/prompts-harness.ts';
import { createEchoPrompt, sayCase, setUpEvaluations } from '../prompts/evaluations/runs/evaluations-harness.ts';

const harness = setUpEvaluations();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'evaluate-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function run(args: readonly string[], world: object = {}) {
  const { url, adminKey } = harness.service;
  let [output, errors] = ['', ''];
  const environment = { PROMPT_GATEWAY_URL: url, PROMPT_GATEWAY_API_KEY: adminKey };
  const code = await runCli(['evaluate', ...args], environment, {
    write: (text) => (output += text),
    writeError: (text) => (errors += text),
    maxRetries: 0,
    ...world,
  });
  return { code, output, errors };
}

/** Writes cases of which the first ones are answered with something else than `good` by the second version only. */
async function file(name: string, cases: number, regressed: number): Promise<string> {
  const lines = Array.from({ length: cases }, (_, index) =>
    sayCase(`case-${index}`, 'good', { variables: { say: 'good', also: index < regressed ? ' & "bad"' : '' } }),
  );
  const full = path.join(folder, name);
  await writeFile(full, lines.join('\n'));
  return full;
}

const read = (name: string): Promise<string> => readFile(path.join(folder, name), 'utf8');

describe('evaluate', () => {
  it('exits with 0 if the version passed', async () => {
    const prompt = await createEchoPrompt(harness.service);
    const dataset = await file('Passing Cases.jsonl', 80, 0);
    const json = path.join(folder, 'evaluation.json');
    const done = await run([prompt, '--version', '2', '--against', '1', '--dataset', dataset, '--json', json]);
    expect(done).toMatchObject({ code: 0, errors: expect.stringMatching(/^planning\n/) });
    const evaluation = JSON.parse(await read('evaluation.json'));
    expect(evaluation).toMatchObject({ rule: { not_worse_by: 0.05 }, dataset: { name: 'passing-cases' } });
    expect(done.output).toBe(
      'passing-cases: version 1, 80 cases.\n' +
        'passed: version 2 is not worse than version 1 by 5 points or more. The difference is between -4.6 points and ' +
        '+4.6 points with 95 % confidence (80 cases, 80 passed, 0 regressed, 0 improved).\n' +
        `It cost $0. Evaluation ${evaluation.id}.\n`,
    );
  });

  it('exits with 3 if it failed, and says which cases regressed and why', async () => {
    const prompt = await createEchoPrompt(harness.service);
    const dataset = await file('failing.jsonl', 80, 30);
    const junit = path.join(folder, 'junit.xml');
    const done = await run([prompt, '--version', '2', '--against', '1', '--dataset', dataset, '--junit', junit]);
    expect(done.code).toBe(3);
    expect(done.output).toMatch(/^Cases that regressed:\n- case-\d+: The answer is/m);
    expect(done.output.match(/^- case-/gm)).toHaveLength(20);
    expect(done.output).toMatch(/^…\nfailed: version 2 is worse than version 1\. .* It is measurably worse\.$/m);
    const report = await read('junit.xml');
    expect(report.match(/<testcase /g)).toHaveLength(81);
    expect(report.match(/<failure message="regressed: /g)).toHaveLength(30);
    expect(report).toContain('&quot;');
  });

  it('exits with 4 if the cases decide nothing', async () => {
    const prompt = await createEchoPrompt(harness.service);
    const dataset = await file('undecided.jsonl', 80, 3);
    const junit = path.join(folder, 'junit.xml');
    const done = await run([prompt, '--against', '1', '--dataset', dataset, '--junit', junit]);
    expect(done.code).toBe(4);
    expect(done.output).toMatch(/^inconclusive: the cases do not show .* About \d+ cases would decide\.$/m);
    expect(await read('junit.xml')).toMatch(/<testcase name="verdict"[^>]*><failure message="inconclusive: /);
  });

  it('takes a version of a data set, checks of a file, and other rules', async () => {
    const prompt = await createEchoPrompt(harness.service);
    await run([prompt, '--all-pass', '--dry-run', '--dataset', await file('named.jsonl', 40, 1)]);
    const checks = path.join(folder, 'checks.json');
    await writeFile(checks, '[{"type": "contains", "value": "g"}]');
    const failed = await run([prompt, '--all-pass', '--dataset', 'named@1', '--checks', checks]);
    expect(failed).toMatchObject({
      code: 3,
      output: expect.stringContaining('failed: version 2 does not pass every case.'),
    });
    const rate = await run([prompt, '--version', '1', '--min-pass-rate', '0.9', '--dataset', 'named']);
    expect(rate).toMatchObject({
      code: 0,
      output: expect.stringContaining('version 1 passes 90 % of cases like these.'),
    });
  });

  it('says what it would cost, and nothing else happens', async () => {
    const prompt = await createEchoPrompt(harness.service);
    const dry = await run([prompt, '--against', '1', '--dataset', await file('dry.jsonl', 80, 0), '--dry-run']);
    expect(dry).toMatchObject({ code: 0, output: expect.stringMatching(/\n160 calls, which cost at most \$0\.\n$/) });
  });

  it('exits with 1 if it cannot run', async () => {
    const { id } = await create(harness.service, {
      messages: [{ role: 'user', content: '{{needed}}' }],
      selected_provider: 'echo',
    });
    const refused = await run([id, '--all-pass', '--dataset', await file('refused.jsonl', 1, 0)]);
    expect(refused).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/case-0, candidate: .*\nThe evaluation .* is refused\.\n$/s),
    });
    expect(await run([id, '--all-pass', '--dataset', 'nowhere'])).toMatchObject({ code: 1 });
    expect(await run([id, '--against', '1', '--dataset', 'refused'])).toEqual({
      code: 1,
      output: '',
      errors: expect.stringContaining('(422)'),
    });
    expect(await run([id, '--dataset', 'refused'])).toMatchObject({ code: 2 });
    expect(await run([id, '--all-pass', '--dataset', path.join(folder, 'none.jsonl')])).toMatchObject({ code: 1 });
  });

  it('is canceled with the program', async () => {
    const { id } = await create(harness.service, {
      messages: [{ role: 'user', content: 'Hi' }],
      ...{ selected_provider: 'mock', selected_model: 'mock-slow-100' },
    });
    const controller = new AbortController();
    setTimeout(() => {
      controller.abort();
    }, 1_500);
    const world = { isTerminal: true, interruption: () => controller.signal };
    const stopped = await run([id, '--all-pass', '--dataset', await file('long.jsonl', 2_000, 0)], world);
    expect(stopped).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/\r\[-+\] .*is canceled: requested\.\n$/s),
    });
  });

  it('asks what a gate wants to know, and exits with 0 if it lets the version in', async () => {
    const { service } = harness;
    const prompt = await createVersionsOf(service, answering(97), answering(100), answering(60));
    const dataset = { name: await createLevels(service, 'of-gate'), version: 1 };
    await setLabel(service, prompt, 'production', 1);
    await addGate(service, prompt, { dataset, rule: { not_worse_by: 0.05 } });
    const passed = await run([prompt, '--gate', 'production', '--version', '2']);
    expect(passed).toMatchObject({ code: 0 });
    expect(passed.output).toMatch(/^passed: version 2 .*The gate of production lets version 2 in\.\n$/s);
    // It knows this already.
    expect((await run([prompt, '--gate', 'production', '--version', '2'])).output).toBe(
      'The gate of production lets version 2 in.\n',
    );
    const failed = await run([prompt, '--gate', 'production']);
    expect(failed).toMatchObject({ code: 3, errors: expect.stringContaining('It has failed against version 1') });
    expect(failed.output).toMatch(/The gate of production does not let version 3 in\.\n$/);
    expect(await run([prompt, '--gate', 'production', '--all-pass'])).toMatchObject({ code: 2 });
    expect(await run([prompt, '--gate', 'staging'])).toMatchObject({ code: 1 });
  });
});
