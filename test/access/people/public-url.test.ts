import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestService, type TestService } from '../../support/service.ts';
import { openDatabaseOf } from '../../support/per-operation.ts';
import { callWith, cookieOf, signIn } from '../sessions/sessions-harness.ts';
import { setUpPeople } from './people-harness.ts';

describe('PUBLIC_URL', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ environment: { PUBLIC_URL: 'https://gateway.example.com' } });
  });
  afterAll(() => service.close());
  const page = { 'sec-fetch-site': 'same-origin', origin: 'https://gateway.example.com' };

  it('alone says which cookie a session has', async () => {
    const forged = { 'x-forwarded-proto': 'http', host: 'evil.example' };
    const answer = await signIn(service, { api_key: service.adminKey }, { ...page, ...forged });
    expect(answer.headers['set-cookie']).toMatch(/^__Host-prompt-gateway=.*; HttpOnly; Secure; SameSite=Strict$/);
    expect((await callWith(service, cookieOf(answer), 'GET', '/api/v1/whoami', { headers: page })).status).toBe(200);
  });

  it('alone says which pages are of the same origin', async () => {
    const cookie = cookieOf(await signIn(service, { api_key: service.adminKey }, page));
    const others = [service.url, 'http://gateway.example.com', 'https://gateway.example.com:8443', 'null'];
    for (const origin of others) {
      expect((await signIn(service, { api_key: service.adminKey }, { ...page, origin })).status).toBe(403);
      const headers = { host: new URL(service.url).host, origin };
      expect((await callWith(service, cookie, 'GET', '/api/v1/whoami', { headers })).status).toBe(401);
    }
    const referer = { referer: 'https://gateway.example.com/dashboard' };
    expect((await callWith(service, cookie, 'GET', '/api/v1/whoami', { headers: referer })).status).toBe(200);
  });
});

describe('the service', () => {
  const setup = setUpPeople();
  it('seals the ID token of a session in the database, where no code, state or secret is', async () => {
    const { browser } = await setup.signIn();
    const database = await openDatabaseOf(setup.service);
    const names = ['people', 'person_sessions', 'oidc_uses', 'audit_log'];
    const all = await Promise.all(names.map((name) => database.db.collection(name).find().toArray()));
    await database.close();
    expect(all[1]).toMatchObject([{ id_token: expect.stringMatching(/^v1\./) }]);
    expect(JSON.stringify(all)).not.toMatch(/eyJ[\w-]{10}|EXAMPLE-not-a-real-secret/);
    expect((await browser.call('GET', '/api/v1/whoami')).status).toBe(200);
  });

  it('needs no ID token where it only reads, and signs nobody in or out there', async () => {
    const { browser } = await setup.signIn();
    const reading = await setup.startAnother({ READ_ONLY: 'on' });
    const cookie = `prompt-gateway-session=${browser.cookies.get(setup.service.url)?.get('prompt-gateway-session')}`;
    expect((await callWith(reading, cookie)).body.type).toBe('person');
    const answer = await fetch(`${reading.url}/oidc/sign-in`, { redirect: 'manual' });
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('READ_ONLY=on')]);
    expect((await callWith(reading, cookie, 'DELETE', '/api/v1/session')).status).toBe(403);
    expect((await callWith(setup.service, cookie)).status).toBe(200);
  });

  it('lets the issuer send people back through a proxy that adds a path', async () => {
    const { origin } = new URL(setup.service.url);
    const below = await setup.startAnother({ BASE_PATH: '/gateway', PUBLIC_URL: `${origin}/gateway` });
    const answer = await fetch(`${below.url}/oidc/sign-in`, { redirect: 'manual' });
    const { searchParams } = new URL(answer.headers.get('location') ?? '');
    expect(searchParams.get('redirect_uri')).toBe(`${origin}/gateway/oidc/callback`);
  });

  it('takes a sign-in only by GET', async () => {
    for (const path of ['/oidc/sign-in', '/oidc/callback']) {
      expect((await fetch(setup.service.url + path, { method: 'POST' })).status).toBe(405);
    }
  });
});
