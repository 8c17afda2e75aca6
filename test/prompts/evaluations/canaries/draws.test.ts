/** Which version runs, what counts, and how a canary ends by itself. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../../../src/observability/logger.ts';
import { createMovableClock } from '../../../support/clock.ts';
import { startAnother } from '../../../support/per-operation.ts';
import { startTestService, type TestService } from '../../../support/service.ts';
import { startMockProvider, type MockProvider } from '../../../support/mock-provider.ts';
import { until } from '../../../support/until.ts';
import { labelPath, setLabel } from '../../labels/labels-harness.ts';
import { create, promptsPath, saying } from '../../prompts-harness.ts';
import { withMock } from '../runs/evaluations-harness.ts';
import {
  countsOf,
  createReleased,
  getCanary,
  half,
  historyOfCanaries,
  invokeMany,
  production,
  setCanary,
} from './canaries-harness.ts';

const clock = createMovableClock();
const lines: { canary_id?: string }[] = [];
const log = createLogger('warn', {
  write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[number]),
});
let mock: MockProvider;
let service: TestService;
let other: TestService;
beforeAll(async () => {
  mock = await startMockProvider();
  service = await startTestService({ clock, log, environment: withMock(mock) });
  other = await startAnother(service, withMock(mock), { clock, log });
});
afterAll(async () => {
  await other.close();
  await service.close();
  await mock.close();
});

const isTwo = (version: number): boolean => version === 2;

describe('a draw', () => {
  it('decides for each invocation by the label, in every process, and the record says how', async () => {
    const { id } = await createReleased(service);
    const { body } = await setCanary(service, id);
    const named = { variables: { name: 'Ada' } };
    const versions = [...(await invokeMany(service, id, 12, named)), ...(await invokeMany(other, id, 12, named))];
    expect(new Set(versions)).toEqual(new Set([1, 2]));
    // The other process stores its records some milliseconds later.
    const counts = await until(
      () => countsOf(service, body.id as string),
      ({ stable, canary }) => stable.requests + canary.requests === versions.length,
    );
    expect(counts.canary).toEqual({ requests: versions.filter(isTwo).length, failures: 0 });
    const shown = await getCanary(service, id);
    expect([shown.body.canary, shown.body.stable]).toEqual([counts.canary, counts.stable]);
    const query = `prompt=${id}&canary_id=${body.id as string}&arm=canary`;
    const listed = await service.call('GET', `/api/v1/invocations?${query}`);
    expect(listed.body.data).toHaveLength(counts.canary.requests);
    expect(listed.body.data[0]).toMatchObject({
      prompt_version: 2,
      label: production,
      canary: { id: body.id, share: 0.5, arm: 'canary', outcome: 'whole' },
    });
  });

  it('decides also for streams and the paths of OpenAI', async () => {
    const { id, slug } = await createReleased(service);
    const { body } = await setCanary(service, id);
    const model = `prompt/${slug}@${production}`;
    const prompt = { variables: { name: 'Ada' } };
    for (let count = 0; count < 8; count += 1) {
      const variables = { label: production, ...prompt, stream: true };
      await service.call('POST', `${promptsPath}/${id}/invoke`, { body: variables });
      const chat = { model, prompt: { id: slug, version: production, ...prompt }, messages: [] };
      await service.call('POST', '/v1/chat/completions', {
        body: { ...chat, messages: [{ role: 'user', content: 'x' }] },
      });
      await service.call('POST', '/v1/responses', { body: { model, prompt: chat.prompt, input: 'x' } });
    }
    const { stable, canary } = await countsOf(service, body.id as string);
    expect([stable.requests + canary.requests, stable.failures + canary.failures]).toEqual([24, 0]);
    expect(canary.requests).toBeGreaterThan(0);
  });

  it('is not made for a version, a draft, a rendering or a test run, and not after the hours', async () => {
    const { id } = await createReleased(service);
    await setCanary(service, id);
    const versions = [];
    for (let count = 0; count < 6; count += 1) {
      const rendered = await service.call('POST', `${promptsPath}/${id}/render`, { body: { label: production } });
      versions.push(rendered.body.version);
      const body = { label: production, providers: [{ provider: 'echo' }] };
      const run = await service.call('POST', `${promptsPath}/${id}/test`, { body });
      versions.push(run.body.prompt_version ?? run.body.version);
    }
    expect(new Set(versions)).toEqual(new Set([1]));
    const draft = { draft: { messages: [{ role: 'user', content: 'Draft' }] } };
    const path = `${promptsPath}/${id}/invoke`;
    expect((await service.call('POST', path, { body: { label: production, ...draft } })).status).toBe(200);
    clock.advance(3_600_001);
    expect(new Set(await invokeMany(service, id, 8))).toEqual(new Set([1]));
  });
});

describe('a failure', () => {
  it('is everything without a whole answer of the first target', async () => {
    const fallbacks = [{ provider: 'mock', model: 'model-a' }];
    const members = { selected_provider: 'mock', selected_model: 'mock-400', fallbacks };
    const { id } = await create(service, { ...saying('One'), ...members });
    await service.call('PUT', `${promptsPath}/${id}`, { body: { ...saying('Two'), selected_model: 'model-b' } });
    await setLabel(service, id, production, 1);
    const { body } = await setCanary(service, id);
    const path = `${promptsPath}/${id}/invoke`;
    for (let count = 0; count < 12; count += 1) {
      await service.call('POST', path, { body: { label: production, ...(count % 2 === 0 && { fallbacks: [] }) } });
    }
    const { stable, canary } = await countsOf(service, body.id as string);
    expect(stable.failures).toBe(stable.requests);
    expect(canary.failures).toBe(0);
    expect(stable.requests + canary.requests).toBe(12);
  });

  it.each(['length', 'content-filter'] as const)('is an answer that ended with %s', async (finish) => {
    const model = `cut-by-${finish}`;
    const members = { selected_provider: 'mock', selected_model: model };
    const { id } = await createReleased(service, members);
    const { body } = await setCanary(service, id, { ...half, share: 0.001 });
    mock.behave(model, { kind: 'answer', finish });
    await service.call('POST', `${promptsPath}/${id}/invoke`, { body: { label: production } });
    expect((await countsOf(service, body.id as string)).stable).toEqual({ requests: 1, failures: 1 });
  });

  it('is an invocation whose caller leaves', async () => {
    const members = { selected_provider: 'mock', selected_model: 'mock-held' };
    const { id } = await createReleased(service, members);
    const { body } = await setCanary(service, id, { ...half, share: 0.001 });
    const before = mock.requests.length;
    const leaving = new AbortController();
    const left = fetch(`${service.url}${promptsPath}/${id}/invoke`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.adminKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ label: production }),
      signal: leaving.signal,
    });
    await until(
      () => Promise.resolve(mock.requests.length),
      (requests) => requests > before,
    );
    leaving.abort();
    await expect(left).rejects.toThrow();
    const counts = () => countsOf(service, body.id as string);
    await until(counts, ({ stable }) => stable.requests > 0);
    expect((await counts()).stable).toEqual({ requests: 1, failures: 1 });
  });

  it('is a call that a budget refuses, in both arms', async () => {
    const { id } = await createReleased(service, { selected_provider: 'mock', selected_model: 'model-a' });
    await service.call('PUT', `${promptsPath}/${id}`, { body: saying('Hello again') });
    const limit = { amount: '0', currency: 'USD' };
    const budget = { body: { scope: { prompt_id: id }, limit, period: 'month' } };
    expect((await service.call('PUT', '/api/v1/budgets/no-canary', budget)).status).toBe(201);
    const { body } = await setCanary(service, id, { ...half, version: 3 });
    for (let count = 0; count < 12; count += 1) {
      const answer = await service.call('POST', `${promptsPath}/${id}/invoke`, { body: { label: production } });
      expect(answer.status).toBe(402);
    }
    const { stable, canary } = await countsOf(service, body.id as string);
    expect([stable.failures + canary.failures, stable.requests + canary.requests]).toEqual([12, 12]);
  });

  it('does not count if the invocation may use the cache', async () => {
    const { id } = await createReleased(service);
    const { body } = await setCanary(service, id);
    const versions = await invokeMany(service, id, 12, {}, { 'Cache-Control': 'max-age=60' });
    expect(versions.filter(isTwo).length).toBeGreaterThan(0);
    const { canary, stable, evidence } = (await getCanary(service, id)).body as Record<string, unknown>;
    expect([canary, stable, evidence]).toEqual([{ requests: 0, failures: 0 }, { requests: 0, failures: 0 }, 1]);
    const { body: log } = await service.call('GET', `/api/v1/invocations?canary_id=${body.id as string}`);
    expect(log.data[0].canary.outcome).toBe('not-counted');
  });
});

describe('the end', () => {
  it('comes by itself when the version fails more often, once, and needs attention until the label moves', async () => {
    const { id, slug } = await createReleased(service);
    const { body } = await setCanary(service, id);
    let ended: { reason: string } | undefined;
    await until(async () => {
      await invokeMany(service, id, 8);
      await invokeMany(other, id, 8);
      ended = (await getCanary(other, id)).body.ended;
      return ended !== undefined;
    });
    expect(ended?.reason).toBe('failures');
    expect(new Set([...(await invokeMany(service, id, 8)), ...(await invokeMany(other, id, 8))])).toEqual(new Set([1]));
    const [last, before] = await historyOfCanaries(service, id);
    expect([last?.version, before?.canary.ended]).toEqual([1, undefined]);
    expect(last?.canary.evidence).toBeGreaterThanOrEqual(100);
    const again = await setCanary(service, id);
    expect([again.status, again.body.detail]).toEqual([
      409,
      'An earlier canary has shown that version 2 fails more often.',
    ]);
    const attention = async () =>
      (await service.call('GET', '/api/v1/attention')).body.data.filter(
        (one: { kind: string }) => one.kind === 'canary',
      );
    expect(await attention()).toMatchObject([
      { id, name: slug, status: 'rolled-back', label: production, version: 2, since: expect.any(String) },
    ]);
    await setLabel(service, id, production, 2, { headers: { 'If-Match': '*' } });
    expect(await attention()).toEqual([]);
    // The process that was first says it.
    expect(lines.filter(({ canary_id: canary }) => canary === body.id)).toHaveLength(1);
  });

  it.each([
    ['promoted-at-end', 2, 'the label names the version, if enough invocations were counted', 3],
    ['time', 1, 'nothing changes, if there were fewer', 1_000],
  ])('comes with the hours as %s (version %d): %s', async (reason, version, _, min_requests) => {
    const { id } = await createReleased(service);
    await setCanary(service, id, { ...half, promote: { min_requests } });
    await until(async () => {
      await invokeMany(service, id, 4, { variables: { name: 'Ada' } });
      return (await getCanary(service, id)).body.canary.requests >= 3;
    });
    expect((await getCanary(service, id)).body.at_end).toBe(version === 2 ? 'promoted' : 'ended');
    clock.advance(3_600_001);
    await until(async () => (await getCanary(service, id)).body.ended?.reason === reason);
    const label = await service.call('GET', labelPath(id, production));
    expect([label.body.version, label.body.sequence]).toEqual([version, 3]);
  });

  it('is of the system in history and audit log, and the canary still names who started it', async () => {
    const { id } = await createReleased(service);
    const { body: started } = await setCanary(service, id);
    clock.advance(3_600_001);
    await until(async () => (await getCanary(service, id)).body.ended !== undefined);
    const theService = { type: 'system', id: 'service', name: 'Service' };
    const { body: history } = await service.call('GET', `${labelPath(id, production)}/history?limit=2`);
    expect(history.data).toMatchObject([
      { author: theService, canary: { author: started.author, ended: { reason: 'time' } } },
      { author: started.author },
    ]);
    expect(started.author.type).toBe('key');
    const auditOf = async (query: string) =>
      (await service.call('GET', `/api/v1/audit-log?resource_id=${id}&operation=setCanary${query}`)).body.data;
    const [ended, start] = await auditOf('');
    expect([ended.author, start.author, ended.request_id]).toEqual([theService, started.author, start.request_id]);
    expect(await auditOf('&author_id=service')).toEqual([ended]);
  });
});
