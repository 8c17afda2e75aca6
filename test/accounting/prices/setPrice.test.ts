import { describe, expect, it } from '@jest/globals';
import { problem, setUp } from '../../support/per-operation.ts';
import { pricesPath, setPrice } from './prices-harness.ts';

const setup = setUp();

const full = { input: '2.5', cached_input: '0.25', cache_write: '3', cache_write_1h: '5', output: '10' };

describe('201', () => {
  it('sets a price, which is then found', async () => {
    const { status, headers, body } = await setPrice(setup.service, 'new', [full]);
    expect(status).toBe(201);
    expect(body).toEqual({
      provider: 'echo',
      model: 'new',
      source: 'operator',
      currency: 'USD',
      rates: [{ source: 'operator', ...full }],
      updated_at: expect.any(String),
      author: { type: 'key', id: 'administrator', name: 'administrator' },
    });
    expect(headers['location']).toBe(`${pricesPath}/echo/new`);
    const found = await setup.service.call('GET', headers['location'] ?? '');
    expect([found.body, found.headers['etag']]).toEqual([body, headers['etag']]);
  });

  it('takes the price of the input for what is left out, and that of a write for an hour in the cache', async () => {
    const { body } = await setPrice(setup.service, 'short', [{ input: '0.000000001', output: '0' }]);
    const same = { cached_input: '0.000000001', cache_write: '0.000000001', cache_write_1h: '0.000000001' };
    expect(body.rates).toEqual([{ source: 'operator', input: '0.000000001', ...same, output: '0' }]);
    const other = await setPrice(setup.service, 'short-2', [{ input: '1', cache_write: '2', output: '999999.999' }]);
    expect(other.body.rates).toMatchObject([{ cached_input: '1', cache_write_1h: '2', output: '999999.999' }]);
  });

  it('orders rates by date and number of input tokens, and leaves those of the table before them', async () => {
    const rates = [
      { from: '2030-01-01T00:00:00+01:00', ...full },
      { from: '2029-01-01T00:00:00Z', above_input_tokens: 200_000, ...full },
      { from: '2029-01-01T00:00:00Z', ...full },
    ];
    const { body } = await setPrice(setup.service, 'dated', rates);
    expect(body).toMatchObject({ source: 'operator', table_model: 'dated', table_match: 'exact' });
    expect(
      body.rates.map(({ source, from, above_input_tokens: above }: Record<string, unknown>) => [source, from, above]),
    ).toEqual([
      ['table', undefined, undefined],
      ['operator', '2029-01-01T00:00:00.000Z', undefined],
      ['operator', '2029-01-01T00:00:00.000Z', 200_000],
      ['operator', '2029-12-31T23:00:00.000Z', undefined],
    ]);
  });

  it('takes names of models with slashes', async () => {
    const { status, headers, body } = await setPrice(setup.service, 'meta%2Fllama-4:free');
    expect([status, body.model, headers['location']]).toEqual([
      201,
      'meta/llama-4:free',
      `${pricesPath}/echo/meta%2Fllama-4%3Afree`,
    ]);
    expect((await setup.service.call('GET', headers['location'] ?? '')).body).toEqual(body);
  });

  it('needs the scope prices:write, and records the key', async () => {
    const key = await setup.service.createKey('prices:write');
    const { status, body } = await setPrice(setup.service, 'by-key', undefined, { key });
    expect([status, body.author.name]).toEqual([201, 'test']);
    const reader = await setup.service.createKey('prices:read');
    expect((await setPrice(setup.service, 'by-key', undefined, { key: reader })).status).toBe(403);
  });
});

describe('200', () => {
  it('replaces the price', async () => {
    const first = await setPrice(setup.service, 'replaced', [full, { ...full, above_input_tokens: 5 }]);
    const headers = { 'If-Match': first.headers['etag'] ?? '' };
    const second = await setPrice(setup.service, 'replaced', [{ input: '3', output: '4' }], { headers });
    expect([second.status, second.body.rates.length, second.body.rates[0].input]).toEqual([200, 1, '3']);
    expect(second.headers['etag']).not.toBe(first.headers['etag']);
  });

  it('keeps the rates if they are left out', async () => {
    const first = await setPrice(setup.service, 'left-out', [full]);
    const again = await setup.service.call('PUT', `${pricesPath}/echo/left-out`, { body: {} });
    expect([again.status, again.body, again.headers['etag']]).toEqual([200, first.body, first.headers['etag']]);
  });

  it.each([
    ['of the table', 'google/gemini-2.5-pro'],
    ['of the table, by the hour', 'deepseek/deepseek-chat'],
    ['that is unknown', 'openai/my-own-model'],
    ['of the operator', 'echo/own'],
    ['of both', 'echo/mixed'],
  ])('takes back a price %s as GET returned it, and changes nothing', async (_, model) => {
    const path = `${pricesPath}/${model}`;
    if (model === 'echo/own') await setPrice(setup.service, 'own', [full]);
    if (model === 'echo/mixed') await setPrice(setup.service, 'mixed', [{ from: '2030-01-01T00:00:00Z', ...full }]);
    const { body, headers } = await setup.service.call('GET', path);
    const again = await setup.service.call('PUT', path, { body });
    expect([again.status, again.body, again.headers['etag']]).toEqual([200, body, headers['etag']]);
  });

  it('changes the rates of what GET returned', async () => {
    await setPrice(setup.service, 'edited', [{ from: '2030-01-01T00:00:00Z', ...full }]);
    const path = `${pricesPath}/echo/edited`;
    const { body } = await setup.service.call('GET', path);
    const rates = body.rates.map((rate: { source: string }) =>
      rate.source === 'operator' ? { ...rate, input: '3' } : rate,
    );
    const changed = await setup.service.call('PUT', path, { body: { ...body, rates } });
    expect([changed.status, changed.body.rates]).toEqual([200, rates]);
  });
});

describe('400', () => {
  it.each([
    [{}, 'input'],
    [{ input: 1, output: '2' }, 'input'],
    [{ input: '1e3', output: '2' }, 'input'],
    [{ input: '-1', output: '2' }, 'input'],
    [{ input: '1.0000000001', output: '2' }, 'input'],
    [{ input: '1', output: '2', from: '2026-01-01' }, 'from'],
    [{ input: '1', output: '2', above_input_tokens: 0 }, 'above_input_tokens'],
    [{ input: '1', output: '2', currency: 'EUR' }, 'currency'],
  ])('refuses the rate %j', async (rate, place) => {
    const { status, body } = await setPrice(setup.service, 'refused', [rate]);
    expect(status).toBe(400);
    expect(body.errors).toContainEqual({ detail: expect.any(String), pointer: `#/rates/0/${place}` });
  });

  it('does not remove the last rate', async () => {
    await setPrice(setup.service, 'last', [full]);
    const differs = 'only a price that is set needs a rate';
    const { status, body } = await setPrice(setup.service, 'last', [], { differs });
    expect([status, body.errors[0].pointer]).toEqual([400, '#/rates']);
  });
});

describe('404', () => {
  it('knows no such provider', async () => {
    const body = { rates: [full] };
    const answer = await setup.service.call('PUT', `${pricesPath}/nobody/x`, { body });
    expect([answer.status, answer.body.type]).toEqual([404, problem('price-not-found')]);
  });
});

describe('409', () => {
  it('allows 1,000 prices', async () => {
    const prices = setup.database.db.collection<{ _id: string; rates: unknown[] }>('model_prices');
    const first = await setPrice(setup.service, 'full');
    const document = await prices.findOne({ _id: 'echo/full' });
    const fill = Array.from({ length: 1_000 }, (_, index) => ({ ...document, _id: `echo/fill-${index}` }));
    await prices.insertMany(fill as { _id: string; rates: unknown[] }[]);
    const refused = await setPrice(setup.service, 'one-more');
    expect([refused.status, refused.body.type]).toEqual([409, problem('too-many-prices')]);
    const headers = { 'If-Match': first.headers['etag'] ?? '' };
    expect((await setPrice(setup.service, 'full', undefined, { headers })).status).toBe(200);
    await prices.deleteMany({ _id: { $gte: 'echo/fill-', $lt: 'echo/fill.' } });
  });
});

describe('412', () => {
  it('refuses a change of another state, also of one that was deleted and set again', async () => {
    const first = await setPrice(setup.service, 'raced');
    const headers = { 'If-Match': first.headers['etag'] ?? '' };
    await setup.service.call('DELETE', `${pricesPath}/echo/raced`);
    const deleted = await setPrice(setup.service, 'raced', undefined, { headers });
    expect([deleted.status, deleted.body.type]).toEqual([412, problem('precondition-failed')]);
    await setPrice(setup.service, 'raced');
    expect((await setPrice(setup.service, 'raced', undefined, { headers })).status).toBe(412);
  });

  it('lets one of two simultaneous changes win', async () => {
    const first = await setPrice(setup.service, 'contended');
    const headers = { 'If-Match': first.headers['etag'] ?? '' };
    const changes = ['5', '6', '7'].map((input) =>
      setPrice(setup.service, 'contended', [{ input, output: '1' }], { headers }),
    );
    const statuses = (await Promise.all(changes)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 412, 412]);
  });
});

describe('422', () => {
  it('changes no read-only field, and no rate of the table', async () => {
    await setPrice(setup.service, 'read-only', [{ from: '2030-01-01T00:00:00Z', ...full }]);
    const path = `${pricesPath}/echo/read-only`;
    const found = await setup.service.call('GET', path);
    const [table, own] = found.body.rates;
    const rates = [
      { ...table, input: '1' },
      { ...own, call: '0.01' },
    ];
    const { status, body } = await setup.service.call('PUT', path, { body: { rates, provider: 'openai' } });
    expect([status, body.type]).toEqual([422, problem('read-only-field')]);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '#/provider',
      '#/rates/0',
      '#/rates/1/call',
    ]);
    expect((await setup.service.call('GET', path)).body).toEqual(found.body);
  });
});
