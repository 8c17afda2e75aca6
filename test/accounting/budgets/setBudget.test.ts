import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { problem, setUp } from '../../support/per-operation.ts';
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
      set_by: { id: 'administrator', name: 'administrator' },
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
    const other = await setBudget(setup.service, 'changed', { scope: { key_id: randomUUID() } });
    expect([other.status, other.body.limit]).toEqual([200, usd('1')]);
    expect(other.headers['etag']?.slice(0, 36)).not.toBe(lower.headers['etag']?.slice(0, 36));
  });
});

describe('400', () => {
  it.each([
    ['two scopes', { scope: { key_id: 'administrator', tag: 'team=checkout' } }],
    ['a negative limit', { limit: usd('-1') }],
    ['another currency', { limit: { amount: '1', currency: 'EUR' } }],
    ['another period', { period: 'year' }],
    ['no limit', { limit: undefined }],
  ])('refuses %s', async (_, body) => {
    const answer = await setBudget(setup.service, 'wrong', body);
    expect([answer.status, answer.body.type]).toEqual([400, problem('invalid-request')]);
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
});

describe('422', () => {
  it('knows the time zones', async () => {
    const { status, body } = await setBudget(setup.service, 'nowhere', { time_zone: 'Europe/Amsterdm' });
    expect([status, body.type]).toEqual([422, problem('unknown-timezone')]);
  });
});
