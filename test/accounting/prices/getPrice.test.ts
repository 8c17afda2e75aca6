import { describe, expect, it } from '@jest/globals';
import { problem, setUp } from '../../support/per-operation.ts';
import { pricesPath } from './prices-harness.ts';

const setup = setUp();

describe('200', () => {
  it('has the rates of the table, with their conditions', async () => {
    const { status, body } = await setup.service.call('GET', `${pricesPath}/google/gemini-2.5-pro`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ source: 'table', table_model: 'gemini-2.5-pro', table_match: 'exact' });
    expect(body.rates).toMatchObject([
      { source: 'table', input: '1.25', output: '10' },
      { source: 'table', above_input_tokens: 200_000, input: '2.5', output: '15' },
    ]);
    const daily = await setup.service.call('GET', `${pricesPath}/deepseek/deepseek-chat`);
    expect(daily.body.rates).toMatchObject([
      { input: '0.135' },
      { input: '0.27', daily: { start: '00:30:00', end: '16:30:00' } },
    ]);
  });

  it('says that a price is that of the family, or unknown', async () => {
    const family = await setup.service.call('GET', `${pricesPath}/anthropic/claude-sonnet-4-5-20990101`);
    expect(family.body).toMatchObject({ source: 'table', table_match: 'prefix' });
    const unknown = await setup.service.call('GET', `${pricesPath}/openai/my-own-model`);
    const currency = 'USD';
    expect(unknown.body).toEqual({ provider: 'openai', model: 'my-own-model', source: 'none', currency, rates: [] });
  });

  it('needs the scope prices:read', async () => {
    const path = `${pricesPath}/echo/echo-1`;
    const [reader, writer] = [
      await setup.service.createKey('prices:read'),
      await setup.service.createKey('prices:write'),
    ];
    expect((await setup.service.call('GET', path, { key: reader })).status).toBe(200);
    expect((await setup.service.call('GET', path, { key: writer })).status).toBe(403);
  });
});

describe('304', () => {
  it('is answered for a price that has not changed', async () => {
    const path = `${pricesPath}/openai/gpt-4.1-mini`;
    const { headers } = await setup.service.call('GET', path);
    const again = await setup.service.call('GET', path, { headers: { 'If-None-Match': headers['etag'] ?? '' } });
    expect(again.status).toBe(304);
  });
});

describe('404', () => {
  it('knows no such provider', async () => {
    const { status, body } = await setup.service.call('GET', `${pricesPath}/nobody/gpt-4.1-mini`);
    expect([status, body.type]).toEqual([404, problem('price-not-found')]);
  });
});
