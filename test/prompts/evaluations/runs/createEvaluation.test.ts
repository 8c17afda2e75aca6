import { describe, expect, it } from '@jest/globals';
import { setBudget, usd } from '../../../accounting/budgets/budgets-harness.ts';
import { create, saying } from '../../prompts-harness.ts';
import {
  createDataset,
  createEchoPrompt,
  createEvaluation,
  ended,
  evaluationPath,
  evaluationsPath,
  problemOf,
  reached,
  resultsOf,
  sayCase,
  setUpEvaluations,
  startEvaluation,
} from './evaluations-harness.ts';

const harness = setUpEvaluations();
const golden = { dataset: { name: 'golden' }, rule: { all_pass: true } };

describe('202', () => {
  it('measures a version, and decides', async () => {
    const { service } = harness;
    const prompt = await createEchoPrompt(service);
    await createDataset(service, 'golden', [sayCase('one', 'good'), sayCase('two', 'good')]);
    const started = await createEvaluation(service, prompt, { candidate: { version: 1 }, ...golden });
    expect(started.status).toBe(202);
    const { id } = started.body as { id: string };
    expect(started.headers['location']).toBe(evaluationPath(id));
    expect(started.body).toEqual({
      id,
      prompt_id: prompt,
      status: 'planning',
      candidate: { version: 1 },
      dataset: { name: 'golden', version: 1, cases: 2 },
      rule: { all_pass: true },
      cases_done: 0,
      cost: { amount: '0', currency: 'USD' },
      author: { type: 'key', id: 'administrator', name: 'administrator' },
      created_at: expect.any(String),
    });
    expect(await ended(service, id)).toMatchObject({
      status: 'ended',
      candidate: { version: 1, provider: 'echo', model: 'echo-1' },
      calls: 2,
      ceiling: { amount: '0', currency: 'USD' },
      cases_done: 2,
      verdict: { outcome: 'passed', units: 2, errors: 0, passed: 2 },
      started_at: expect.any(String),
      finished_at: expect.any(String),
    });
    const [first] = await resultsOf(service, id);
    const record = await service.call('GET', `/api/v1/invocations/${first.candidate.invocation_id}`);
    expect(record.body).toMatchObject({
      operation: 'evaluation',
      evaluation_id: id,
      prompt_id: prompt,
      prompt_version: 1,
      request_id: started.headers['x-request-id'],
    });
  });

  it('compares with the version that a label names, and what replaces its members', async () => {
    const { service } = harness;
    const prompt = await createEchoPrompt(service);
    await service.call('PUT', `/api/v1/prompts/${prompt}/labels/production`, { body: { version: 1 } });
    // The second version also says `also`.
    const worse = Array.from({ length: 12 }, (_, index) => sayCase(`worse-${index}`, 'good', and('good', ' not')));
    const better = Array.from({ length: 3 }, (_, index) => sayCase(`better-${index}`, 'goo', and('goo', 'd')));
    const same = Array.from({ length: 20 }, (_, index) => sayCase(`same-${index}`, index < 5 ? 'bad' : 'good'));
    await createDataset(service, 'compared', [...worse, ...better, ...same]);
    const { body } = await createEvaluation(service, prompt, {
      candidate: { provider: 'echo', model: 'echo-1', parameters: { temperature: 0 } },
      baseline: { label: 'production' },
      dataset: { name: 'compared', version: 1 },
      rule: { not_worse_by: 0.2 },
    });
    const evaluation = await ended(service, body.id as string);
    expect(evaluation).toMatchObject({
      candidate: {
        version: 2,
        provider: 'echo',
        model: 'echo-1',
        overrides: { provider: 'echo', model: 'echo-1', parameters: { temperature: 0 } },
      },
      baseline: { version: 1, label: 'production', provider: 'echo', model: 'echo-1' },
      calls: 70,
      cases_done: 35,
      verdict: { outcome: 'failed', also: 'worse', units: 35, errors: 0, passed: 18, regressed: 12, improved: 3 },
    });
    const outcomes = (await resultsOf(service, body.id as string)).map(({ case: name, outcome }) => [name, outcome]);
    const expected = { worse: 'regressed', better: 'improved', same: 'same' };
    for (const [name, outcome] of outcomes) {
      expect(outcome).toBe(expected[name.split('-')[0] as keyof typeof expected]);
    }
    expect(new Set(outcomes.map(([name]) => name)).size).toBe(35);
  });

  it('counts the cases of a group together: it passes if all of them do', async () => {
    const { service } = harness;
    const lines = [
      ...['a', 'b', 'c'].map((id) => sayCase(id, 'good', { group: 'first' })),
      ...['d', 'e'].map((id) => sayCase(id, id === 'd' ? 'good' : 'bad', { group: 'second' })),
      sayCase('alone', 'good'),
    ];
    await createDataset(service, 'grouped', lines);
    const body = { candidate: {}, dataset: { name: 'grouped' }, rule: { all_pass: true } };
    const id = await startEvaluation(service, await createEchoPrompt(service), body);
    const { verdict } = await ended(service, id);
    expect(verdict).toMatchObject({ outcome: 'failed', units: 3, passed: 2 });
    expect(await resultsOf(service, id, 'failed')).toMatchObject([{ case: 'e', group: 'second' }]);
  });

  it('uses its own checks and those of each case, and conversations', async () => {
    const { service } = harness;
    const { id: prompt } = await create(service, { ...saying('Hello'), selected_provider: 'echo' });
    const messages = [{ role: 'user', content: 'And since when?' }];
    await createDataset(service, 'conversations', [
      JSON.stringify({ id: 'long', messages, checks: [{ type: 'contains', value: 'when' }] }),
      JSON.stringify({ id: 'expected', messages: [{ role: 'user', content: 'Ada' }], expected: 'Ada' }),
    ]);
    const checks = [{ type: 'contains-any', value: ['{{expected}}', 'since'] }];
    const body = { candidate: {}, dataset: { name: 'conversations' }, checks, rule: { all_pass: true } };
    const id = await startEvaluation(service, prompt, body);
    await ended(service, id);
    const results = await resultsOf(service, id);
    expect(results.map((line) => [line.case, line.candidate.answer.text]).toSorted()).toEqual([
      ['expected', 'Ada'],
      ['long', 'And since when?'],
    ]);
    expect(results.find((line) => line.case === 'long').candidate.checks).toMatchObject([
      { type: 'contains-any' },
      { type: 'contains', pass: true },
    ]);
  });

  it('starts one evaluation for an Idempotency-Key', async () => {
    const { service } = harness;
    const prompt = await createEchoPrompt(service);
    await createDataset(service, 'golden', [sayCase('one', 'good'), sayCase('two', 'good')]);
    const send = (): ReturnType<typeof createEvaluation> =>
      createEvaluation(service, prompt, { candidate: {}, ...golden }, { 'Idempotency-Key': 'evaluate-once' });
    const first = await send();
    await ended(service, first.body.id as string);
    const again = await send();
    expect([again.status, again.body]).toEqual([202, first.body]);
    expect((await service.call('GET', evaluationsPath(prompt))).body.pagination.total).toBe(1);
    const other = await createEvaluation(
      service,
      prompt,
      { candidate: { version: 1 }, ...golden },
      { 'Idempotency-Key': 'evaluate-once' },
    );
    expect([other.status, problemOf(other)]).toEqual([422, 'idempotency-key-reused']);
  });

  it('ends as refused before the first call, with what cannot be asked', async () => {
    const { service, mock } = harness;
    const { id: prompt } = await create(service, { ...saying('Hello {{name}}'), selected_provider: 'mock' });
    const checks = [{ type: 'contains', value: 'Hello' }];
    await createDataset(service, 'incomplete', [
      JSON.stringify({ id: 'whole', variables: { name: 'Ada' }, checks }),
      JSON.stringify({ id: 'without-name', checks }),
      JSON.stringify({ id: 'without-checks', variables: { name: 'Ada' } }),
    ]);
    const incomplete = { dataset: { name: 'incomplete' }, rule: { all_pass: true } };
    const id = await startEvaluation(service, prompt, { candidate: {}, ...incomplete });
    const refused = await ended(service, id);
    expect(refused).toMatchObject({
      status: 'refused',
      cases_done: 0,
      refusal: {
        mistakes: [
          {
            problem: 'urn:prompt-gateway:problem:missing-variables',
            detail: expect.any(String),
            case: 'without-name',
            side: 'candidate',
          },
          { problem: 'urn:prompt-gateway:problem:inconsistent-content', case: 'without-checks' },
        ],
      },
    });
    expect(await resultsOf(service, id)).toEqual([]);
    const unknown = await startEvaluation(service, prompt, { candidate: { provider: 'openai' }, ...incomplete });
    expect((await ended(service, unknown)).refusal.mistakes).toContainEqual(
      expect.objectContaining({ problem: 'urn:prompt-gateway:problem:provider-not-configured', case: 'whole' }),
    );
    expect(mock.requests).toHaveLength(0);
  });

  it('ends as refused if the cases are too few when those of a group count together', async () => {
    const { service } = harness;
    const lines = Array.from({ length: 50 }, (_, index) => sayCase(`${index}`, 'good', { group: `${index % 10}` }));
    await createDataset(service, 'few-groups', lines);
    const body = { candidate: {}, baseline: {}, dataset: { name: 'few-groups' }, rule: { not_worse_by: 0.1 } };
    const { status, refusal } = await ended(
      service,
      await startEvaluation(service, await createEchoPrompt(service), body),
    );
    expect([status, refusal.mistakes[0].problem]).toEqual(['refused', 'urn:prompt-gateway:problem:too-few-cases']);
  });
});

describe('200', () => {
  it('says how many calls there would be, and what they can cost at most', async () => {
    const { service, mock } = harness;
    const { id: prompt } = await create(service, { ...saying('Hi {{name}}'), selected_provider: 'mock' });
    const line = (id: string): string => JSON.stringify({ id, variables: { name: 'Ada' } });
    await createDataset(service, 'dry', ['a', 'b', 'c'].map(line));
    const checks = [{ type: 'contains', value: 'Hello' }];
    const body = { candidate: {}, dataset: { name: 'dry' }, checks, rule: { all_pass: true }, dry_run: true };
    const unpriced = await createEvaluation(service, prompt, body);
    expect([unpriced.status, unpriced.body]).toEqual([200, { calls: 3, ceiling: null }]);
    await service.call('PUT', '/api/v1/prices/mock/model-a', { body: { rates: [{ input: '0', output: '2' }] } });
    // Without a limit, nobody knows how long an answer can become.
    expect((await createEvaluation(service, prompt, body)).body.ceiling).toBeNull();
    const limited = { parameters: { max_output_tokens: 100 } };
    const bounded = await createEvaluation(service, prompt, { ...body, candidate: limited });
    expect(bounded.body).toEqual({ calls: 3, ceiling: usd('0.0006') });
    // A budget limits them, too.
    await setBudget(service, 'assumed', { limit: usd('100'), assume_max_output_tokens: 1_000 });
    expect((await createEvaluation(service, prompt, body)).body.ceiling).toEqual(usd('0.006'));
    await service.call('DELETE', '/api/v1/budgets/assumed');
    expect(mock.requests).toHaveLength(0);
    expect((await service.call('GET', evaluationsPath(prompt))).body.data).toEqual([]);
  });

  it('says what cannot be asked', async () => {
    const { service } = harness;
    const { id: prompt } = await create(service, { ...saying('Hi {{name}}'), selected_provider: 'echo' });
    await createDataset(
      service,
      'dry-refused',
      Array.from({ length: 30 }, (_, index) => JSON.stringify({ id: `${index}` })),
    );
    const body = { candidate: {}, dataset: { name: 'dry-refused' }, rule: { all_pass: true }, dry_run: true };
    const { status, body: plan } = await createEvaluation(service, prompt, body);
    expect([status, plan.refusal.mistakes.length]).toEqual([200, 20]);
  });
});

describe('403', () => {
  it('needs another scope for what could reach other tools, options and models', async () => {
    const { service } = harness;
    const prompt = await createEchoPrompt(service);
    const key = await service.createKey('prompts:invoke', 'datasets:read');
    for (const side of ['candidate', 'baseline']) {
      const body = { candidate: {}, ...golden, [side]: { fallbacks: [] } };
      const { status, body: problem } = await service.call('POST', evaluationsPath(prompt), { body, key });
      expect([status, problem.type]).toEqual([403, 'urn:prompt-gateway:problem:insufficient-scope']);
    }
  });
});

describe('404', () => {
  it('finds no prompt, version or data set', async () => {
    const { service } = harness;
    const prompt = await createEchoPrompt(service);
    await createDataset(service, 'golden', [sayCase('one', 'good'), sayCase('two', 'good')]);
    const ask = async (of: string, body: object): Promise<unknown[]> => {
      const answer = await createEvaluation(service, of, { candidate: {}, ...golden, ...body });
      const pointers = (answer.body.errors ?? []).map(({ pointer }: { pointer: string }) => pointer);
      return [answer.status, problemOf(answer), ...pointers];
    };
    expect(await ask('no-such-prompt', {})).toEqual([404, 'prompt-not-found']);
    const versions = { candidate: { version: 1 }, baseline: { version: 9 }, rule: { not_worse_by: 0.5 } };
    expect(await ask(prompt, { candidate: { version: 9 } })).toEqual([
      ...[404, 'version-not-found', '#/candidate/version'],
    ]);
    expect(await ask(prompt, versions)).toEqual([404, 'version-not-found', '#/baseline/version']);
    expect(await ask(prompt, { dataset: { name: 'golden', version: 9 } })).toEqual([404, 'version-not-found']);
    expect(await ask(prompt, { dataset: { name: 'no-such-set' } })).toEqual([404, 'dataset-not-found']);
  });
});

describe('422', () => {
  it('refuses what does not fit together, with its place', async () => {
    const { service } = harness;
    const prompt = await createEchoPrompt(service);
    await createDataset(service, 'golden', [sayCase('one', 'good'), sayCase('two', 'good')]);
    const ask = async (body: object): Promise<unknown[]> => {
      const answer = await createEvaluation(service, prompt, { candidate: {}, ...golden, ...body });
      return [answer.status, problemOf(answer), answer.body.errors?.[0]?.pointer];
    };
    const unlabelled = { rule: { not_worse_by: 0.1 }, baseline: { label: 'nowhere' } };
    expect(await ask(unlabelled)).toEqual([422, 'unknown-label', '#/baseline/label']);
    expect(await ask({ rule: { not_worse_by: 0.1 } })).toEqual([422, 'inconsistent-content', '#/baseline']);
    expect(await ask({ baseline: {} })).toEqual([422, 'inconsistent-content', '#/baseline']);
    const checks = [
      { type: 'contains', value: 'a' },
      { type: 'regex', value: '(' },
    ];
    expect(await ask({ checks })).toEqual([422, 'inconsistent-content', '#/checks/1/value']);
    const twice = { body: { candidate: { version: 1, label: 'a' }, ...golden } };
    const selected = await service.call('POST', evaluationsPath(prompt), twice);
    expect([selected.status, selected.body.errors]).toEqual([
      400,
      [{ detail: 'cannot be combined with version', pointer: '#/candidate/label' }],
    ]);
  });

  it('refuses a rule that so few cases cannot show, and says how many can', async () => {
    const { service } = harness;
    const prompt = await createEchoPrompt(service);
    await createDataset(
      service,
      'fifty',
      Array.from({ length: 50 }, (_, index) => sayCase(`${index}`, 'good')),
    );
    const compared = { candidate: {}, baseline: {}, dataset: { name: 'fifty' } };
    const answer = await createEvaluation(service, prompt, { ...compared, rule: { not_worse_by: 0.05 } });
    expect([answer.status, problemOf(answer), answer.body.detail]).toEqual([
      422,
      'too-few-cases',
      'The rule cannot be shown with 50 cases, however they go. It needs at least 73.',
    ]);
    expect((await createEvaluation(service, prompt, { ...compared, rule: { not_worse_by: 0.08 } })).status).toBe(202);
  });
});

describe('429', () => {
  it('lets two of a key run, and 20 wait', async () => {
    const { service, mock } = harness;
    const { id: prompt } = await create(service, {
      ...saying('Hello'),
      selected_provider: 'mock',
      selected_model: 'mock-held',
    });
    const checks = [{ type: 'contains', value: 'Hello' }];
    await createDataset(service, 'held', ['{"id":"one"}']);
    const key = await service.createKey('prompts:invoke', 'datasets:read');
    const body = { candidate: {}, dataset: { name: 'held' }, checks, rule: { all_pass: true } };
    const start = async (): Promise<string> => {
      const answer = await service.call('POST', evaluationsPath(prompt), { body, key });
      return answer.status === 202 ? (answer.body.id as string) : problemOf(answer);
    };
    const ids: string[] = [];
    for (let count = 0; count < 2; count += 1) {
      ids.push(await start());
      await reached(service, ids.at(-1) ?? '', 'running');
    }
    for (let count = 0; count < 20; count += 1) ids.push(await start());
    for (const id of ids.slice(2)) await reached(service, id, 'queued');
    expect(await start()).toBe('too-many-evaluations');
    const gate = { dataset: { name: 'held', version: 1 }, checks, rule: { all_pass: true } };
    const gatePath = `/api/v1/prompts/${prompt}/labels/production/gate`;
    expect((await service.call('PUT', gatePath, { body: gate })).status).toBe(201);
    const forGate = await service.call('POST', `${gatePath}/evaluations`, { body: { version: 1 }, key });
    expect([forGate.status, problemOf(forGate)]).toEqual([429, 'too-many-evaluations']);
    const other = await service.call('POST', evaluationsPath(prompt), { body });
    expect((await reached(service, other.body.id as string, 'running')).status).toBe('running');
    mock.release();
    for (const id of ids) expect((await ended(service, id)).verdict.outcome).toBe('passed');
  });
});

function and(say: string, also: string): object {
  return { variables: { say, also } };
}
