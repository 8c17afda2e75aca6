import { describe, expect, it } from '@jest/globals';
import { createMovableClock } from '../../support/clock.ts';
import { problem } from '../../support/per-operation.ts';
import { setUpPeople, type Browser } from './people-harness.ts';

const clock = createMovableClock();
const setup = setUpPeople({}, { clock });

const signIn = async (sub: string): Promise<{ browser: Browser; path: string }> => {
  const { browser, id } = await setup.signInAs(sub, 'devs');
  return { browser, path: `/api/v1/people/${id}` };
};

describe('200', () => {
  it('disables a person: the sessions end, at once here and within 5 seconds in other processes', async () => {
    const { browser, path } = await signIn('leaving');
    const other = await setup.startAnother();
    const headers = setup.pageHeaders(browser);
    const there = (): Promise<{ status: number }> => other.call('GET', '/api/v1/whoami', { key: null, headers });
    expect((await there()).status).toBe(200);
    const { status, body } = await setup.service.call('PUT', path, { body: { disabled: true } });
    expect([status, body.disabled]).toEqual([200, true]);
    expect((await browser.call('GET', '/api/v1/whoami')).status).toBe(401);
    clock.advance(5_000);
    expect((await there()).status).toBe(401);
    const { visited } = await setup.signIn();
    expect(visited.status).toBe(403);
    expect(visited.text).toContain('Your account is disabled in this service.');
  });

  it('enables a person again, who has to sign in', async () => {
    const { browser, path } = await signIn('returning');
    await setup.service.call('PUT', path, { body: { disabled: true } });
    const { body } = await setup.service.call('PUT', path, { body: { disabled: false } });
    expect(body.disabled).toBe(false);
    expect((await browser.call('GET', '/api/v1/whoami')).status).toBe(401);
    await setup.signIn(browser);
    expect((await browser.call('GET', '/api/v1/whoami')).status).toBe(200);
  });

  it('records who did it', async () => {
    const { path } = await signIn('recorded');
    await setup.service.call('PUT', path, { body: { disabled: true } });
    const { body } = await setup.service.call('GET', '/api/v1/audit-log?operation=updatePerson&limit=1');
    expect(body.data).toMatchObject([
      { resource_type: 'person', resource_name: 'recorded', before: { disabled: false }, after: { disabled: true } },
    ]);
  });
});

it('200: takes back what GET has answered, also with another time of the last sign-in', async () => {
  const { path } = await signIn('sent-back');
  const { body: person, headers } = await setup.service.call('GET', path);
  const body = { ...person, disabled: true, last_sign_in_at: '2026-01-01T00:00:00Z' };
  const answer = await setup.service.call('PUT', path, { body, headers: { 'If-Match': headers['etag'] ?? '' } });
  expect([answer.status, answer.body]).toEqual([200, { ...person, disabled: true }]);
  const { status, body: unchanged } = await setup.service.call('PUT', path, { body: {} });
  expect([status, unchanged]).toEqual([200, answer.body]);
});

describe('422', () => {
  it.each([{ roles: ['administrator'] }, { name: 'Somebody else' }, { email: 'ada@example.com' }])(
    'is the answer to %j, which the issuer says',
    async (change) => {
      const { path } = await signIn('fixed');
      const { status, body } = await setup.service.call('PUT', path, { body: change });
      expect([status, body.type]).toEqual([422, problem('read-only-field')]);
      expect(body.errors).toMatchObject([{ pointer: `#/${Object.keys(change)[0]}` }]);
    },
  );
});

describe('412', () => {
  it('is the answer if the person has changed since then', async () => {
    const { path } = await signIn('changing');
    const { headers } = await setup.service.call('GET', path);
    await setup.service.call('PUT', path, { body: { disabled: true } });
    const late = await setup.service.call('PUT', path, {
      body: { disabled: true },
      headers: { 'If-Match': headers['etag'] ?? '' },
    });
    expect([late.status, late.body.type]).toEqual([412, problem('precondition-failed')]);
  });
});

describe('403', () => {
  it('is the answer to the person, and to each key that it led to', async () => {
    setup.issuer.account = { sub: 'chief', name: 'Chief', groups: ['admins'] };
    const { browser } = await setup.signIn();
    const { body: me } = await browser.call('GET', '/api/v1/whoami');
    const path = `/api/v1/people/${String(me.id)}`;
    const request = { name: 'way back', scopes: ['people:manage', 'keys:manage'] };
    const { body: own } = await browser.call('POST', '/api/v1/api-keys', { body: request });
    const { body: further } = await setup.service.call('POST', '/api/v1/api-keys', {
      body: request,
      key: String(own.key),
    });
    const refused = await browser.call('PUT', path, { body: { disabled: true } });
    expect([refused.status, refused.body.type]).toEqual([403, problem('no-authority')]);
    expect((await setup.service.call('PUT', path, { body: { disabled: true } })).status).toBe(200);
    for (const key of [String(own.key), String(further.key)]) {
      const { status, body } = await setup.service.call('PUT', path, { body: { disabled: false }, key });
      expect([status, body.type]).toEqual([403, problem('no-authority')]);
    }
  });
});
