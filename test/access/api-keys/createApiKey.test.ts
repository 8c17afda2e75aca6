import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createMovableClock } from '../../support/clock.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { itGuards } from './api-keys-harness.ts';

const clock = createMovableClock();
let service: TestService;
beforeAll(async () => {
  service = await startTestService({ clock });
});
afterAll(() => service.close());

const path = '/api/v1/api-keys';
const body = { name: 'Helpdesk backend', scopes: ['prompts:read', 'prompts:invoke'] };
const create = (more: object): ReturnType<TestService['call']> =>
  service.call('POST', path, { body: { ...body, ...more } });

describe('201', () => {
  it('shows the key once, and does not store it', async () => {
    const created = await create({});
    expect(created.status).toBe(201);
    const { id, key, ...rest } = created.body;
    expect(key).toMatch(/^pgw_[0-9a-f]{32}_[A-Za-z0-9_-]{43}$/);
    expect(rest).toMatchObject(body);
    expect(created.headers['location']).toBe(`${path}/${id}`);
    const found = await service.call('GET', `${path}/${id}`);
    expect(JSON.stringify(found.body)).not.toContain(key.slice(-43));
    expect((await service.call('GET', '/api/v1/prompts', { key })).status).toBe(200);
  });

  it.each([
    ['2099-01-01T00:00:00.1230000001+00:00', '2099-01-01T00:00:00.124Z'],
    ['2099-12-31T23:59:59.999999999999999999999Z', '2100-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59-23:59', '9999-12-31T23:59:59.999Z'],
  ])('makes a key that ends at %s, shown as %s', async (expires_at, shown) => {
    const { status, body: created } = await create({ expires_at });
    expect([status, created.expires_at]).toEqual([201, shown]);
    expect((await service.call('GET', `${path}/${created.id}`)).body.expires_at).toBe(shown);
  });

  it('creates a key that ends at its expiry', async () => {
    const { body: created } = await create({ expires_at: new Date(clock.now().getTime() + 60_000).toISOString() });
    expect((await service.call('GET', '/api/v1/prompts', { key: created.key })).status).toBe(200);
    clock.advance(60_000);
    const late = await service.call('GET', '/api/v1/prompts', { key: created.key });
    expect([late.status, late.body.detail]).toEqual([401, 'The API key has expired.']);
  });
});

describe('a key that was created with another key', () => {
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  const makeManager = async (more: object = {}): Promise<{ id: string; key: string }> =>
    (await create({ scopes: ['keys:manage', 'prompts:read'], ...more })).body as { id: string; key: string };
  const createAs = (key: string, more: object = {}, options: object = {}): ReturnType<TestService['call']> =>
    service.call('POST', path, { body: { name: 'child', scopes: ['prompts:read'], ...more }, key, ...options });

  it('names the other key as its author', async () => {
    const manager = await makeManager();
    const byAdministrator = { type: 'key', id: 'administrator', name: 'administrator' };
    expect((await service.call('GET', `${path}/${manager.id}`)).body.author).toEqual(byAdministrator);
    const { body: child } = await createAs(manager.key);
    expect(child.author).toMatchObject({ type: 'key', id: manager.id });
    expect((await service.call('GET', `${path}/${child.id}`)).body.author).toEqual(child.author);
  });

  it('ends when its maker ends, or earlier if the request says so', async () => {
    const manager = await makeManager({ expires_at: soon });
    expect((await createAs(manager.key)).body.expires_at).toBe(soon);
    expect((await createAs(manager.key, { expires_at: soon })).body.expires_at).toBe(soon);
    const earlier = new Date(Date.parse(soon) - 60_000).toISOString();
    expect((await createAs(manager.key, { expires_at: earlier })).body.expires_at).toBe(earlier);
    const endless = await makeManager();
    expect((await createAs(endless.key)).body.expires_at).toBeUndefined();
  });

  it('400 when it would end after its maker', async () => {
    const manager = await makeManager({ expires_at: soon });
    const later = new Date(Date.parse(soon) + 1).toISOString();
    const differs = 'only the service knows when the maker ends';
    const refused = await createAs(manager.key, { expires_at: later }, { differs });
    expect(refused.status).toBe(400);
    expect(refused.body.errors).toEqual([
      { detail: `must not be later than the creating key expires, at ${soon}`, pointer: '#/expires_at' },
    ]);
  });

  it('403 when its maker is the last of a chain of sixteen keys', async () => {
    let { key } = await makeManager();
    // The administrator key is the first maker.
    for (let made = 1; made < 16; made += 1) {
      const { body: child } = await createAs(key, { scopes: ['keys:manage', 'prompts:read'] });
      ({ key } = child as { key: string });
    }
    const refused = await createAs(key);
    expect([refused.status, refused.body.type]).toEqual([403, 'urn:prompt-gateway:problem:no-authority']);
  });
});

describe('400', () => {
  it.each([
    ['no scope', { scopes: [] }],
    ['an unknown scope', { scopes: ['everything'] }],
    ['a scope twice', { scopes: ['prompts:read', 'prompts:read'] }],
    ['a date that does not exist', { expires_at: '2027-02-30T00:00:00Z' }],
    ['a time without offset', { expires_at: '2027-02-01T00:00:00' }],
    ['a leap second', { expires_at: '2027-02-01T23:59:60Z' }],
    ['an operator as name', { name: { $ne: null } }],
    ['an unknown member', { admin: true }],
  ])('%s', async (_name, more) => {
    expect((await create(more)).status).toBe(400);
  });

  it('an expiry in the past', async () => {
    const answer = await service.call('POST', path, {
      body: { ...body, expires_at: '2020-01-01T00:00:00Z' },
      differs: 'only the service knows what time it is',
    });
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toEqual([{ detail: 'must be in the future', pointer: '#/expires_at' }]);
  });

  it('malformed JSON', async () => {
    expect((await service.call('POST', path, { body: '{' })).status).toBe(400);
  });
});

describe('refusals', () => {
  itGuards(() => service, 'POST', path, { body });

  it('403 for scopes that the caller does not have', async () => {
    const { body: manager } = await create({ scopes: ['keys:manage', 'prompts:read'] });
    const asManager = (scopes: string[]): ReturnType<TestService['call']> =>
      service.call('POST', path, { body: { name: 'x', scopes }, key: manager.key });
    expect((await asManager(['prompts:read'])).status).toBe(201);
    const refused = await asManager(['prompts:read', 'prompts:write']);
    expect(refused.status).toBe(403);
    expect(refused.body.detail).toContain('prompts:write');
  });

  it('413 and 415', async () => {
    expect((await service.call('POST', path, { body: 'x'.repeat(1_100_000) })).status).toBe(413);
    expect((await service.call('POST', path, { body: 'x', headers: { 'content-type': 'text/plain' } })).status).toBe(
      415,
    );
  });
});
