import { expect, it } from '@jest/globals';
import { create, promptsPath, saying } from '../../prompts/prompts-harness.ts';
import { setUpEvaluations } from '../../prompts/evaluations/runs/evaluations-harness.ts';
import { countsOf, getCanary, production, setCanary } from '../../prompts/evaluations/canaries/canaries-harness.ts';
import { setLabel } from '../../prompts/labels/labels-harness.ts';
import { startChildService } from '../../prompts/test-runs/child-service.ts';
import { until } from '../../support/until.ts';

// It also stores what the killed processes had in their journals.
const harness = setUpEvaluations({ invocationLogTimes: { beatMs: 100, termMs: 1_000, recoverEveryMs: 100 } });
const together = 8;

it('kill -9 of two processes in the middle of a canary: an invocation counts once, and an interrupted one as a failure', async () => {
  const { service, mock } = harness;
  const { id } = await create(service, { ...saying('One'), selected_provider: 'mock', selected_model: 'mock-slow-20' });
  await service.call('PUT', `${promptsPath}/${id}`, { body: saying('Two') });
  await setLabel(service, id, production, 1);
  const { body: canary } = await setCanary(service, id, { version: 2, share: 0.5, hours: 1 });
  const headers = { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json' };
  /** Invokes until the process is gone. @returns ids of what callers have got */
  const invokeAt = async (url: string): Promise<string[]> => {
    const answered: string[] = [];
    for (;;) {
      const body = JSON.stringify({ label: production });
      const answer = await fetch(`${url}${promptsPath}/${id}/invoke`, { method: 'POST', headers, body }).catch(
        () => undefined,
      );
      if (answer === undefined) return answered;
      if (answer.ok) answered.push(answer.headers.get('x-invocation-id') ?? '');
      await answer.text().catch(() => undefined);
    }
  };
  const children = await Promise.all([1, 2].map(() => startChildService(service.environment)));
  const callers = children.flatMap(({ url }) => Array.from({ length: together }, () => invokeAt(url)));
  await until(() => mock.requests.length > 150);
  await children[0]?.kill();
  await until(() => mock.requests.length > 250);
  await children[1]?.kill();
  const answered = (await Promise.all(callers)).flat();

  // Their journals are gone when everything in them is stored.
  await until(async () => (await harness.database.db.collection('journals').countDocuments()) === 0);
  const counts = await countsOf(service, canary.id as string);
  // What the provider was asked has a record. An entry of the journal can be there before its request is sent.
  const asked = mock.requests.length;
  const requests = counts.stable.requests + counts.canary.requests;
  expect([requests >= asked, requests <= asked + 2 * together]).toEqual([true, true]);
  // Interrupted is what was not answered, and what was answered less than the time that records wait to be stored.
  const failures = counts.stable.failures + counts.canary.failures;
  expect(failures).toBeGreaterThan(0);
  expect(failures).toBeLessThanOrEqual(requests - answered.length + 8 * together);
  const { body } = await getCanary(service, id);
  expect({ stable: body.stable, canary: body.canary }).toEqual(counts);
});
