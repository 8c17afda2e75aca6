import { describe, expect, it } from '@jest/globals';
import { problem } from '../../../support/per-operation.ts';
import { create, saying } from '../../prompts-harness.ts';
import {
  createDataset,
  createEchoPrompt,
  ended,
  evaluationPath,
  reached,
  setUpEvaluations,
  startEvaluation,
} from '../runs/evaluations-harness.ts';
import { answersOf, answersPath, createJudge, mark, markedBy } from './judges-harness.ts';

const harness = setUpEvaluations();

let sets = 0;
/** What evaluates version 2 beside version 1, by a judge that passes every second case. */
async function judgedEvaluation(count: number) {
  const { service } = harness;
  const prompt = await createEchoPrompt(service);
  const judge = await createJudge(service);
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({ id: `${index}`, variables: { say: `answer ${index}` }, expected: `${index % 2 === 0}` }),
  );
  const dataset = { name: await createDataset(service, `marked-${(sets += 1)}`, lines) };
  const checks = [
    { type: 'contains', value: 'answer' },
    { type: 'llm-rubric', value: 'says {{say}}', judge },
  ];
  const sides = { candidate: { version: 2 }, baseline: { version: 1 } };
  return { prompt, judge, body: { ...sides, dataset, checks, rule: { not_worse_by: 0.5 } } };
}

describe('listJudgedAnswers', () => {
  it('shows answers blind, with what the judge was told, and the judge with its model', async () => {
    const { service } = harness;
    const { prompt, judge, body } = await judgedEvaluation(10);
    const { id, judges } = await ended(service, await startEvaluation(service, prompt, body));
    const echo = { provider: 'echo', model: 'echo-1', same_family: true };
    expect(judges).toEqual([{ ...judge, ...echo }]);
    const answers = await answersOf(service, id as string);
    expect(answers).toHaveLength(20);
    const [first] = answers;
    const { say } = first.variables as { say: string };
    expect(first).toEqual({
      id: expect.stringMatching(/^0\.a\.1$/),
      rubric: `says ${say}`,
      output: say,
      variables: { say },
      expected: expect.stringMatching(/^(true|false)$/),
    });
    // Pages go on where the one before ended.
    const pages: string[] = [];
    for (let path = `${answersPath(id as string)}?limit=7`; path !== '';) {
      const page = await service.call('GET', path);
      pages.push(...page.body.data.map((one: { id: string }) => one.id));
      path =
        page.body.pagination.next === null
          ? ''
          : `${answersPath(id as string)}?limit=7&after=${page.body.pagination.next}`;
    }
    expect(pages).toEqual(answers.map((one) => one.id as string));
    const skipping = await service.call('GET', `${answersPath(id as string)}?offset=18`);
    expect(skipping.body.data.map((one: { id: string }) => one.id)).toEqual(pages.slice(18));
  });
});

describe('getCalibration', () => {
  it('compares the judge with all marks of it, the last one of each answer', async () => {
    const { service } = harness;
    const { prompt, judge, body } = await judgedEvaluation(10);
    const isPassed = ({ expected }: { expected?: unknown }): boolean => expected === 'true';
    const one = await markedBy(service, prompt, body, isPassed);
    const calibration = async (id: string) => (await service.call('GET', `${evaluationPath(id)}/calibration`)).body;
    const { judges } = await calibration(one.id as string);
    expect(judges).toEqual([
      {
        ...{ check: 1, ...judge, provider: 'echo', model: 'echo-1', marks: 20 },
        sensitivity: { rate: 1, lower: 0.6915 },
        specificity: { rate: 1, lower: 0.6915 },
        j: 0.383,
      },
    ]);
    // Another evaluation with the same judge and rubric adds to it.
    const other = await markedBy(service, prompt, body, isPassed);
    expect((await calibration(one.id as string)).judges[0]).toMatchObject({ marks: 40, j: 0.663 });
    const [answer] = await answersOf(service, other.id as string);
    const changed = await mark(service, other.id as string, answer.id as string, answer.expected !== 'true');
    expect(changed.body).toMatchObject({ author: { type: 'key' }, marked_at: expect.any(String) });
    const [again] = await answersOf(service, other.id as string);
    expect(again.mark).toEqual(changed.body);
    const after = (await calibration(one.id as string)).judges[0];
    expect(after.marks).toBe(40);
    expect(Math.min(after.sensitivity.rate, after.specificity.rate)).toBeLessThan(1);
    // Another rubric is another question.
    const [contains, rubric] = body.checks;
    const checks = [contains, { ...rubric, value: 'says something else' }];
    const otherwise = await ended(service, await startEvaluation(service, prompt, { ...body, checks }));
    expect((await calibration(otherwise.id as string)).judges[0]).toMatchObject({ marks: 0, j: 0 });
  });

  it('understands not-llm-rubric as the same question to the judge', async () => {
    const { service } = harness;
    const { prompt, body } = await judgedEvaluation(4);
    const [contains, rubric] = body.checks;
    const checks = [contains, { ...rubric, type: 'not-llm-rubric' }];
    const { id } = await markedBy(service, prompt, { ...body, checks }, ({ expected }) => expected === 'true');
    const { body: found } = await service.call('GET', `${evaluationPath(id as string)}/calibration`);
    expect(found.judges[0]).toMatchObject({ sensitivity: { rate: 1 }, specificity: { rate: 1 } });
  });

  it('lists nothing without a judge', async () => {
    const { service } = harness;
    const { prompt, body } = await judgedEvaluation(4);
    const checks = body.checks.slice(0, 1);
    const found = await ended(service, await startEvaluation(service, prompt, { ...body, checks }));
    expect(found).not.toHaveProperty('judges');
    expect(await answersOf(service, found.id as string)).toEqual([]);
    const { body: calibration } = await service.call('GET', `${evaluationPath(found.id as string)}/calibration`);
    expect(calibration).toEqual({ judges: [] });
  });
});

describe('404', () => {
  it('finds no answer that was not judged', async () => {
    const { service } = harness;
    const { prompt, body } = await judgedEvaluation(4);
    const { id } = await ended(service, await startEvaluation(service, prompt, body));
    for (const answer of ['0.a.0', '4.a.1', '99999.b.99']) {
      const { status, body: found } = await mark(service, id as string, answer, true);
      expect([status, found.type]).toEqual([404, problem('judged-answer-not-found')]);
    }
    const unknown = '7c2f4e90-1b6d-4a58-8e37-d05a9f61c3b2';
    for (const path of [`${evaluationPath(unknown)}/calibration`, answersPath(unknown)]) {
      expect((await service.call('GET', path)).body.type).toBe(problem('evaluation-not-found'));
    }
  });
});

describe('409', () => {
  it('has none before the end, and none without results', async () => {
    const { service, mock, database } = harness;
    const selected = { selected_provider: 'mock', selected_model: 'mock-held' };
    const { id: held } = await create(service, { ...saying('Hi'), ...selected });
    const { prompt, body } = await judgedEvaluation(4);
    const { baseline: _, ...alone } = { ...body, candidate: {}, rule: { all_pass: true } };
    const running = await startEvaluation(service, held, alone);
    await reached(service, running, 'running');
    for (const answer of [
      await service.call('GET', answersPath(running)),
      await mark(service, running, '0.a.1', true),
    ]) {
      expect([answer.status, answer.body.type]).toEqual([409, problem('evaluation-running')]);
      expect(answer.headers['retry-after']).toBeDefined();
    }
    mock.release();
    const { id } = await ended(service, await startEvaluation(service, prompt, body));
    const documents = database.db.collection<{ _id: string }>('evaluations');
    await documents.updateOne({ _id: id as string }, { $set: { entries: [] } });
    for (const answer of [
      await service.call('GET', answersPath(id as string)),
      await mark(service, id as string, '0.a.1', true),
    ]) {
      expect([answer.status, answer.body.type]).toEqual([409, problem('evaluation-results-deleted')]);
    }
  });
});

describe('403', () => {
  it('needs the scopes of data sets', async () => {
    const { service } = harness;
    const { prompt, body } = await judgedEvaluation(4);
    const { id } = await ended(service, await startEvaluation(service, prompt, body));
    const key = await service.createKey('prompts:read', 'prompts:invoke', 'datasets:read');
    expect((await service.call('GET', answersPath(id as string), { key })).status).toBe(200);
    const marked = await service.call('PUT', `${answersPath(id as string)}/0.a.1/mark`, { key, body: { pass: true } });
    expect(marked.status).toBe(403);
  });
});
