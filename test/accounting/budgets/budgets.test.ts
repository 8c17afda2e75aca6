import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { fromAmount } from '../../../src/base/runtime/money.ts';
import { problemOf, startInvokeHarness, type InvokeHarness } from '../../prompts/invoke/invoke-harness.ts';
import { startAnother } from '../../support/per-operation.ts';
import { readEvents } from '../../support/server-sent-events.ts';
import type { Answer, TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { anew, budgetsPath, ofAdministrator, setBudget as setAny, usd } from './budgets-harness.ts';

const invocationLogTimes = { beatMs: 50, termMs: 60_000, recoverEveryMs: 60_000, reportMs: 50 };
/** What a call of the mock costs: 11 tokens at 1 dollar a million, 7 at 4 dollars. */
const costOfCall = 39_000n;
const parameters = { max_output_tokens: 50 };

let harness: InvokeHarness;
let service: TestService;
let other: TestService;
let prompt: string;
beforeAll(async () => {
  harness = await startInvokeHarness({ invocationLogTimes });
  ({ service } = harness);
  const { OPENAI_COMPATIBLE_PROVIDERS = '' } = service.environment;
  for (const model of ['model-a', 'mock-500', 'mock-slow-100', 'mock-drip-5-5']) {
    await service.call('PUT', `/api/v1/prices/mock/${model}`, { body: { rates: [{ input: '1', output: '4' }] } });
  }
  other = await startAnother(service, { OPENAI_COMPATIBLE_PROVIDERS }, { invocationLogTimes });
  prompt = await harness.createPrompt({ parameters });
});
afterAll(async () => {
  await other.close();
  await harness.close();
});
beforeEach(async () => {
  harness.mock.reset();
  const { body } = await service.call('GET', budgetsPath);
  for (const { name } of body.data) await service.call('DELETE', `${budgetsPath}/${name}`);
});

/** By default of the tests' own key: nobody shares it, so that a call can use it up. */
const setBudget: typeof setAny = (to, name, body, options) =>
  setAny(to, name, { ...ofAdministrator, ...body }, options);

/** The state of a budget when nothing is in progress. */
async function atRest(name: string): Promise<Answer['body']> {
  const { body } = await until(
    () => service.call('GET', `${budgetsPath}/${name}`),
    ({ body: { current } }) => current.held.amount === '0',
  );
  return body.current;
}

const messages = [{ role: 'user', content: 'Hello' }];
const stream = true;

/** Every way to a provider. */
const ways: readonly (readonly [name: string, send: () => Promise<Answer>])[] = [
  ['an invocation', () => harness.invoke(prompt)],
  ['a streamed invocation', () => harness.invoke(prompt, { stream })],
  ['a chat completion', () => post('/v1/chat/completions', { model: 'mock/model-a', messages, max_tokens: 50 })],
  [
    'a streamed chat completion',
    () => post('/v1/chat/completions', { model: `prompt/${prompt}`, messages: [], max_tokens: 50, stream }),
  ],
  ['a response', () => post('/v1/responses', { model: 'mock/model-a', input: 'Hello', max_output_tokens: 50 })],
  ['a message', () => post('/v1/messages', { model: 'mock/model-a', messages, max_tokens: 50 })],
  ['a streamed message', () => post('/v1/messages', { model: 'mock/model-a', messages, max_tokens: 50, stream })],
];

function post(path: string, body: unknown, key = service.adminKey): Promise<Answer> {
  return service.call('POST', path, { body, key });
}

describe('a budget', () => {
  it.each(ways)('refuses %s that could cost more than what is left, before the call', async (_, send) => {
    await setBudget(service, 'small', { limit: usd('0.001') });
    const answer = await send();
    expect([answer.status, answer.headers['x-should-retry']]).toEqual([402, 'false']);
    const { type, error, ...problem } = answer.body;
    if (error === undefined) {
      expect(type).toBe('urn:prompt-gateway:problem:budget-exceeded');
      expect(problem).toMatchObject({
        budget: 'small',
        cause: 'budget-left',
        left: usd('0.001'),
        resets_at: expect.any(String),
      });
    } else {
      const kind = type === 'error' ? 'billing_error' : 'insufficient_quota';
      expect(error).toMatchObject({ type: kind, code: 'budget-exceeded' });
    }
    expect(harness.mock.requests).toEqual([]);
    const record = await service.call('GET', `/api/v1/invocations/${answer.headers['x-invocation-id']}`);
    expect(record.body).toMatchObject({
      status: 'failed',
      problem: expect.stringContaining('budget-exceeded'),
      attempts: [],
    });
    expect(await atRest('small')).toMatchObject({ spent: usd('0'), left: usd('0.001') });
  });

  it.each(ways)('counts what %s costs', async (_, send) => {
    await setBudget(service, 'enough', { limit: usd('0.01') });
    const answer = await send();
    expect(answer.status).toBe(200);
    if (answer.headers['content-type']?.startsWith('text/event-stream')) readEvents(answer.text);
    expect(harness.mock.requests).toHaveLength(1);
    const current = await until(
      () => atRest('enough'),
      ({ spent }) => spent.amount !== '0',
    );
    expect([current.spent, current.left]).toEqual([usd('0.000039'), usd('0.009961')]);
  });

  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
  const chat = (more: object): Promise<Answer> =>
    post('/v1/chat/completions', { model: 'mock/model-a', messages, max_tokens: 50, ...more });

  // Without the member that is named here, each of them fits.
  it.each<readonly [name: string, status: number, send: () => Promise<Answer>]>([
    ['an image', 402, () => chat({ messages: [{ role: 'user', content: [image] }] })],
    ['a long input', 402, () => chat({ messages: [{ role: 'user', content: 'x'.repeat(2_000) }] })],
    ['a long variable', 402, () => harness.invoke(prompt, { variables: { name: 'x'.repeat(2_000) } })],
    [
      'tools',
      402,
      () => chat({ tools: [{ type: 'function', function: { name: 'find', description: 'x'.repeat(1_000) } }] }),
    ],
    ['a larger limit of output tokens', 402, () => chat({ max_tokens: 500 })],
    ['no limit of output tokens', 402, () => chat({ max_tokens: undefined })],
    ['several answers to one request', 400, () => chat({ n: 2 })],
  ])('is not got around by %s', async (_, status, send) => {
    await setBudget(service, 'one', { limit: usd('0.0015') });
    expect((await send()).status).toBe(status);
    expect(harness.mock.requests).toEqual([]);
    expect((await chat({})).status).toBe(200);
  });

  it('is not got around by leaving streams, or by spreading calls over prompts', async () => {
    await setBudget(service, 'few', { limit: usd('0.004') });
    const drip = { parameters, selected_model: 'mock-drip-5-5' };
    const slugs = [prompt, await harness.createPrompt(drip), await harness.createPrompt(drip)];
    let refused: Response | undefined;
    for (let count = 0; refused === undefined && count < 20; count += 1) {
      const leaving = new AbortController();
      const answer = await harness.invokeUntil(leaving.signal, slugs[1 + (count % 2)] ?? '', { stream });
      if (answer.status === 402) refused = answer;
      // The provider has begun, and does not say what it has used.
      else await answer.body?.getReader().read();
      leaving.abort();
    }
    expect(refused?.status).toBe(402);
    expect((await Promise.all(slugs.map((slug) => harness.invoke(slug)))).map(({ status }) => status)).toEqual([
      402, 402, 402,
    ]);
    // Each of them counts with the most that it can have cost.
    expect(harness.mock.requests).toHaveLength(3);
    const { left } = await until(
      () => atRest('few'),
      ({ spent }) => spent.amount !== '0',
    );
    expect(fromAmount(left.amount)).toBeLessThan(1_300_000n);
  });

  it('counts echo, if it has a price', async () => {
    await service.call('PUT', '/api/v1/prices/echo/echo-upper', {
      body: { rates: [{ input: '1000', output: '1000' }] },
    });
    // Two words in, two words out.
    const invoke = (more: object = {}): Promise<Answer> =>
      harness.invoke(prompt, { provider: 'echo', model: 'echo-upper', ...more });
    await setBudget(service, 'echoed', { limit: usd('0.009') });
    const answers = [await invoke(), await invoke({ stream }), await invoke()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 402]);
    const current = await until(
      () => atRest('echoed'),
      ({ spent }) => spent.amount !== '0',
    );
    expect(current).toMatchObject({ spent: usd('0.008'), left: usd('0.001') });
    expect((await harness.invoke(prompt, { provider: 'echo' })).status).toBe(200);
  });

  it('lets a call wait for room that a call before it does not use', async () => {
    await setBudget(service, 'narrow', { limit: usd('0.002') });
    const one = await harness.invoke(prompt);
    const next = await harness.invoke(prompt);
    const together = await Promise.all([harness.invoke(prompt), harness.invoke(prompt), harness.invoke(prompt)]);
    expect([one, next, ...together].map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await atRest('narrow')).toMatchObject({ spent: usd('0.000195') });
  });

  it('refuses the calls of a test run', async () => {
    await setBudget(service, 'small', { limit: usd('0.001') });
    const { body } = await post(`/api/v1/prompts/${prompt}/test`, { providers: [{ provider: 'mock' }] });
    expect(body.results[0]).toMatchObject({
      status: 'failed',
      error: { type: 'urn:prompt-gateway:problem:budget-exceeded' },
    });
    expect(harness.mock.requests).toEqual([]);
  });

  it('answers the failure of the call before if a fallback does not fit', async () => {
    const failing = await harness.createPrompt({
      parameters,
      selected_model: 'mock-500',
      fallbacks: [{ provider: 'mock', model: 'model-a' }],
    });
    // The first call may have been billed, so that what it can cost at most is spent.
    await setBudget(service, 'one', { limit: usd('0.0015') });
    const answer = await harness.invoke(failing);
    expect([answer.status, problemOf(answer)]).toEqual([502, 'provider-failed']);
    expect(harness.mock.requests).toHaveLength(1);
    const { cost } = (await service.call('GET', `/api/v1/invocations/${answer.headers['x-invocation-id']}`)).body;
    const current = await until(
      () => atRest('one'),
      ({ spent }) => spent.amount !== '0',
    );
    expect(current.spent).toEqual(usd(cost.amount));
  });

  it('refuses calls whose cost is unknown, unless it allows them', async () => {
    await setBudget(service, 'strict', { limit: usd('1') });
    const unpriced = await harness.invoke(prompt, { model: 'model-b' });
    expect([unpriced.status, problemOf(unpriced)]).toEqual([402, 'cost-unknown']);
    expect(unpriced.body).toMatchObject({ cause: 'no-price', provider: 'mock', model: 'model-b' });
    expect(unpriced.body.detail).toContain('Set one: PUT /api/v1/prices/mock/model-b.');
    const unlimited = await harness.createPrompt();
    const withoutLimit = await harness.invoke(unlimited);
    expect([withoutLimit.status, problemOf(withoutLimit)]).toEqual([402, 'cost-unknown']);
    expect(withoutLimit.body).toMatchObject({ cause: 'no-output-limit', provider: 'mock', model: 'model-a' });
    for (const [path, said] of Object.entries({
      '/v1/chat/completions': { messages },
      '/v1/responses': { input: 'x' },
    })) {
      const { status, body } = await post(path, { model: 'mock/model-a', ...said });
      expect([status, body.error?.code]).toEqual([402, 'cost-unknown']);
    }
    const unpricedMessage = await post('/v1/messages', { model: 'mock/model-b', messages, max_tokens: 50 });
    expect([unpricedMessage.status, unpricedMessage.body.error]).toMatchObject([
      402,
      { type: 'billing_error', code: 'cost-unknown' },
    ]);
    expect(harness.mock.requests).toEqual([]);
    await setBudget(service, 'strict', { limit: usd('1'), unpriced: 'allow' });
    expect((await harness.invoke(prompt, { model: 'model-b' })).status).toBe(200);
    expect((await harness.invoke(unlimited)).status).toBe(200);
    await until(
      () => atRest('strict'),
      ({ spent }) => spent.amount === '0.000039',
    );
  });

  it('gives providers a limit of output tokens where they would get none', async () => {
    await setBudget(service, 'assuming', { limit: usd('1'), assume_max_output_tokens: 77 });
    const unlimited = await harness.createPrompt();
    expect((await harness.invoke(unlimited)).status).toBe(200);
    expect((await harness.invoke(prompt)).status).toBe(200);
    await post(`/api/v1/prompts/${unlimited}/test`, { providers: [{ provider: 'mock' }] });
    const sent = harness.mock.requests.map(({ body }) => (body as { max_tokens?: number }).max_tokens);
    expect(sent).toEqual([77, 50, 77]);
  });

  it('says that it gives a limit: in answers, in what would be sent, and in the log', async () => {
    await setBudget(service, 'assuming', { limit: usd('1'), assume_max_output_tokens: 77 });
    const warning = {
      code: 'assumed-output-limit',
      detail:
        'a budget limits the answer to 77 tokens, because no limit is set, or a larger one for a model whose own limit is unknown',
      pointer: '#/parameters/max_output_tokens',
    };
    const unlimited = await harness.createPrompt();
    const answer = await harness.invoke(unlimited);
    const streamed = readEvents((await harness.invoke(unlimited, { stream })).text);
    expect([answer.body.warnings, JSON.parse(streamed.at(-1)?.data ?? '')]).toEqual([
      [warning],
      expect.objectContaining({ type: 'finish', warnings: [warning] }),
    ]);
    const rendered = await service.call('POST', `/api/v1/prompts/${unlimited}/render`);
    expect(rendered.body).toMatchObject({ parameters: { max_output_tokens: 77 }, warnings: [warning] });
    const run = await post(`/api/v1/prompts/${unlimited}/test`, { providers: [{ provider: 'mock' }] });
    for (const id of [answer.headers['x-invocation-id'], run.body.results[0].invocation_id]) {
      const { body } = await service.call('GET', `/api/v1/invocations/${id}`);
      expect(body.assumed_max_output_tokens).toBe(77);
    }

    const limited = await harness.invoke(prompt);
    expect(limited.body).not.toHaveProperty('warnings');
    const shown = await service.call('POST', `/api/v1/prompts/${prompt}/render`);
    expect(shown.body).not.toHaveProperty('warnings');
    const { body } = await service.call('GET', `/api/v1/invocations/${limited.headers['x-invocation-id']}`);
    expect(body).not.toHaveProperty('assumed_max_output_tokens');
  });

  it('refuses calls of servers that are not declared to keep the limit of output tokens', async () => {
    const rates = [{ input: '1', output: '4' }];
    await service.call('PUT', '/api/v1/prices/spare/spare-a', { body: { rates } });
    await setBudget(service, 'strict', { limit: usd('1') });
    const refused = await harness.invoke(prompt, { provider: 'spare' });
    expect([refused.status, problemOf(refused), harness.mock.requests]).toEqual([402, 'cost-unknown', []]);
    expect(refused.body.cause).toBe('output-limit-not-kept');
    expect(refused.body.detail).toContain('enforces_max_output');
    await setBudget(service, 'strict', { limit: usd('1'), unpriced: 'allow' });
    expect((await harness.invoke(prompt, { provider: 'spare' })).status).toBe(200);
    await until(
      () => atRest('strict'),
      ({ spent }) => spent.amount === '0.000039',
    );
  });

  it('counts all of a call that costs more than it could, and blocks its model until a budget is set again', async () => {
    // One token of output would cost 4,000 nano-dollars; the mock makes seven, whatever the limit is.
    await service.call('PUT', '/api/v1/prices/mock/model-b', { body: { rates: [{ input: '0', output: '4' }] } });
    const metric = 'provider_calls_above_ceiling_total{provider="mock",model="model-b"}';
    const terms = { limit: usd('1') };
    await setBudget(service, 'trusting', terms);
    await setBudget(service, 'first', { ...terms, scope: {} });
    await setBudget(service, 'idle', { ...terms, scope: { tag: 'team=nobody' } });
    await setBudget(other, 'trusting', terms);
    const beyond = { model: 'model-b', parameters: { max_output_tokens: 1 } };
    const { status, headers } = await harness.invoke(prompt, beyond);
    expect([status, await harness.metric(metric)]).toEqual([200, 1]);
    const { body: record } = await service.call('GET', `/api/v1/invocations/${headers['x-invocation-id']}`);
    expect(record.cost).toEqual(usd('0.000028'));
    const { body: budget } = await until(
      () => service.call('GET', `${budgetsPath}/trusting`),
      ({ body }) => body.blocked_models !== undefined && body.current.spent.amount === '0.000028',
    );
    expect(budget.blocked_models).toEqual([
      { model: 'mock/model-b', since: expect.any(String), invocation_id: headers['x-invocation-id'] },
    ]);
    expect((await service.call('GET', `${budgetsPath}/idle`)).body.blocked_models).toHaveLength(1);
    for (const process of [service, other]) {
      const refused = await until(
        () => process.call('POST', `/api/v1/prompts/${prompt}/invoke`, { body: { model: 'model-b' } }),
        // Until then it perhaps does not know the price.
        ({ body }) => body.cause === 'model-blocked',
      );
      expect([refused.status, problemOf(refused)]).toEqual([402, 'cost-unknown']);
    }
    expect((await harness.invoke(prompt)).status).toBe(200);

    // The other one that pays is named until it is set too.
    await setBudget(service, 'first', { ...terms, scope: {} });
    const refused = await harness.invoke(prompt, { model: 'model-b' });
    expect(refused.body).toMatchObject({
      budget: 'trusting',
      detail: expect.stringContaining('Set the budget again'),
    });
    const lifted = await setBudget(service, 'trusting', terms);
    expect(lifted.body).not.toHaveProperty('blocked_models');
    expect((await harness.invoke(prompt, { model: 'model-b' })).status).toBe(200);
    expect((await service.call('GET', `${budgetsPath}/idle`)).body.blocked_models).toHaveLength(1);
  });

  it('counts a key with the keys that it led to, a prompt, or a tag that is bound to a key', async () => {
    const create = async (limits?: object, key = service.adminKey): Promise<{ id: string; key: string }> => {
      const scopes = ['keys:manage', 'prompts:invoke', 'prompts:read'];
      const { body } = await service.call('POST', '/api/v1/api-keys', {
        body: { name: 'one', scopes, ...(limits && { limits }) },
        key,
      });
      return { id: body.id, key: body.key };
    };
    const statusOf = async (key: string, headers = {}): Promise<number> =>
      (await harness.invoke(prompt, {}, headers, key)).status;
    const limit = usd('0.001');
    const parent = await create();
    const child = await create(undefined, parent.key);
    await setBudget(service, 'scoped', { limit, scope: { key_id: parent.id } });
    expect([await statusOf(parent.key), await statusOf(child.key), await statusOf(service.adminKey)]).toEqual([
      402, 402, 200,
    ]);
    const tagged = await create({ tags: { team: 'checkout' } });
    await setBudget(service, 'scoped', { limit, scope: { tag: 'team=checkout' } }, anew);
    expect([await statusOf(tagged.key), await statusOf(tagged.key, { 'X-Tags': 'team=other' })]).toEqual([402, 402]);
    expect(await statusOf(parent.key, { 'X-Tags': 'team=checkout' })).toBe(200);
    const { headers } = await harness.invoke(prompt);
    await setBudget(service, 'scoped', { limit, scope: { prompt_id: headers['x-prompt-id'] } }, anew);
    expect(await statusOf(parent.key)).toBe(402);
    expect(await statusOf(parent.key, {})).toBe(402);
    expect((await harness.invoke(await harness.createPrompt({ parameters }))).status).toBe(200);
  });

  it('shares calls only among those who pay by the same budgets', async () => {
    const scopes = ['prompts:invoke'];
    const { body } = await service.call('POST', '/api/v1/api-keys', { body: { name: 'other', scopes } });
    await setBudget(service, 'all', { limit: usd('1'), scope: {} });
    await setBudget(service, 'of-key', { limit: usd('1'), scope: { key_id: body.id } });
    const slow = await harness.createPrompt({ parameters, selected_model: 'mock-slow-100' });
    const shared = { 'Cache-Control': 'max-age=60' };
    await Promise.all([
      harness.invoke(slow, {}, shared),
      harness.invoke(slow, {}, shared),
      harness.invoke(slow, {}, shared, body.key as string),
    ]);
    expect(harness.mock.requests).toHaveLength(2);
  });

  it('is not exceeded by several processes, and is used up', async () => {
    const most = fromAmount('0.008');
    await setBudget(service, 'shared', { limit: usd('0.008') });
    let made = 0n;
    const spendAll = async ({ url, adminKey }: TestService): Promise<void> => {
      for (;;) {
        const answer = await fetch(`${url}/api/v1/prompts/${prompt}/invoke`, {
          method: 'POST',
          headers: { authorization: `Bearer ${adminKey}` },
        });
        const body = (await answer.json()) as { left?: { amount: string } };
        if (answer.status === 402) {
          expect(fromAmount(body.left?.amount ?? '')).toBeLessThan(1_300_000n);
          return;
        }
        expect(answer.status).toBe(200);
        made += 1n;
      }
    };
    // It learns of it at once.
    await setBudget(other, 'shared', { limit: usd('0.008') });
    await Promise.all([service, other].flatMap((one) => Array.from({ length: 8 }, () => spendAll(one))));
    // What the others held when a call was refused has come back.
    const settle = (): Promise<Answer['body']> =>
      until(
        () => atRest('shared'),
        ({ spent }) => fromAmount(spent.amount) === made * costOfCall,
      );
    while (fromAmount((await settle()).left.amount) >= 1_300_000n) await spendAll(service);
    expect(made * costOfCall).toBeLessThanOrEqual(most);
    const current = await settle();
    // The last call did not fit; one of its size can be left.
    expect(fromAmount(current.left.amount)).toBeLessThan(1_300_000n);
    const lower = await setBudget(service, 'shared', { limit: usd('0.001') });
    expect(lower.body.current.left).toEqual(usd('0'));
    expect((await harness.invoke(prompt)).status).toBe(402);
    await setBudget(service, 'shared', { limit: usd('1') });
    expect((await harness.invoke(prompt)).status).toBe(200);
  }, 60_000);
});
