/** What one API key can hold of a budget that others share. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { fromAmount } from '../../../src/base/runtime/money.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import type { Answer, TestService } from '../../support/service.ts';
import { anew, budgetsPath, setBudget, usd } from './budgets-harness.ts';

let harness: InvokeHarness;
let service: TestService;
/** Both can cost some 0.0013 dollars. */
let prompt: string;
let held: string;
let one: { readonly id: string; readonly key: string };
let another: { readonly id: string; readonly key: string };

async function createKey(key = service.adminKey): Promise<{ readonly id: string; readonly key: string }> {
  const scopes = ['prompts:invoke', 'providers:invoke', 'prompts:read', 'keys:manage'];
  const { body } = await service.call('POST', '/api/v1/api-keys', { body: { name: 'one', scopes }, key });
  return { id: body.id, key: body.key };
}

beforeAll(async () => {
  harness = await startInvokeHarness();
  ({ service } = harness);
  for (const model of ['model-a', 'mock-held']) {
    await service.call('PUT', `/api/v1/prices/mock/${model}`, { body: { rates: [{ input: '1', output: '4' }] } });
  }
  const parameters = { max_output_tokens: 50 };
  prompt = await harness.createPrompt({ parameters });
  held = await harness.createPrompt({ parameters, selected_model: 'mock-held' });
  one = await createKey();
  another = await createKey();
});
afterAll(() => harness.close());
beforeEach(async () => {
  harness.mock.reset();
  const { body } = await service.call('GET', budgetsPath);
  for (const { name } of body.data) await service.call('DELETE', `${budgetsPath}/${name}`);
});

const invoke = (slug: string, key: string, body: object = {}): Promise<Answer> => harness.invoke(slug, body, {}, key);

describe('a key under a budget that others share', () => {
  it('cannot call what alone could cost more than a quarter, whatever is left', async () => {
    await setBudget(service, 'shared', { limit: usd('0.01') });
    const large = { parameters: { max_output_tokens: 1_000 } };
    const answer = await invoke(prompt, one.key, large);
    expect([answer.status, problemOf(answer), answer.headers['x-should-retry']]).toEqual([
      ...[402, 'budget-exceeded', 'false'],
    ]);
    expect(answer.body).toMatchObject({ budget: 'shared', cause: 'call-above-share', left: usd('0.0025') });
    expect(answer.body.detail).toContain('more than a quarter of the budget "shared"');
    expect(answer.body).not.toHaveProperty('resets_at');
    expect(harness.mock.requests).toEqual([]);
    expect((await invoke(prompt, one.key)).status).toBe(200);
    // As before, nobody shares the budget of the key itself.
    await setBudget(service, 'shared', { limit: usd('0.01'), scope: { key_id: one.id } }, anew);
    expect((await invoke(prompt, one.key, large)).status).toBe(200);
  });

  it('holds no more than a quarter with calls that hang, so that others are served', async () => {
    await setBudget(service, 'shared', { limit: usd('0.012') });
    const child = await createKey(one.key);
    const hanging = [invoke(held, one.key), invoke(held, child.key)];
    await harness.received(2);
    const refused = await Promise.all([invoke(prompt, one.key), invoke(prompt, child.key)]);
    for (const answer of refused) {
      expect([answer.status, problemOf(answer)]).toEqual([402, 'budget-exceeded']);
      expect(answer.body.cause).toBe('share-in-use');
      expect(fromAmount(answer.body.left.amount as string)).toBeLessThan(fromAmount('0.001'));
    }
    const served = [await invoke(prompt, another.key), await invoke(prompt, service.adminKey)];
    expect(served.map(({ status }) => status)).toEqual([200, 200]);
    harness.mock.release();
    expect((await Promise.all(hanging)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await invoke(prompt, one.key)).status).toBe(200);
  });

  it('waits for its own calls, if they end soon', async () => {
    await setBudget(service, 'shared', { limit: usd('0.006') });
    const first = invoke(held, one.key);
    await harness.received(1);
    const next = invoke(prompt, one.key);
    harness.mock.release();
    expect([(await first).status, (await next).status]).toEqual([200, 200]);
  });
});
