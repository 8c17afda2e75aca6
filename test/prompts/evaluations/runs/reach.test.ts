/** Cases of data sets, as callers see them that may not read data sets. */
import { expect, it } from '@jest/globals';
import { create } from '../../prompts-harness.ts';
import {
  createDataset,
  createEchoPrompt,
  ended,
  evaluationPath,
  sayCase,
  setUpEvaluations,
  startEvaluation,
} from './evaluations-harness.ts';

const harness = setUpEvaluations({ environment: { INVOCATION_CONTENT: 'all' } });
const secret = 'SECRET-7781';
const checks = [{ type: 'contains', value: secret }];
const rule = { all_pass: true };
const scopes = ['prompts:read', 'prompts:invoke', 'prompts:override', 'invocations:read', 'invocations:content'];
type Kind = 'without datasets:read' | 'of some prompts';

async function keyOf(kind: Kind, prompt: string): Promise<string> {
  const { body: found } = await harness.service.call('GET', `/api/v1/prompts/${prompt}`);
  const limits = { prompts: [found.id as string] };
  const body =
    kind === 'of some prompts'
      ? { name: kind, scopes: [...scopes, 'datasets:read', 'datasets:write'], limits }
      : { name: kind, scopes };
  return (await harness.service.call('POST', '/api/v1/api-keys', { body })).body.key as string;
}

it.each<Kind>(['without datasets:read', 'of some prompts'])('hides cases from a key %s', async (kind) => {
  const { service } = harness;
  const prompt = await createEchoPrompt(service);
  const name = await createDataset(service, `hidden-${kind.length}`, [
    sayCase('one', secret, { checks }),
    sayCase('two', secret, { checks }),
  ]);
  const key = await keyOf(kind, prompt);
  const send = (method: string, path: string, body?: object): ReturnType<typeof service.call> =>
    service.call(method, path, { key, ...(body && { body }) });
  const path = `/api/v1/prompts/${prompt}`;
  const asked = { candidate: {}, dataset: { name }, checks, rule };
  for (const body of [asked, { ...asked, dry_run: true }]) {
    expect((await send('POST', `${path}/evaluations`, body)).status).toBe(403);
  }
  const gate = { dataset: { name, version: 1 }, checks, rule };
  expect((await send('PUT', `${path}/labels/tried/gate`, gate)).status).toBe(403);

  const id = await startEvaluation(service, prompt, asked);
  await ended(service, id);
  for (const hidden of [`${evaluationPath(id)}/results`, `${evaluationPath(id)}/results?outcome=passed`]) {
    const { status, text } = await send('GET', hidden);
    expect([status, text.includes(secret)]).toEqual([403, false]);
  }
  expect((await send('GET', `${evaluationPath(id)}/judged-answers`)).status).toBe(403);
  const marked = `${evaluationPath(id)}/judged-answers/17.a.0/mark`;
  expect((await send('PUT', marked, { pass: true })).status).toBe(403);
  const { body: log } = await send('GET', `/api/v1/invocations?evaluation_id=${id}`);
  const calls = (log as { data: { id: string }[] }).data;
  expect(calls).toHaveLength(2);
  for (const call of calls) {
    const { status, text } = await send('GET', `/api/v1/invocations/${call.id}/content`);
    expect([status, text.includes(secret)]).toEqual([403, false]);
  }
  // Its own invocations are no cases.
  const own = await send('POST', `${path}/invoke`, { variables: { say: 'mine' } });
  expect((await send('GET', `/api/v1/invocations/${own.headers['x-invocation-id'] ?? ''}/content`)).status).toBe(200);

  await service.call('PUT', `${path}/labels/production/gate`, { body: gate });
  const started = await send('POST', `${path}/labels/production/gate/evaluations`, { version: 1 });
  expect(started.status).toBe(202);
  const gated = String(started.body.id);
  const evaluation = await ended(service, gated);
  expect(evaluation).toMatchObject({ status: 'ended' });
  expect((await send('GET', evaluationPath(gated))).body).toMatchObject({ verdict: { outcome: 'passed' } });
  expect((await send('GET', `${evaluationPath(gated)}/results`)).status).toBe(403);
});

it('names no cases in a refusal, to those that may not see them', async () => {
  const { service } = harness;
  const needing = { variables: { name: { required: true } }, messages: [{ role: 'user', content: 'Hi {{name}}' }] };
  const { id: prompt } = await create(service, { ...needing, selected_provider: 'echo' });
  const name = await createDataset(service, 'refused', ['{"id":"case-of-somebody"}', '{"id":"other"}']);
  const id = await startEvaluation(service, prompt, { candidate: {}, dataset: { name }, checks, rule });
  await ended(service, id);
  const shown = async (key: string): Promise<string> => (await service.call('GET', evaluationPath(id), { key })).text;
  expect(await shown(service.adminKey)).toContain('case-of-somebody');
  const text = await shown(await service.createKey('prompts:read'));
  expect(text).toContain('refused');
  expect(text).not.toContain('case-of-somebody');
});
