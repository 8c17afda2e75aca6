import { describe, expect, it } from '@jest/globals';
import { problem, setUp } from '../../support/per-operation.ts';
import { pricesPath, setPrice } from './prices-harness.ts';

const setup = setUp();

describe('200', () => {
  it('makes the price of the table count again', async () => {
    await setPrice(setup.service, 'echo-1');
    const path = `${pricesPath}/echo/echo-1`;
    const { status, body } = await setup.service.call('DELETE', path);
    expect([status, body]).toEqual([200, { ok: true }]);
    const found = await setup.service.call('GET', path);
    expect(found.body).toMatchObject({ source: 'table', rates: [{ source: 'table', input: '0' }] });
    expect(found.body).not.toHaveProperty('updated_at');
  });
});

describe('404', () => {
  it('knows no price of your own', async () => {
    for (const path of [`${pricesPath}/echo/echo-1`, `${pricesPath}/nobody/x`]) {
      const { status, body } = await setup.service.call('DELETE', path);
      expect([status, body.type]).toEqual([404, problem('price-not-found')]);
    }
  });
});

describe('412', () => {
  it('keeps a price that has changed', async () => {
    const { headers } = await setPrice(setup.service, 'changed');
    await setPrice(setup.service, 'changed', [{ input: '5', output: '5' }]);
    const path = `${pricesPath}/echo/changed`;
    const known = { 'If-Match': headers['etag'] ?? '' };
    const { status, body } = await setup.service.call('DELETE', path, { headers: known });
    expect([status, body.type]).toEqual([412, problem('precondition-failed')]);
    expect((await setup.service.call('GET', path)).body.rates[0].input).toBe('5');
  });
});
