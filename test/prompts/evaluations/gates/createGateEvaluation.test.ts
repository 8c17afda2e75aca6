import { describe, expect, it } from '@jest/globals';
import { problem } from '../../../support/per-operation.ts';
import { until } from '../../../support/until.ts';
import { saying } from '../../prompts-harness.ts';
import { setDataset } from '../datasets/datasets-harness.ts';
import { createDataset, ended, evaluationPath, reached, setUpEvaluations } from '../runs/evaluations-harness.ts';
import {
  addGate,
  answering,
  ask,
  createLevels,
  createVersionsOf,
  evaluate,
  evaluated,
  gatePath,
  levelCase,
  move,
  name,
  setGate,
} from './gates-harness.ts';

const harness = setUpEvaluations();

/** A prompt whose label names version 1, which passes all cases of a new data set, with a gate. */
async function gated(dataset: string, versions: object[], members: object = {}): Promise<string> {
  const { service } = harness;
  await createLevels(service, dataset);
  const prompt = await createVersionsOf(service, answering(100), ...versions);
  await name(service, prompt, 1);
  await addGate(service, prompt, { dataset: { name: dataset, version: 1 }, rule: { not_worse_by: 0.05 }, ...members });
  return prompt;
}

const statusOf = async (prompt: string, version: number, at = 0): Promise<unknown> =>
  (await ask(harness.service, prompt, version)).comparisons[at]?.status;

describe('202', () => {
  it('asks what the gate says, and lets a version in that passed', async () => {
    const { service } = harness;
    const prompt = await gated('passing', [answering(100, ' indeed')]);
    expect(await ask(service, prompt, 2)).toMatchObject({
      releasable: false,
      reasons: [
        `It was not evaluated against version 1, which the label names: send POST ${gatePath(prompt)}/evaluations with {"version":2}.`,
      ],
      comparisons: [{ against: 'label', baseline: 1, status: 'not-evaluated', evaluable: true, evaluations: [] }],
    });
    const key = await service.createKey('prompts:invoke');
    const { status, body, headers } = await evaluate(service, prompt, { version: 2 }, { key });
    expect([status, headers['location']]).toEqual([202, evaluationPath(body.id as string)]);
    expect(body).toMatchObject({
      candidate: { version: 2 },
      baseline: { version: 1 },
      dataset: { name: 'passing', version: 1 },
      rule: { not_worse_by: 0.05 },
      gate: { label: 'production', against: 'label' },
    });
    await ended(service, body.id as string);
    expect(await ask(service, prompt, 2)).toMatchObject({
      releasable: true,
      comparisons: [
        { status: 'passed', verdict: { outcome: 'passed' }, evaluable: false, evaluations: [{ counts: true }] },
      ],
    });
    const releaser = await service.createKey('prompts:release');
    const moved = await move(service, prompt, 2, { key: releaser });
    expect([moved.status, moved.body.gate]).toEqual([200, { evaluations: [body.id] }]);
    const { body: history } = await service.call('GET', `/api/v1/prompts/${prompt}/labels/production/history`);
    expect(history.data.map((one: { gate?: object }) => one.gate)).toEqual([{ evaluations: [body.id] }, undefined]);
  });

  it('decides by the content, not by the number of the version', async () => {
    const { service } = harness;
    const prompt = await gated('contents', [answering(60), answering(97), answering(60)]);
    const { id } = await evaluated(service, prompt, { version: 2 });
    const { status, body } = await evaluate(service, prompt, { version: 4 });
    expect([status, body.type]).toEqual([409, problem('gate-evaluation-refused')]);
    expect(body.detail).toBe(`The content of version 4 was evaluated, and is failed: ${id}.`);
    expect(await ask(service, prompt, 4)).toMatchObject({
      releasable: false,
      reasons: [`It has failed against version 1, which the label names: evaluation ${id}.`],
    });
    const moved = await move(service, prompt, 4);
    expect([moved.status, moved.body.type]).toEqual([409, problem('release-not-shown')]);
  });

  it('adds up the answers of two after an inconclusive one, and takes no third', async () => {
    const { service } = harness;
    const prompt = await gated('pooled', [answering(97)]);
    const first = await evaluated(service, prompt, { version: 2 });
    expect(first.verdict).toMatchObject({ outcome: 'inconclusive', regressed: 3 });
    expect(await ask(service, prompt, 2)).toMatchObject({ comparisons: [{ status: 'inconclusive', evaluable: true }] });
    const { body: refused } = await move(service, prompt, 2);
    expect(refused.detail).toContain('once more');
    // Cases that are added are asked from then on.
    const lines = Array.from({ length: 200 }, (_, index) => levelCase(`case-${index}`, index < 100 ? index : 0));
    expect((await setDataset(service, 'pooled', lines)).body.version).toBe(2);
    const second = await evaluated(service, prompt, { version: 2 });
    expect([second.dataset.version, second.verdict.units]).toEqual([2, 200]);
    const [comparison] = (await ask(service, prompt, 2)).comparisons;
    expect(comparison).toMatchObject({ status: 'passed', verdict: { units: 300, regressed: 6 }, evaluable: false });
    const { body } = await evaluate(service, prompt, { version: 2 });
    expect(body.type).toBe(problem('gate-evaluation-refused'));
    expect((await move(service, prompt, 2)).body.gate).toEqual({ evaluations: [first.id, second.id] });
  });

  it('stays inconclusive if both are', async () => {
    const { service } = harness;
    const prompt = await gated('twice', [answering(97)], { rule: { min_pass_rate: 0.95 } });
    await evaluated(service, prompt, { version: 2 });
    await evaluated(service, prompt, { version: 2 });
    expect(await ask(service, prompt, 2)).toMatchObject({
      reasons: [
        expect.stringMatching(/^It was evaluated twice, and both are inconclusive together: evaluations .* and /),
      ],
      comparisons: [{ status: 'inconclusive', verdict: { units: 200, passed: 194 }, evaluable: false }],
    });
    expect((await evaluate(service, prompt, { version: 2 })).status).toBe(409);
  });

  it('uses the version of the gate if the current one changes or removes cases', async () => {
    const { service } = harness;
    const prompt = await gated('changed', [answering(60)]);
    const lines = Array.from({ length: 100 }, (_, index) => levelCase(`case-${index}`, index === 7 ? 99 : index));
    await setDataset(service, 'changed', lines);
    const { dataset } = await evaluated(service, prompt, { version: 2 });
    expect(dataset.version).toBe(1);
    const judged = { type: 'llm-rubric', value: 'is polite', judge: { prompt: 'judge', version: 1 } };
    const original = Array.from({ length: 100 }, (_, index) => levelCase(`case-${index}`, index));
    await setDataset(service, 'changed', [...original, JSON.stringify({ id: 'judged', checks: [judged] })]);
    await service.call('PUT', `/api/v1/prompts/${prompt}`, { body: answering(97) });
    expect((await evaluated(service, prompt, { version: 3 })).dataset.version).toBe(1);
  });

  it('uses cases that were added, but not so many that they make a loss look small', async () => {
    const { service } = harness;
    const prompt = await gated('diluted', [answering(60)]);
    const easy = (count: number): string[] => [
      ...Array.from({ length: 100 }, (_, index) => levelCase(`case-${index}`, index)),
      ...Array.from({ length: count }, (_, index) => levelCase(`easy-${index}`, 0)),
    ];
    await setDataset(service, 'diluted', easy(901));
    const { status, body } = await evaluate(service, prompt, { version: 2 });
    expect([status, body.type]).toEqual([409, problem('gate-evaluation-refused')]);
    expect(body.detail).toContain('The data set has 1001 cases');
    await setDataset(service, 'diluted', easy(100));
    const { dataset, verdict } = await evaluated(service, prompt, { version: 2 });
    expect([dataset, verdict.outcome]).toEqual([{ name: 'diluted', version: 3, cases: 200 }, 'failed']);
  });

  it('is started once with an Idempotency-Key, and once by requests at the same time', async () => {
    const { service } = harness;
    const prompt = await gated('once', [answering(60)]);
    const start = (headers = {}) => evaluate(service, prompt, { version: 2 }, { headers });
    const answers = await Promise.all([start(), start(), start()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
    const other = await createVersionsOf(service, answering(100), answering(60));
    await name(service, other, 1);
    await addGate(service, other, { dataset: { name: 'once', version: 1 }, rule: { not_worse_by: 0.05 } });
    const headers = { 'Idempotency-Key': 'gate-1' };
    const first = await evaluate(service, other, { version: 2 }, { headers });
    const again = await evaluate(service, other, { version: 2 }, { headers });
    expect([first.status, again.status, again.body.id]).toEqual([202, 202, first.body.id]);
  });

  it('compares with an anchor, too, by twice the margin', async () => {
    const { service } = harness;
    const prompt = await gated('anchored', [answering(100, ' once'), answering(100, ' twice')], { anchor: 1 });
    // The label names the anchor: not worse than it by the margin is enough.
    await evaluated(service, prompt, { version: 2 });
    expect((await move(service, prompt, 2)).status).toBe(200);
    await evaluated(service, prompt, { version: 3 });
    const refused = await move(service, prompt, 3);
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      expect.stringContaining('{"version":3,"against":"anchor"}'),
    ]);
    const { rule, gate, baseline } = await evaluated(service, prompt, { version: 3, against: 'anchor' });
    expect({ rule, gate, baseline: baseline.version }).toEqual({
      rule: { not_worse_by: 0.1 },
      gate: { label: 'production', against: 'anchor' },
      baseline: 1,
    });
    const moved = await move(service, prompt, 3);
    expect([moved.status, moved.body.gate.evaluations.length]).toEqual([200, 2]);
  });

  it('compares the first version of a label with the anchor, which is let in itself', async () => {
    const { service } = harness;
    await createLevels(service, 'first');
    const prompt = await createVersionsOf(service, answering(100), answering(60));
    const gate = { dataset: { name: 'first', version: 1 }, rule: { not_worse_by: 0.05 } };
    await addGate(service, prompt, gate);
    const nothing = await move(service, prompt, 1, { headers: {} });
    expect([nothing.status, nothing.body.detail]).toEqual([409, expect.stringContaining('give the gate an anchor')]);
    expect((await evaluate(service, prompt, { version: 1 })).body.detail).toContain('has no anchor');
    await setGate(service, prompt, { ...gate, anchor: 1 });
    expect((await evaluated(service, prompt, { version: 2 })).verdict.outcome).toBe('failed');
    expect((await move(service, prompt, 2, { headers: {} })).status).toBe(409);
    expect((await move(service, prompt, 1, { headers: {} })).status).toBe(201);
  });
});

describe('an evaluation that is canceled', () => {
  it('counts as inconclusive once it runs, so that nobody stops when it looks good', async () => {
    const { service, mock } = harness;
    const hanging = { ...saying('Hi'), selected_provider: 'mock', selected_model: 'mock-hang' };
    const prompt = await createVersionsOf(service, hanging);
    const dataset = { name: await createDataset(service, 'canceled', ['{"id":"one"}']), version: 1 };
    await addGate(service, prompt, {
      dataset,
      checks: [{ type: 'contains', value: 'Hello' }],
      rule: { all_pass: true },
    });
    for (let count = 1; count <= 2; count += 1) {
      const { body } = await evaluate(service, prompt, { version: 1 });
      await until(() => mock.requests.length === count);
      expect(await statusOf(prompt, 1)).toBe('running');
      expect((await evaluate(service, prompt, { version: 1 })).body.detail).toContain('is being evaluated');
      const { body: moved } = await move(service, prompt, 1, { headers: {} });
      expect(moved.detail).toContain(`get evaluation ${String(body.id)} until it has`);
      await service.call('POST', `${evaluationPath(body.id as string)}/cancel`);
      expect(await statusOf(prompt, 1)).toBe('inconclusive');
    }
    const { body } = await evaluate(service, prompt, { version: 1 });
    expect(body.type).toBe(problem('gate-evaluation-refused'));
  });

  it('adds its answers to the next one', async () => {
    const { service, mock, database } = harness;
    const prompt = await createVersionsOf(service, {
      ...saying('Hi'),
      selected_provider: 'mock',
      selected_model: 'mock-held',
    });
    const dataset = { name: await createDataset(service, 'partly', ['{"id":"one"}', '{"id":"two"}']), version: 1 };
    await addGate(service, prompt, {
      dataset,
      checks: [{ type: 'contains', value: 'Hello' }],
      rule: { all_pass: true },
    });
    const { body } = await evaluate(service, prompt, { version: 1 });
    await until(() => mock.requests.length > 0);
    // As if it had stored a case that failed before.
    const evaluations = database.db.collection<{ _id: string }>('evaluations');
    await evaluations.updateOne({ _id: body.id as string }, { $set: { entries: [{ name: 'x', outcomes: '0' }] } });
    await service.call('POST', `${evaluationPath(body.id as string)}/cancel`);
    mock.release();
    const second = await evaluated(service, prompt, { version: 1 });
    expect(second.verdict.outcome).toBe('passed');
    expect(await ask(service, prompt, 1)).toMatchObject({
      releasable: false,
      comparisons: [{ status: 'failed', verdict: { units: 3, passed: 2 } }],
    });
  });

  it('does not count if it was refused before the first call', async () => {
    const { service } = harness;
    const prompt = await createVersionsOf(service, saying('Hi'));
    const dataset = { name: await createDataset(service, 'unasked', ['{"id":"one"}']), version: 1 };
    await addGate(service, prompt, { dataset, rule: { all_pass: true } });
    for (let count = 0; count < 3; count += 1) {
      const { body } = await evaluate(service, prompt, { version: 1 });
      await reached(service, body.id as string, 'refused');
    }
    expect(await statusOf(prompt, 1)).toBe('not-evaluated');
  });
});

describe('403', () => {
  it('is not for a key that is limited to few tokens, by which all answers are cut', async () => {
    const { service } = harness;
    const prompt = await gated('cut', [answering(60)]);
    const body = { name: 'short', scopes: ['prompts:invoke'], limits: { max_output_tokens: 1 } };
    const key = (await service.call('POST', '/api/v1/api-keys', { body })).body.key as string;
    const { status, body: refused } = await evaluate(service, prompt, { version: 2 }, { key });
    expect([status, refused.type]).toEqual([403, problem('beyond-limits')]);
    const reader = await service.createKey('prompts:read', 'prompts:release');
    expect((await evaluate(service, prompt, { version: 2 }, { key: reader })).status).toBe(403);
  });
});

describe('getGateVersion', () => {
  it('needs only prompts:read', async () => {
    const { service } = harness;
    const prompt = await gated('read', [answering(60)]);
    const reading = (key: string) => service.call('GET', `${gatePath(prompt)}/versions/2`, { key });
    expect((await reading(await service.createKey('prompts:read'))).status).toBe(200);
    expect((await reading(await service.createKey('prompts:invoke'))).status).toBe(403);
  });
});

describe('400, 404, 409 and 422', () => {
  it('takes nothing but the version', async () => {
    const { service } = harness;
    const prompt = await gated('closed', [answering(60)]);
    for (const members of [{ checks: [] }, { rule: { all_pass: true } }, { dataset: { name: 'x' } }, { model: 'x' }]) {
      expect((await evaluate(service, prompt, { version: 2, ...members })).status).toBe(400);
    }
  });

  it.each([
    ['prompt-not-found', { slug: 'no-such-prompt' }],
    ['version-not-found', { version: 9 }],
    ['gate-not-found', { label: 'staging' }],
  ])('%s', async (type, { slug, version = 2, label }: { slug?: string; version?: number; label?: string }) => {
    const { service } = harness;
    const prompt = slug ?? (await gated('missing', [answering(60)]));
    const { status, body } = await evaluate(service, prompt, { version }, label === undefined ? {} : { label });
    expect([status, body.type]).toEqual([404, problem(type)]);
    const found = await service.call('GET', `${gatePath(prompt, label)}/versions/${version}`);
    expect([found.status, found.body.type]).toEqual([404, problem(type)]);
  });

  it('asks nothing about what the label names, and no anchor that there is not', async () => {
    const { service } = harness;
    const prompt = await gated('free', [answering(60)]);
    const named = await evaluate(service, prompt, { version: 1 });
    expect([named.status, named.body.detail]).toEqual([409, 'The gate always lets version 1 in.']);
    const anchor = await evaluate(service, prompt, { version: 2, against: 'anchor' });
    expect([anchor.status, anchor.body.detail]).toEqual([409, expect.stringContaining('does not compare')]);
    expect(await ask(service, prompt, 1)).toEqual({ version: 1, releasable: true, comparisons: [] });
  });

  it('does not find a data set that was deleted all the same', async () => {
    const { service, database } = harness;
    const prompt = await gated('lost', [answering(60)]);
    await database.db.collection('datasets').deleteOne({ _id: 'lost' as never });
    const { status, body } = await evaluate(service, prompt, { version: 2 });
    expect([status, body.type]).toEqual([404, problem('dataset-not-found')]);
  });
});
