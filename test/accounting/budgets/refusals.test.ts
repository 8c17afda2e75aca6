import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import { startAnother } from '../../support/per-operation.ts';
import { startReceiver, type Receiver } from '../../support/receiver.ts';
import type { TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createIntegration, publishedSchemas } from '../../webhooks/integrations/integrations-harness.ts';
import { budgetsPath, setBudget, usd } from './budgets-harness.ts';

const type = 'BUDGET_REFUSING';

let harness: InvokeHarness;
let service: TestService;
let other: TestService;
let receiver: Receiver;
beforeAll(async () => {
  harness = await startInvokeHarness({ environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  ({ service } = harness);
  const { OPENAI_COMPATIBLE_PROVIDERS = '' } = service.environment;
  await service.call('PUT', '/api/v1/prices/mock/model-a', { body: { rates: [{ input: '1', output: '4' }] } });
  other = await startAnother(service, { OPENAI_COMPATIBLE_PROVIDERS });
  receiver = await startReceiver();
});
afterAll(async () => {
  await other.close();
  await harness.close();
  await receiver.close();
});

describe('a budget that refuses calls', () => {
  it('says since when and how many, in all processes together, and announces the first one of a period', async () => {
    await createIntegration(service, { url: receiver.url, event_types: [type] });
    const limit = usd('0.0001');
    const { body: budget } = await setBudget(service, 'refusing', { limit, thresholds: [95], period: 'once' });
    expect(budget.current).not.toHaveProperty('refusing');
    await setBudget(other, 'refusing', { limit, thresholds: [95], period: 'once' });
    const prompt = await harness.createPrompt({ parameters: { max_output_tokens: 50 } });
    const invoke = ({ call }: TestService) => call('POST', `/api/v1/prompts/${prompt}/invoke`);
    for (const process of [service, other, service]) expect((await invoke(process)).status).toBe(402);

    const get = () => service.call('GET', `${budgetsPath}/refusing`);
    const { body: refusing } = await until(get, ({ body }) => body.current.refusing?.calls === 3);
    expect(refusing.current).toMatchObject({ spent: usd('0'), refusing: { calls: 3 } });
    const { since, last_at: last } = refusing.current.refusing as { since: string; last_at: string };
    expect(since >= budget.updated_at && since <= last).toBe(true);
    expect((await service.call('GET', budgetsPath)).body.data[0].current.refusing.calls).toBe(3);

    await receiver.received(1);
    const event = JSON.parse(String(receiver.requests[0]?.body)) as object;
    expect(event).toMatchObject({ type, targetId: budget.id, data: { budget: 'refusing', scope: {}, limit } });
    const isValid = (await publishedSchemas(service))(type);
    expect([isValid(event), isValid.errors]).toEqual([true, null]);

    // The calls can be found.
    const list = async (name: string) =>
      (await service.call('GET', `/api/v1/invocations?refused_by=${name}&problem=budget-exceeded`)).body.data;
    expect(
      await until(
        () => list('refusing'),
        ({ length }) => length === 3,
      ),
    ).toMatchObject(Array.from({ length: 3 }, () => ({ status: 'failed', refused_by: 'refusing', attempts: [] })));
    expect(await list('another')).toEqual([]);

    // It no longer refuses as soon as it has room, and announces nothing again in the same period.
    await setBudget(service, 'refusing', { limit: usd('10'), period: 'once' });
    expect((await get()).body.current).not.toHaveProperty('refusing');
    expect((await invoke(service)).status).toBe(200);
    await setBudget(service, 'refusing', { limit, period: 'once' });
    expect((await invoke(service)).status).toBe(402);
    await until(get, ({ body }) => body.current.refusing?.calls === 1);
    expect(receiver.requests).toHaveLength(1);
  });
});
