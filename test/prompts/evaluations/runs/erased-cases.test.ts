import { describe, expect, it } from '@jest/globals';
import { until } from '../../../support/until.ts';
import {
  createDataset,
  createEchoPrompt,
  ended,
  resultsOf,
  sayCase,
  setUpEvaluations,
  startEvaluation,
} from './evaluations-harness.ts';

const harness = setUpEvaluations({ environment: { INVOCATION_CONTENT: 'all' } });

describe('a case that was made of an invocation', () => {
  it('leaves nothing in results that could not be erased, and is not asked when it is erased', async () => {
    const { service } = harness;
    const prompt = await createEchoPrompt(service);
    const secret = 'the secret of Ada';
    const invoked = await service.call('POST', `/api/v1/prompts/${prompt}/invoke`, {
      body: { variables: { say: secret } },
    });
    const invocation = invoked.headers['x-invocation-id'] ?? '';
    await createDataset(service, 'made', [sayCase('plain', 'good', { checks: [{ type: 'contains', value: 'good' }] })]);
    await until(
      () => service.call('GET', `/api/v1/invocations/${invocation}/content`),
      ({ status }) => status === 200,
    );
    const added = await service.call('POST', '/api/v1/datasets/made/cases', {
      body: { from_invocations: [invocation] },
    });
    expect(added.status).toBe(201);
    const checks = [{ type: 'not-contains', value: 'nonsense' }];
    const body = { candidate: {}, dataset: { name: 'made' }, checks, rule: { all_pass: true } };
    const first = await startEvaluation(service, prompt, body);
    expect((await ended(service, first)).verdict).toMatchObject({ outcome: 'passed', units: 2 });
    const lines = await resultsOf(service, first);
    const made = lines.find((line) => line.case !== 'plain');
    expect(made.candidate).toMatchObject({ passed: true, checks: [{ type: 'not-contains', pass: true }] });
    expect(made.candidate).not.toHaveProperty('answer');
    expect(made.candidate.checks[0]).not.toHaveProperty('reason');
    expect(JSON.stringify(lines)).not.toContain('Ada');
    expect(lines.find((line) => line.case === 'plain').candidate.answer.text).toBe('good');

    await service.call('DELETE', `/api/v1/invocations/${invocation}/content`);
    const second = await startEvaluation(service, prompt, body);
    const evaluation = await ended(service, second);
    expect(evaluation).toMatchObject({ calls: 1, cases_done: 2, verdict: { outcome: 'passed', units: 1 } });
    expect(await resultsOf(service, second)).toContainEqual({ case: made.case, outcome: 'erased' });
  });
});
