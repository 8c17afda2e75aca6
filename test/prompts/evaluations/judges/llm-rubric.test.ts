import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../../../support/service.ts';
import { setBudget, usd } from '../../../accounting/budgets/budgets-harness.ts';
import { create, saying } from '../../prompts-harness.ts';
import {
  createDataset,
  createEchoPrompt,
  ended,
  evaluationsPath,
  resultsOf,
  setUpEvaluations,
  startEvaluation,
} from '../runs/evaluations-harness.ts';
import { createJudge as createJudgeOn } from './judges-harness.ts';

const harness = setUpEvaluations({ environment: { PROVIDER_CONCURRENCY: '4' } });

const createJudge = (...of: Tail<Parameters<typeof createJudgeOn>>) => createJudgeOn(harness.service, ...of);
type Tail<Of extends readonly unknown[]> = Of extends readonly [unknown, ...infer Rest] ? Rest : never;

let sets = 0;
/** Evaluates the prompt of the harness, whose answer is "good", with one case for each text that is expected. */
async function evaluate(check: object, expected: readonly string[], more: object = {}) {
  const { service } = harness;
  const prompt = await createEchoPrompt(service);
  const lines = expected.map((text, index) =>
    JSON.stringify({ id: `${index}`, variables: { say: 'good' }, expected: text }),
  );
  const dataset = { name: await createDataset(service, `judged-${(sets += 1)}`, lines) };
  const body = { candidate: { version: 1 }, dataset, checks: [check], rule: { all_pass: true }, ...more };
  const dry = await service.call('POST', evaluationsPath(prompt), { body: { ...body, dry_run: true } });
  const evaluation = await ended(service, await startEvaluation(service, prompt, body));
  const results = evaluation.status === 'ended' ? await resultsOf(service, evaluation.id as string) : [];
  const sorted = results.toSorted((one, other) => Number(one.case) - Number(other.case));
  return { dry, evaluation, results: sorted as Answer['body'][] };
}

const checksOf = ({ candidate }: Answer['body']): unknown => candidate.checks;

describe('llm-rubric', () => {
  it('passes what the judge passes, with its score and reason', async () => {
    const judge = await createJudge();
    const { dry, evaluation, results } = await evaluate({ type: 'llm-rubric', value: 'is', judge }, ['true', 'false']);
    expect(dry.body).toEqual({ calls: 4, ceiling: null });
    expect(evaluation.verdict).toMatchObject({ outcome: 'failed', units: 2, passed: 1, errors: 0 });
    expect(results.map(checksOf)).toEqual([
      [{ type: 'llm-rubric', pass: true, score: 1, reason: 'The judge says yes (score 0.5): is good', judged: true }],
      [{ type: 'llm-rubric', pass: false, score: 0, reason: 'The judge says no (score 0.5): is good', judged: true }],
    ]);
    // Its calls are invocations of the evaluation.
    const { body } = await harness.service.call('GET', `/api/v1/invocations?evaluation_id=${evaluation.id}`);
    const prompts = body.data.map(({ prompt_id: id }: { prompt_id: string }) => id === judge.prompt).toSorted();
    expect(prompts).toEqual([false, false, true, true]);
  });

  it('has an opposite, and wants a score if there is a threshold', async () => {
    const judge = await createJudge();
    const rubric = { value: 'is', judge };
    const not = await evaluate({ type: 'not-llm-rubric', ...rubric }, ['false']);
    expect(not.evaluation.verdict.outcome).toBe('passed');
    const enough = await evaluate({ type: 'llm-rubric', threshold: 0.5, ...rubric }, ['true']);
    expect(enough.evaluation.verdict.outcome).toBe('passed');
    const more = await evaluate({ type: 'llm-rubric', threshold: 0.6, ...rubric }, ['true']);
    expect(more.evaluation.verdict.outcome).toBe('failed');
    const silent = await createJudge('{"pass": true}');
    const scoreless = await evaluate({ type: 'llm-rubric', threshold: 0, value: 'is', judge: silent }, ['true']);
    expect(scoreless.evaluation.verdict.outcome).toBe('failed');
  });

  it('tells the judge variables of the case, and nothing of the prompt', async () => {
    const judge = await createJudge('{"pass": true, "reason": {{input}}}');
    // An object is no text, so that the judge breaks its format.
    const { evaluation, results } = await evaluate({ type: 'llm-rubric', value: 'is', judge }, ['x']);
    expect(evaluation.problems).toEqual([{ problem: 'urn:prompt-gateway:problem:provider-bad-answer', answers: 1 }]);
    const [first] = (
      await harness.service.call('GET', `/api/v1/invocations?evaluation_id=${evaluation.id}&status=failed`)
    ).body.data;
    expect(first.prompt_id).toBe(judge.prompt);
    expect(results[0].candidate.checks[0]).toMatchObject({ pass: false, isUndecided: true });
  });

  it('asks a judge that says nothing twice more, and then has an error', async () => {
    const judge = await createJudge();
    const { evaluation, results } = await evaluate({ type: 'llm-rubric', value: 'is', judge }, ['"maybe"']);
    expect(evaluation.verdict).toMatchObject({ outcome: 'inconclusive', units: 1, errors: 1 });
    expect(results).toMatchObject([
      {
        outcome: 'error',
        candidate: {
          error: {
            type: 'urn:prompt-gateway:problem:provider-bad-answer',
            detail: expect.stringMatching(/^The judge ".*", version 1: /),
          },
        },
      },
    ]);
    const { body } = await harness.service.call('GET', `/api/v1/invocations?evaluation_id=${evaluation.id}`);
    expect(body.data).toHaveLength(4);
  });

  it('works where judge and candidate share the places of a provider', async () => {
    const judge = await createJudge('{{output}}', { selected_provider: 'mock', selected_model: 'model-a' });
    const { service } = harness;
    const { id } = await create(service, { ...saying('Hi'), selected_provider: 'mock', selected_model: 'model-a' });
    const lines = Array.from({ length: 10 }, (_, index) => JSON.stringify({ id: `${index}` }));
    const dataset = { name: await createDataset(service, 'shared-places', lines) };
    const checks = [{ type: 'llm-rubric', value: 'is', judge }];
    const body = { candidate: {}, dataset, checks, rule: { all_pass: true } };
    // The mock says "Hello", which is no judgement.
    expect((await ended(service, await startEvaluation(service, id, body))).verdict).toMatchObject({ errors: 10 });
  });

  it('is refused before the first call if the judge cannot judge', async () => {
    const { id } = await create(harness.service, { ...saying('{{output}}'), selected_provider: 'echo' });
    const talking = await evaluate({ type: 'llm-rubric', value: 'is', judge: { prompt: id, version: 1 } }, ['true']);
    expect(talking.evaluation).toMatchObject({
      status: 'refused',
      refusal: { mistakes: [{ problem: 'urn:prompt-gateway:problem:inconsistent-content', case: '0' }] },
    });
    const missing = await evaluate({ type: 'llm-rubric', value: 'is', judge: { prompt: id, version: 9 } }, ['true']);
    expect(missing.evaluation.refusal.mistakes).toMatchObject([
      { problem: 'urn:prompt-gateway:problem:version-not-found', detail: expect.stringContaining('version 9') },
    ]);
  });

  it('needs a judge, which others do not take', async () => {
    const { service } = harness;
    const prompt = await createEchoPrompt(service);
    const dataset = { name: await createDataset(service, 'unjudged', ['{"id":"a","variables":{"say":"good"}}']) };
    const judge = { prompt: 'a', version: 1 };
    const checks = [
      { type: 'llm-rubric', value: 'is' },
      { type: 'contains', value: 'is', judge },
      { type: 'llm-rubric', judge },
    ];
    const body = { candidate: {}, dataset, checks, rule: { all_pass: true } };
    const refused = await service.call('POST', evaluationsPath(prompt), { body });
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toEqual([
      { detail: 'is required', pointer: '#/checks/0/judge' },
      { detail: 'is only for llm-rubric', pointer: '#/checks/1/judge' },
      { detail: 'is required', pointer: '#/checks/2/value' },
    ]);
  });

  it('counts for budgets', async () => {
    const { service } = harness;
    await service.call('PUT', '/api/v1/prices/mock/model-a', { body: { rates: [{ input: '0', output: '1000' }] } });
    const selected = { selected_provider: 'mock', selected_model: 'model-a', parameters: { max_output_tokens: 10 } };
    const judge = await createJudge('{{output}}', selected);
    await setBudget(service, 'of-judge', { limit: usd('0.005'), scope: { prompt_id: judge.prompt } });
    const { evaluation } = await evaluate({ type: 'llm-rubric', value: 'is', judge }, ['true']);
    expect(evaluation).toMatchObject({
      status: 'canceled',
      canceled_reason: 'budget-exceeded',
      refused_by: 'of-judge',
    });
  });
});
