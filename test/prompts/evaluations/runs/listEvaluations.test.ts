import { describe, expect, it } from '@jest/globals';
import {
  createDataset,
  createEchoPrompt,
  ended,
  evaluationsPath,
  sayCase,
  setUpEvaluations,
  startEvaluation,
} from './evaluations-harness.ts';

const harness = setUpEvaluations();

describe('200', () => {
  it('lists those of a prompt, all or with a status', async () => {
    const { service } = harness;
    const prompt = await createEchoPrompt(service);
    const dataset = { name: await createDataset(service, 'listed', [sayCase('one', 'good')]) };
    const body = { candidate: {}, dataset, rule: { all_pass: true } };
    const passed = await startEvaluation(service, prompt, body);
    await ended(service, passed);
    const refused = await startEvaluation(service, prompt, { ...body, candidate: { provider: 'openai' } });
    await ended(service, refused);
    await startEvaluation(service, await createEchoPrompt(service), body);
    const list = async (query = ''): Promise<string[]> => {
      const { body: page } = await service.call('GET', `${evaluationsPath(prompt)}${query}`);
      return page.data.map(({ id }: { id: string }) => id);
    };
    expect(await list()).toEqual([refused, passed]);
    expect(await list('?status=ended')).toEqual([passed]);
    expect(await list('?status=running')).toEqual([]);
  });
});
