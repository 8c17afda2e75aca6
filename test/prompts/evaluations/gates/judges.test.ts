import { describe, expect, it } from '@jest/globals';
import { problem, startAnother } from '../../../support/per-operation.ts';
import type { Answer } from '../../../support/service.ts';
import { createJudge, markedBy } from '../judges/judges-harness.ts';
import { createDataset, setUpEvaluations, withMock } from '../runs/evaluations-harness.ts';
import { addGate, ask, createVersionsOf, evaluate, evaluated, gatePath, move, name, setGate } from './gates-harness.ts';

const harness = setUpEvaluations({ models: ['mock-echo'] });

/** A version that says of the first cases, as many as `good` says, what the judge passes. */
const saying = (good: number, note = ''): object => ({
  messages: [{ role: 'user', content: `{{upto${good}}}${note}` }],
  selected_provider: 'echo',
});
const levels = [40, 97, 100];

let sets = 0;
/** A label that names version 1, with a version 2 as good and a version 3 that is worse, and a judge of their answers. */
async function judged(more: object = {}) {
  const { service } = harness;
  const lines = Array.from({ length: 150 }, (_, index) => {
    const variables = Object.fromEntries(levels.map((level) => [`upto${level}`, `${index < 1.5 * level}`]));
    return JSON.stringify({ id: `${index}`, variables });
  });
  const dataset = { name: await createDataset(service, `gate-judged-${(sets += 1)}`, lines) };
  const prompt = await createVersionsOf(service, saying(100), saying(100, ' '), saying(40));
  await name(service, prompt, 1);
  const judge = await createJudge(service, '{"pass": {{output}}}', more);
  const checks = [{ type: 'llm-rubric', value: 'is true', judge }];
  const gate = { dataset: { ...dataset, version: 1 }, checks, rule: { not_worse_by: 0.1 } };
  const sides = { candidate: { version: 3 }, baseline: { version: 1 } };
  /** Marks the first answers of an evaluation as a person would. */
  const marked = (count: number, person: (output: string) => boolean): Promise<Answer['body']> => {
    let left = count;
    return markedBy(service, prompt, { ...sides, dataset, checks, rule: { not_worse_by: 0.5 } }, ({ output }) => {
      left -= 1;
      return left < 0 ? undefined : person(output as string);
    });
  };
  return { prompt, judge, gate, marked };
}

const refusal = ({ status, body }: Answer): unknown => [status, body.type, body.errors];

describe('a gate with a judge', () => {
  it('needs 50 marks by people, and a judge that agrees with them', async () => {
    const { service } = harness;
    const { prompt, gate, marked } = await judged();
    const pointer = '#/checks/0/judge';
    const set = (): Promise<Answer> => setGate(service, prompt, gate, { headers: {} });
    const problemOf = (detail: unknown): unknown => [422, problem('inconsistent-content'), [{ detail, pointer }]];
    expect(refusal(await set())).toEqual(problemOf('has 0 marks of the 50 that it needs'));
    await marked(49, (output) => output === 'true');
    expect(refusal(await set())).toEqual(problemOf('has 49 marks of the 50 that it needs'));
    // As many again that say the opposite.
    await marked(49, (output) => output !== 'true');
    expect(refusal(await set())).toEqual(problemOf(expect.stringMatching(/^agrees too little with people: J is 0/)));
  });

  it('multiplies the margin by J as it was when the gate was set', async () => {
    const { service } = harness;
    const { prompt, judge, gate, marked } = await judged();
    await marked(60, (output) => output === 'true');
    const { body: set } = await addGate(service, prompt, gate);
    const [calibration] = set.calibration as Answer['body'][];
    expect(calibration).toMatchObject({ check: 0, ...judge, provider: 'echo', model: 'echo-1', marks: 60 });
    const { j } = calibration as { j: number };
    expect(j).toBeGreaterThan(0.6);
    expect(j).toBeLessThan(0.85);
    const evaluation = await evaluated(service, prompt, { version: 2 });
    const margin = Math.floor(0.1 * j * 10_000) / 10_000;
    expect(evaluation.rule).toEqual({ not_worse_by: margin });
    expect(evaluation.verdict.outcome).toBe('passed');
    expect((await ask(service, prompt, 2)).comparisons[0].rule).toEqual({ not_worse_by: margin });
    // What people say later counts when the gate is set again.
    await marked(60, (output) => output === 'true');
    expect((await service.call('GET', gatePath(prompt))).body).toEqual(set);
    expect((await move(service, prompt, 2)).status).toBe(200);
    expect((await evaluated(service, prompt, { version: 3 })).verdict.outcome).toBe('failed');
    expect((await move(service, prompt, 3)).body.type).toBe(problem('release-not-shown'));
    const again = await setGate(service, prompt, gate);
    expect(again.body.calibration[0]).toMatchObject({ marks: 120 });
    expect(again.body.calibration[0].j).toBeGreaterThan(j);
  });

  it('takes no other version of the judge, which nobody has compared', async () => {
    const { service } = harness;
    const { prompt, judge, gate, marked } = await judged();
    await marked(60, (output) => output === 'true');
    await addGate(service, prompt, gate);
    await service.call('PUT', `/api/v1/prompts/${judge.prompt}`, {
      body: { messages: [{ role: 'user', content: '{"pass": true}' }] },
    });
    const checks = [{ ...gate.checks[0], judge: { ...judge, version: 2 } }];
    expect(refusal(await setGate(service, prompt, { ...gate, checks }))).toEqual([
      422,
      problem('inconsistent-content'),
      [{ detail: 'has 0 marks of the 50 that it needs', pointer: '#/checks/0/judge' }],
    ]);
    const missing = [{ ...gate.checks[0], judge: { ...judge, version: 9 } }];
    expect((await setGate(service, prompt, { ...gate, checks: missing })).status).toBe(404);
  });

  it('takes no judge that cannot judge or cannot be asked', async () => {
    const { service } = harness;
    const { prompt, gate } = await judged();
    const judges: [object, string, string][] = [
      [{ response_format: undefined }, 'has no JSON format whose schema requires a boolean "pass"', '#/checks/0/judge'],
      [{ messages: [{ role: 'user', content: '{{other}}' }] }, 'other', '#/checks'],
    ];
    for (const [more, detail, pointer] of judges) {
      const checks = [{ ...gate.checks[0], judge: await createJudge(service, '{"pass": {{output}}}', more) }];
      expect(refusal(await setGate(service, prompt, { ...gate, checks }, { headers: {} }))).toEqual([
        422,
        problem('inconsistent-content'),
        [{ detail: expect.stringContaining(detail), pointer }],
      ]);
    }
  });

  it('counts nothing of a judge that calls another model than the one that was compared', async () => {
    const { service } = harness;
    const { prompt, gate, marked } = await judged({ selected_provider: 'mock' });
    await marked(60, (output) => output === 'true');
    await addGate(service, prompt, gate);
    await evaluated(service, prompt, { version: 2 });
    expect((await ask(service, prompt, 2)).releasable).toBe(true);
    const other = await startAnother(service, withMock(harness.mock, ['mock-echo-2', 'mock-echo']));
    try {
      const found = (await other.call('GET', gatePath(prompt))).body.calibration[0];
      expect(found).toMatchObject({ provider: 'mock', model: 'mock-echo' });
      const { status, body } = await evaluate(other, prompt, { version: 3 });
      expect([status, body.type]).toEqual([409, problem('gate-evaluation-refused')]);
      expect(body.detail).toContain('no longer calls mock/mock-echo');
      // The evaluation that counts was judged by the model that was compared.
      expect((await ask(other, prompt, 2)).releasable).toBe(true);
      const again = await setGate(other, prompt, { ...gate, max_age_days: 9 });
      expect(refusal(again)).toMatchObject([
        422,
        problem('inconsistent-content'),
        [{ detail: expect.stringMatching(/^has 0 marks/) }],
      ]);
    } finally {
      await other.close();
    }
  });
});
