import { beforeAll, describe, expect, it } from '@jest/globals';
import { createMovableClock } from '../../support/clock.ts';
import { startMockProvider } from '../../support/mock-provider.ts';
import { problem } from '../../support/per-operation.ts';
import { until } from '../../support/until.ts';
import { setUpPeople, type Browser } from './people-harness.ts';

const clock = createMovableClock();
const setup = setUpPeople({}, { clock });

const { signInAs } = setup;
const prompt = { name: 'Greeting', messages: [{ role: 'user', content: 'Hello' }], selected_provider: 'echo' };

describe('what a person makes', () => {
  let browser: Browser;
  let id: string;
  let slug: string;
  beforeAll(async () => {
    ({ browser, id } = await signInAs('maker', 'admins'));
    slug = String((await browser.call('POST', '/api/v1/prompts', { body: prompt })).body.slug);
  });

  it('names the person in history, audit log and invocations, which are found by it', async () => {
    const author = { type: 'person', id, name: 'maker' };
    const path = `/api/v1/prompts/${slug}`;
    expect((await browser.call('GET', `${path}/versions`)).body.data).toMatchObject([{ author }]);
    const moved = await browser.call('PUT', `${path}/labels/production`, { body: { version: 1 } });
    expect(moved.body.author).toEqual(author);
    await browser.call('POST', `${path}/invoke`, { body: {} });
    const { body: log } = await setup.service.call('GET', `/api/v1/invocations?author_id=${id}`);
    expect(log.data).toMatchObject([{ author, status: 'succeeded' }]);
    const { body: audit } = await setup.service.call('GET', `/api/v1/audit-log?author_id=${id}&operation=setLabel`);
    expect(audit.data).toMatchObject([{ author, session_id: expect.any(String) }]);
  });

  it('can be an evaluation, which goes on when the session has ended', async () => {
    const body = {
      candidate: {},
      dataset: { name: 'measured' },
      checks: [{ type: 'contains', value: 'Hello' }],
      rule: { all_pass: true },
    };
    const lines = { headers: { 'Content-Type': 'application/x-ndjson' }, body: '{"id":"first"}' };
    await setup.service.call('PUT', '/api/v1/datasets/measured', lines);
    const { body: begun } = await browser.call('POST', `/api/v1/prompts/${slug}/evaluations`, { body });
    await setup.service.call('POST', `/api/v1/people/${id}/sign-out`);
    const { body: ended } = await until(
      () => setup.service.call('GET', `/api/v1/evaluations/${String(begun.id)}`),
      ({ body: { status } }) => ['ended', 'refused', 'canceled'].includes(String(status)),
    );
    expect(ended).toMatchObject({ status: 'ended', verdict: { outcome: 'passed' }, author: { type: 'person', id } });
    setup.issuer.account = { sub: 'maker', name: 'maker', groups: ['admins'] };
    await setup.signIn(browser);
  });

  it.each([
    ['is disabled', (id_: string) => setup.service.call('PUT', `/api/v1/people/${id_}`, { body: { disabled: true } })],
    // It is still signed in, and may only read.
    ['has lost the role for it', () => signInAs('leaver', 'readers')],
  ])('can be an evaluation, which ends when the person %s', async (_, stop) => {
    const mock = await startMockProvider();
    const provider = { id: 'mock', base_url: mock.url, api_key: 'x'.repeat(20), models: ['mock-slow-100'] };
    const other = await setup.startAnother({ OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]) });
    const slow = { ...prompt, selected_provider: 'mock', selected_model: 'mock-slow-100' };
    const { body: made } = await other.call('POST', '/api/v1/prompts', { body: slow });
    const lines = Array.from({ length: 2_000 }, (__, index) => `{"id":"${index}"}`).join('\n');
    await other.call('PUT', '/api/v1/datasets/long', {
      headers: { 'Content-Type': 'application/x-ndjson' },
      body: lines,
    });
    const { browser: leaving, id: leaver } = await signInAs('leaver', 'devs');
    const checks = [{ type: 'contains', value: 'Hello' }];
    const { body: begun } = await other.call('POST', `/api/v1/prompts/${String(made.id)}/evaluations`, {
      ...{ key: null, headers: setup.pageHeaders(leaving) },
      body: { candidate: {}, dataset: { name: 'long' }, checks, rule: { all_pass: true } },
    });
    await until(() => mock.requests.length > 0);
    await stop(leaver);
    clock.advance(5_000);
    const { body: ended } = await until(
      () => other.call('GET', `/api/v1/evaluations/${String(begun.id)}`),
      ({ body: { status } }) => ['ended', 'refused', 'canceled'].includes(String(status)),
    );
    expect(ended).toMatchObject({ status: 'canceled', canceled_reason: 'key-revoked' });
    await setup.service.call('PUT', `/api/v1/people/${leaver}`, { body: { disabled: false } });
    await mock.close();
  });

  it('is in the budget of the person, also what its keys spend', async () => {
    const { browser: operator, id: operatorId } = await signInAs('operator', 'ops', 'devs');
    const budget = { scope: { key_id: operatorId }, limit: { amount: '0', currency: 'USD' }, period: 'month' };
    expect((await setup.service.call('PUT', '/api/v1/budgets/of-person', { body: budget })).status).toBe(201);
    const rates = [{ input: '1', output: '2' }];
    await setup.service.call('PUT', '/api/v1/prices/echo/echo-1', { body: { rates } });
    const key = { name: 'service', scopes: ['prompts:invoke', 'prompts:read'] };
    const made = await operator.call('POST', '/api/v1/api-keys', { body: key });
    const path = `/api/v1/prompts/${slug}/invoke`;
    const refused = [
      await operator.call('POST', path, { body: {} }),
      await setup.service.call('POST', path, { body: {}, key: String(made.body.key) }),
    ];
    for (const { status, body } of refused) expect([status, body.type]).toEqual([402, problem('budget-exceeded')]);
    expect((await browser.call('POST', path, { body: {} })).status).toBe(200);
  });

  it('keeps working when the roles of the person shrink', async () => {
    const { browser: shrinking } = await signInAs('shrinking', 'ops', 'devs');
    const key = { name: 'service', scopes: ['prompts:write', 'prompts:read'] };
    const made = await shrinking.call('POST', '/api/v1/api-keys', { body: key });
    const { browser: smaller } = await signInAs('shrinking', 'readers');
    expect((await smaller.call('POST', '/api/v1/prompts', { body: prompt })).status).toBe(403);
    const again = { body: prompt, key: String(made.body.key) };
    expect((await setup.service.call('POST', '/api/v1/prompts', again)).status).toBe(201);
  });

  it('is no key once the person is disabled, also where that is not known yet', async () => {
    const { browser: leaving, id: leaver } = await signInAs('hurried', 'ops');
    const other = await setup.startAnother();
    const there = { key: null, headers: setup.pageHeaders(leaving) };
    expect((await other.call('GET', '/api/v1/whoami', there)).status).toBe(200);
    await setup.service.call('PUT', `/api/v1/people/${leaver}`, { body: { disabled: true } });
    const made = await other.call('POST', '/api/v1/api-keys', {
      ...there,
      body: { name: 'late', scopes: ['orders:read'] },
    });
    expect(made.status).toBe(401);
    const { body } = await setup.service.call('GET', `/api/v1/api-keys?author_id=${leaver}`);
    expect(body.data).toEqual([]);
  });

  it('keeps its limits when the person can no longer give such rights', async () => {
    const { browser: strong } = await signInAs('demoted', 'admins');
    const limits = { prompts: [String((await strong.call('GET', `/api/v1/prompts/${slug}`)).body.id)] };
    const all = { name: 'narrow', scopes: ['prompts:write', 'people:manage'], limits };
    const { body: made } = await strong.call('POST', '/api/v1/api-keys', { body: all });
    const { browser: weak } = await signInAs('demoted', 'ops');
    const path = `/api/v1/api-keys/${String(made.id)}`;
    const { status, body } = await weak.call('PUT', path, { body: { limits: null } });
    expect([status, body.type]).toEqual([403, problem('no-authority')]);
    expect((await weak.call('POST', `${path}/revoke`)).status).toBe(200);
  });

  it('is refused with words for people', async () => {
    const { browser: reader } = await signInAs('reader', 'readers');
    const { body } = await reader.call('POST', '/api/v1/prompts', { body: prompt });
    expect(body.detail).toBe('None of your roles has the scope prompts:write.');
  });
});
