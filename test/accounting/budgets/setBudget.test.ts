import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { problem, setUp } from '../../support/per-operation.ts';
import type { Answer, CallOptions } from '../../support/service.ts';
import { budgetsPath, setBudget, usd } from './budgets-harness.ts';

const setup = setUp();

describe('201', () => {
  it('sets a budget, which is then found', async () => {
    const scope = { tag: 'team=checkout' };
    const terms = { scope, limit: usd('50'), period: 'month', time_zone: 'Europe/Amsterdam', unpriced: 'refuse' };
    const { status, headers, body } = await setBudget(setup.service, 'checkout', {
      ...terms,
      time_zone: 'europe/amsterdam',
      assume_max_output_tokens: 4096,
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'checkout',
      ...terms,
      assume_max_output_tokens: 4096,
      current: { spent: usd('0'), held: usd('0'), left: usd('50') },
      author: { type: 'key', id: 'administrator', name: 'administrator' },
    });
    expect(headers['location']).toBe(`${budgetsPath}/checkout`);
    const found = await setup.service.call('GET', headers['location'] ?? '');
    expect([found.body, found.headers['etag']]).toEqual([body, headers['etag']]);
  });

  it('takes what is left out from the contract', async () => {
    const { body } = await setBudget(setup.service, 'short', { limit: usd('0.000000001'), period: 'once' });
    expect(body).toMatchObject({ scope: {}, time_zone: 'UTC', unpriced: 'refuse', limit: usd('0.000000001') });
    expect(body.current).not.toHaveProperty('resets_at');
  });
});

describe('200', () => {
  it('changes a budget, which keeps what is spent unless it counts something else', async () => {
    const first = await setBudget(setup.service, 'changed');
    const lower = await setBudget(setup.service, 'changed', { limit: usd('0.5') });
    expect([lower.status, lower.body.limit, lower.body.current.since]).toEqual([
      200,
      usd('0.5'),
      first.body.current.since,
    ]);
    const known = { headers: { 'If-Match': lower.headers['etag'] ?? '' } };
    const other = await setBudget(setup.service, 'changed', { scope: { key_id: randomUUID() } }, known);
    expect([other.status, other.body.limit]).toEqual([200, usd('1')]);
    expect(other.headers['etag']?.slice(0, 36)).not.toBe(lower.headers['etag']?.slice(0, 36));
  });

  it('keeps what is left out, and what is spent', async () => {
    const first = await setBudget(setup.service, 'partial', {
      scope: { tag: 'team=checkout' },
      time_zone: 'Europe/Amsterdam',
      unpriced: 'allow',
      assume_max_output_tokens: 4096,
      thresholds: [80, 50],
    });
    const other = await put('partial', { limit: usd('2') });
    expect(other.status).toBe(200);
    expect(other.body).toEqual({
      ...first.body,
      limit: usd('2'),
      thresholds: [50, 80],
      current: { ...first.body.current, left: usd('2') },
      updated_at: expect.any(String),
    });
    const cleared = await put('partial', { assume_max_output_tokens: null, thresholds: [] });
    const { assume_max_output_tokens: _, ...kept } = other.body;
    expect(cleared.body).toEqual({ ...kept, thresholds: [], updated_at: expect.any(String) });
  });

  it('takes back what GET returned, and changes nothing', async () => {
    await setBudget(setup.service, 'returned', { scope: { tag: 'team=a' }, thresholds: [50] });
    const { body, headers } = await setup.service.call('GET', `${budgetsPath}/returned`);
    const again = await put('returned', body);
    expect([again.status, again.body, again.headers['etag']]).toEqual([200, body, headers['etag']]);
    // What calls have spent meanwhile is no conflict.
    const { since } = body.current;
    const spent = await put('returned', { ...body, current: { since, spent: usd('0.5') }, limit: usd('3') });
    expect([spent.status, spent.body.limit, spent.body.id]).toEqual([200, usd('3'), body.id]);
  });

  it('loses no change of several at the same time', async () => {
    await setBudget(setup.service, 'together', { scope: { tag: 'team=a' } });
    const changes = [{ limit: usd('7') }, { thresholds: [50] }, { unpriced: 'allow' }, { assume_max_output_tokens: 9 }];
    const answers = await Promise.all(changes.map((change) => put('together', change)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { body } = await setup.service.call('GET', `${budgetsPath}/together`);
    expect(body).toMatchObject({ scope: { tag: 'team=a' }, ...Object.assign({}, ...changes) });
  });

  it('begins anew with If-Match, which can be *', async () => {
    const first = await setBudget(setup.service, 'anew', { scope: { tag: 'team=a' } });
    const any = { headers: { 'If-Match': '*' } };
    const other = await put('anew', { period: 'week' }, any);
    expect([other.status, other.body.period, other.body.scope]).toEqual([200, 'week', { tag: 'team=a' }]);
    expect(other.body.id).not.toBe(first.body.id);
  });
});

describe('400', () => {
  it.each([
    ['two scopes', { scope: { key_id: 'administrator', tag: 'team=checkout' } }],
    ['a negative limit', { limit: usd('-1') }],
    ['another currency', { limit: { amount: '1', currency: 'EUR' } }],
    ['another period', { period: 'year' }],
  ])('refuses %s', async (_, body) => {
    const answer = await setBudget(setup.service, 'wrong', body);
    expect([answer.status, answer.body.type]).toEqual([400, problem('invalid-request')]);
  });
});

describe('400 of a new budget', () => {
  it('needs a limit and a period', async () => {
    const differs = 'only a new budget needs them';
    const { status, body } = await put('new', { thresholds: [50] }, { differs });
    expect([status, body.type]).toEqual([400, problem('invalid-request')]);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(['#/limit', '#/period']);
  });
});

describe('409', () => {
  it('refuses the thousand and first', async () => {
    const stored = setup.database.db.collection<{ _id: string }>('budgets');
    const one = await stored.findOne({});
    const many = Array.from({ length: 1_000 }, (_, index) => ({ ...one, _id: `many-${index}` }));
    await stored.insertMany(many);
    const { status, body } = await setBudget(setup.service, 'too-many');
    await stored.deleteMany({ _id: { $in: many.map(({ _id }) => _id) } });
    expect([status, body.type]).toEqual([409, problem('too-many-budgets')]);
  });
});

describe('412', () => {
  it('keeps a budget that has changed', async () => {
    const { headers } = await setBudget(setup.service, 'kept');
    await setBudget(setup.service, 'kept', { limit: usd('2') });
    const known = { headers: { 'If-Match': headers['etag'] ?? '' } };
    const { status, body } = await setBudget(setup.service, 'kept', {}, known);
    expect([status, body.type]).toEqual([412, problem('precondition-failed')]);
    const missing = await setBudget(setup.service, 'missing', {}, { headers: { 'If-Match': '*' } });
    expect(missing.status).toBe(412);
  });

  it('creates only with If-None-Match: *', async () => {
    const isNew = { headers: { 'If-None-Match': '*' } };
    expect((await setBudget(setup.service, 'once-only', {}, isNew)).status).toBe(201);
    const { status, body } = await setBudget(setup.service, 'once-only', { limit: usd('2') }, isNew);
    expect([status, body.type]).toEqual([412, problem('precondition-failed')]);
    expect((await setup.service.call('GET', `${budgetsPath}/once-only`)).body.limit).toEqual(usd('1'));
  });
});

describe('422', () => {
  it('knows the time zones', async () => {
    const { status, body } = await setBudget(setup.service, 'nowhere', { time_zone: 'Europe/Amsterdm' });
    expect([status, body.type]).toEqual([422, problem('unknown-time-zone')]);
  });

  it('changes no read-only field', async () => {
    const { body } = await setBudget(setup.service, 'read-only');
    const wrong = await put('read-only', {
      name: 'other',
      id: randomUUID(),
      author: { type: 'key', id: 'x', name: 'X' },
    });
    expect([wrong.status, wrong.body.type]).toEqual([422, problem('read-only-field')]);
    expect(wrong.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '#/name',
      '#/id',
      '#/author',
    ]);
    const copied = await put('copied', body);
    expect([copied.status, copied.body.type]).toEqual([422, problem('read-only-field')]);
  });
});

describe('428', () => {
  it.each([
    ['the scope', { scope: {} }],
    ['the period', { period: 'week' }],
    ['the time zone', { time_zone: 'Europe/Amsterdam' }],
  ])('does not begin anew with another value of %s without If-Match', async (_, body) => {
    const terms = { scope: { tag: 'team=a' }, limit: usd('1'), period: 'day', time_zone: 'UTC' };
    await put('begun', terms);
    const refused = await put('begun', body);
    expect([refused.status, refused.body.type]).toEqual([428, problem('precondition-required')]);
    expect((await setup.service.call('GET', `${budgetsPath}/begun`)).body).toMatchObject(terms);
  });
});

/** Sends exactly this. */
function put(name: string, body: unknown, options: CallOptions = {}): Promise<Answer> {
  return setup.service.call('PUT', `${budgetsPath}/${name}`, { body, ...options });
}
