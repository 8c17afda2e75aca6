import { describe, expect, it } from '@jest/globals';
import { problem, setUp } from '../../support/per-operation.ts';
import { budgetsPath, setBudget, usd } from './budgets-harness.ts';

const setup = setUp();

describe('getBudget', () => {
  it('200 and 304: answers the state, and says when it is the same', async () => {
    await setBudget(setup.service, 'one');
    const { status, headers, body } = await setup.service.call('GET', `${budgetsPath}/one`);
    expect([status, body.current.left]).toEqual([200, usd('1')]);
    expect(new Date(body.current.resets_at).getTime() - new Date(body.current.since).getTime()).toBe(86_400_000);
    const again = await setup.service.call('GET', `${budgetsPath}/one`, {
      headers: { 'If-None-Match': headers['etag'] ?? '' },
    });
    expect(again.status).toBe(304);
  });

  it('404: knows no other names', async () => {
    const { status, body } = await setup.service.call('GET', `${budgetsPath}/nobody`);
    expect([status, body.type]).toEqual([404, problem('budget-not-found')]);
  });
});

describe('listBudgets', () => {
  it('200: lists them by name, page by page', async () => {
    for (const name of ['zoo', 'ant', 'bee']) await setBudget(setup.service, name, { scope: { tag: 'team=a' } });
    const first = await setup.service.call('GET', `${budgetsPath}?limit=2`);
    expect(first.body.data.map(({ name }: { name: string }) => name)).toEqual(['ant', 'bee']);
    const rest = await setup.service.call('GET', `${budgetsPath}?after=${first.body.pagination.next}`);
    expect(rest.body.data.map(({ name }: { name: string }) => name)).toContain('zoo');
  });
});

describe('deleteBudget', () => {
  it('200: frees the name for another one', async () => {
    const path = `${budgetsPath}/gone`;
    const { headers } = await setBudget(setup.service, 'gone', { period: 'once' });
    const { status, body } = await setup.service.call('DELETE', path);
    expect([status, body]).toEqual([200, { ok: true }]);
    expect((await setup.service.call('GET', path)).status).toBe(404);
    const again = await setBudget(setup.service, 'gone', { period: 'once' });
    expect([again.status, again.headers['etag'] === headers['etag']]).toEqual([201, false]);
  });

  it('404 and 412: deletes nothing else', async () => {
    const missing = await setup.service.call('DELETE', `${budgetsPath}/nobody`);
    expect([missing.status, missing.body.type]).toEqual([404, problem('budget-not-found')]);
    const { headers } = await setBudget(setup.service, 'busy');
    await setBudget(setup.service, 'busy', { limit: usd('3') });
    const known = { headers: { 'If-Match': headers['etag'] ?? '' } };
    const { status, body } = await setup.service.call('DELETE', `${budgetsPath}/busy`, known);
    expect([status, body.type]).toEqual([412, problem('precondition-failed')]);
  });
});
