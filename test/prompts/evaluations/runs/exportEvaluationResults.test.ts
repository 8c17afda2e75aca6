import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { create, saying } from '../../prompts-harness.ts';
import {
  createDataset,
  createEchoPrompt,
  ended,
  evaluationPath,
  problemOf,
  reached,
  resultsOf,
  sayCase,
  setUpEvaluations,
  startEvaluation,
} from './evaluations-harness.ts';

const harness = setUpEvaluations();

describe('200', () => {
  it('streams a case a line, or only those that went so', async () => {
    const { service } = harness;
    const prompt = await createEchoPrompt(service);
    const lines = Array.from({ length: 250 }, (_, index) => sayCase(`${index}`, index % 10 === 0 ? 'bad' : 'good'));
    const dataset = { name: await createDataset(service, 'many', lines) };
    const id = await startEvaluation(service, prompt, { candidate: {}, dataset, rule: { min_pass_rate: 0.8 } });
    const { verdict } = await ended(service, id);
    expect(verdict).toMatchObject({ outcome: 'passed', units: 250, passed: 225 });
    const all = await resultsOf(service, id);
    expect(new Set(all.map((line) => line.case)).size).toBe(250);
    const failed = await resultsOf(service, id, 'failed');
    expect(failed).toEqual(all.filter(({ outcome }) => outcome === 'failed'));
    expect(failed).toHaveLength(25);
    expect(await resultsOf(service, id, 'regressed')).toEqual([]);
    // The order is drawn.
    expect(all.map((line) => Number(line.case))).not.toEqual(all.map((_line, index) => index));
  });

  it('leaves out answers that are too long', async () => {
    const { service } = harness;
    const say = 'x'.repeat(100 * 1024);
    const also = 'x'.repeat(100 * 1024);
    const { id: prompt } = await create(service, { ...saying('{{say}}{{also}}{{say}}'), selected_provider: 'echo' });
    const lines = [JSON.stringify({ id: 'long', variables: { say, also } })];
    const dataset = { name: await createDataset(service, 'long-answers', lines) };
    const checks = [{ type: 'contains', value: 'x' }];
    const id = await startEvaluation(service, prompt, { candidate: {}, dataset, checks, rule: { all_pass: true } });
    await ended(service, id);
    const [{ candidate }] = await resultsOf(service, id);
    expect(candidate).toMatchObject({ passed: true, invocation_id: expect.any(String) });
    expect(candidate).not.toHaveProperty('answer');
  });

  it('announces no length of 0 where nothing went so: openapi-fetch would read no body at all', async () => {
    const { service } = harness;
    const dataset = { name: await createDataset(service, 'good', [sayCase('one', 'good')]) };
    const prompt = await createEchoPrompt(service);
    const id = await startEvaluation(service, prompt, { candidate: {}, dataset, rule: { all_pass: true } });
    await ended(service, id);
    const answer = await service.call('GET', `${evaluationPath(id)}/results?outcome=failed`);
    expect([answer.status, answer.text, answer.headers['content-length']]).toEqual([200, '', undefined]);
  });
});

describe('409', () => {
  it('has none before the end', async () => {
    const { service, mock } = harness;
    const selected = { selected_provider: 'mock', selected_model: 'mock-held' };
    const { id: prompt } = await create(service, { ...saying('Hi'), ...selected });
    const dataset = { name: await createDataset(service, 'held', ['{"id":"one"}']) };
    const checks = [{ type: 'contains', value: 'Hello' }];
    const id = await startEvaluation(service, prompt, { candidate: {}, dataset, checks, rule: { all_pass: true } });
    await reached(service, id, 'running');
    const answer = await service.call('GET', `${evaluationPath(id)}/results`);
    expect([answer.status, problemOf(answer), answer.headers['retry-after']]).toEqual([409, 'evaluation-running', '2']);
    mock.release();
    await ended(service, id);
  });
});

describe('503', () => {
  it('says that the storage does not have them', async () => {
    const { service } = harness;
    const dataset = { name: await createDataset(service, 'lost', [sayCase('one', 'good')]) };
    const body = { candidate: {}, dataset, rule: { all_pass: true } };
    const id = await startEvaluation(service, await createEchoPrompt(service), body);
    await ended(service, id);
    const files = path.join(service.environment['DATA_DIR'] ?? '', 'files', 'evaluations', id);
    await rm(files, { recursive: true });
    const answer = await service.call('GET', `${evaluationPath(id)}/results`);
    expect([answer.status, problemOf(answer)]).toEqual([503, 'storage-unavailable']);
  });
});
