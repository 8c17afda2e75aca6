import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { allScopes } from '../../../src/access/api-keys/feature.ts';
import { problem, startAnother } from '../../support/per-operation.ts';
import { createMovableClock } from '../../support/clock.ts';
import { startTestService, type Answer, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { callWith, cookieFor } from '../sessions/sessions-harness.ts';
import { itGuards } from './api-keys-harness.ts';

const clock = createMovableClock();
let service: TestService;
let other: TestService;
beforeAll(async () => {
  service = await startTestService({ clock });
  other = await startAnother(service, {}, { clock });
});
afterAll(() => Promise.all([service.close(), other.close()]));

const path = '/api/v1/api-keys';
interface Made {
  readonly id: string;
  readonly key: string;
}

async function make(more: object = {}, maker = service.adminKey): Promise<Made> {
  const body = { name: 'reader', scopes: ['prompts:read'], ...more };
  const created = await service.call('POST', path, { body, key: maker });
  expect(created.status).toBe(201);
  return created.body as Made;
}
const manager = (maker?: string, more: object = {}): Promise<Made> =>
  make({ scopes: ['keys:manage', 'prompts:read'], ...more }, maker);
const update = (
  { id }: Made,
  body: object,
  options: { key?: string; headers?: Record<string, string> } = {},
): Promise<Answer> => service.call('PUT', `${path}/${id}`, { body, ...options });
/** What holds for a key. */
const limitsOf = async ({ key }: Made, where = service): Promise<unknown> =>
  (await where.call('GET', '/api/v1/whoami', { key })).body.limits;

const limits = {
  prompts: ['6f1c0a52-3f0e-4b7e-9d5a-1c2b7f3e8a90'],
  models: ['openai/gpt-5*', 'openrouter/meta-llama/*', 'echo/echo-1'],
  max_output_tokens: 1000,
  requests_per_minute: 60,
  tags: { team: 'checkout' },
};

describe('200', () => {
  it('changes name and limits, and keeps what is left out', async () => {
    const made = await make();
    const changed = await update(made, { limits });
    expect([changed.status, changed.body.limits, changed.body.name]).toEqual([200, limits, 'reader']);
    const renamed = await update(made, { name: 'writer' });
    expect([renamed.body.limits, renamed.body.name]).toEqual([limits, 'writer']);
    const { body, headers } = await service.call('GET', `${path}/${made.id}`);
    expect(body).toEqual(renamed.body);
    expect(headers['etag']).toBe(renamed.headers['etag']);
    const listed = await service.call('GET', path);
    expect(listed.body.data.find(({ id }: Made) => id === made.id).limits).toEqual(limits);
  });

  it('replaces limits as a whole, and removes them with null', async () => {
    const made = await make({ limits });
    expect((await update(made, { limits: { max_output_tokens: 7 } })).body.limits).toEqual({ max_output_tokens: 7 });
    expect(await limitsOf(made)).toEqual({ max_output_tokens: 7 });
    expect((await update(made, { limits: null })).body.limits).toBeUndefined();
    expect(await limitsOf(made)).toBeUndefined();
  });

  it('takes back what GET returned', async () => {
    const made = await make({ limits });
    await service.call('GET', '/api/v1/prompts', { key: made.key });
    // Its use is written down later.
    const { body, headers } = await until(
      () => service.call('GET', `${path}/${made.id}`),
      ({ body: key }) => key.last_used_at !== undefined,
    );
    const answer = await update(made, { ...body, last_used_at: '2026-01-01T00:00:00Z', status: 'expired' });
    expect([answer.status, answer.body.limits, answer.headers['etag']]).toEqual([200, limits, headers['etag']]);
  });

  it('holds at once in this process, in sessions too, and in others within five seconds', async () => {
    const made = await make();
    const cookie = await cookieFor(service, made.key);
    expect([await limitsOf(made), await limitsOf(made, other)]).toEqual([undefined, undefined]);
    expect((await callWith(service, cookie)).body.limits).toBeUndefined();
    await update(made, { limits: { models: ['echo/*'] } });
    expect(await limitsOf(made)).toEqual({ models: ['echo/*'] });
    expect((await callWith(service, cookie)).body.limits).toEqual({ models: ['echo/*'] });
    clock.advance(5_000);
    expect(await limitsOf(made, other)).toEqual({ models: ['echo/*'] });
  });

  it('holds for the keys that a limited key has led to', async () => {
    const top = await manager();
    const middle = await manager(top.key, { limits: { models: ['openai/gpt-5*', 'echo/*'], tags: { team: 'a' } } });
    const bottom = await make(
      { limits: { models: ['openai/*', 'groq/x'], tags: { team: 'b', env: 'c' } } },
      middle.key,
    );
    expect(await limitsOf(bottom)).toEqual({ models: ['openai/gpt-5*'], tags: { team: 'a', env: 'c' } });
    const [one = '', two = ''] = limits.prompts.concat('6f1c0a52-3f0e-4b7e-9d5a-1c2b7f3e8a91');
    await update(bottom, { limits: { prompts: [one, two], max_output_tokens: 50, requests_per_minute: 9 } });
    expect(await limitsOf(bottom)).toMatchObject({ prompts: [one, two], max_output_tokens: 50 });
    await update(top, { limits: { prompts: [two], max_output_tokens: 20, requests_per_minute: 90 } });
    expect(await limitsOf(bottom)).toEqual({
      prompts: [two],
      models: ['openai/gpt-5*', 'echo/*'],
      max_output_tokens: 20,
      requests_per_minute: 9,
      tags: { team: 'a' },
    });
    await service.call('POST', `${path}/${top.id}/revoke`);
    expect(await limitsOf(bottom)).toMatchObject({ prompts: [two] });
  });

  it('lets a descendant of a limited key reach nothing if the two have nothing in common', async () => {
    const top = await manager(undefined, { limits: { models: ['openai/gpt-5'] } });
    const bottom = await make({ limits: { models: ['openai/gpt-5-mini'] } }, top.key);
    expect(await limitsOf(bottom)).toEqual({ models: [] });
  });
});

describe('400', () => {
  it.each([
    ['no limit at all', {}],
    ['an unknown limit', { max_tokens: 5 }],
    ['an empty list of prompts', { prompts: [] }],
    ['a slug', { prompts: ['summarise-support-ticket'] }],
    ['an empty list of models', { models: [] }],
    ['every provider', { models: ['*'] }],
    ['a part of a provider', { models: ['open*/gpt-5'] }],
    ['a star in the middle', { models: ['openai/gpt-*-mini'] }],
    ['a model without provider', { models: ['gpt-5'] }],
    ['no model', { models: ['openai/'] }],
    ['a model twice', { models: ['openai/*', 'openai/*'] }],
    ['no token', { max_output_tokens: 0 }],
    ['half a token', { max_output_tokens: 1.5 }],
    ['no request', { requests_per_minute: 0 }],
    ['an operator as name of a tag', { tags: { $set: 'x' } }],
    ['a comma in a tag', { tags: { team: 'a,b' } }],
    ['a line break in a tag', { tags: { team: 'a\nb' } }],
    ['nine tags', { tags: Object.fromEntries([...'abcdefghi'].map((name) => [name, 'x'])) }],
  ])('%s', async (_name, wrong) => {
    const made = await make();
    const answers = [
      await update(made, { limits: wrong }),
      await service.call('POST', path, { body: { name: 'x', scopes: ['prompts:read'], limits: wrong } }),
    ];
    expect(answers.map(({ status, body }) => [status, body.type])).toEqual([
      [400, problem('invalid-request')],
      [400, problem('invalid-request')],
    ]);
    expect(await limitsOf(made)).toBeUndefined();
  });
});

describe('403', () => {
  const refused = async (answer: Promise<Answer>): Promise<void> => {
    const { status, body } = await answer;
    expect([status, body.type]).toEqual([403, problem('no-authority')]);
  };

  it('for its own limits, and those of the keys that led to it', async () => {
    const top = await manager(undefined, { limits: { requests_per_minute: 100 } });
    const bottom = await manager(top.key);
    for (const key of [top.key, bottom.key]) {
      for (const change of [{ limits: null }, { limits: { requests_per_minute: 99 } }, { name: 'mine' }]) {
        await refused(update(top, change, { key }));
      }
    }
    await refused(update(bottom, { limits: null }, { key: bottom.key }));
    expect((await update(bottom, { limits: { max_output_tokens: 9 } }, { key: top.key })).status).toBe(200);
  });

  it('for a key with every scope whose maker has limits: it is no administrator key', async () => {
    const top = await make({ scopes: allScopes, limits: { models: ['echo/*'] } });
    const bottom = await make({ scopes: allScopes }, top.key);
    const stranger = await make({ limits: { models: ['echo/*'] } });
    for (const { key } of [top, bottom]) {
      expect((await service.call('GET', '/api/v1/whoami', { key })).body.administrator).toBe(false);
      await refused(update(stranger, { limits: null }, { key }));
      await refused(service.call('POST', `${path}/${stranger.id}/revoke`, { key }));
    }
  });

  it('for an administrator key that is limited now, also by a key that it has created before', async () => {
    const top = await make({ scopes: allScopes });
    const bottom = await make({ scopes: allScopes }, top.key);
    expect((await service.call('GET', '/api/v1/whoami', { key: bottom.key })).body.administrator).toBe(true);
    // An administrator key cannot change those that led to it, limited or not.
    await refused(update(top, { limits: { models: ['echo/*'] } }, { key: bottom.key }));
    await update(top, { limits: { models: ['echo/*'] } });
    await refused(update(top, { limits: null }, { key: bottom.key }));
    const sister = await make({ scopes: allScopes });
    await refused(update(sister, { limits: { max_output_tokens: 1 } }, { key: bottom.key }));
    expect((await update(top, { limits: null }, { key: sister.key })).status).toBe(200);
  });
});

describe('404', () => {
  it('for an unknown id', async () => {
    const { status, body } = await update({ id: '00000000-0000-4000-8000-00000000dead', key: '' }, { name: 'x' });
    expect([status, body.type]).toEqual([404, problem('api-key-not-found')]);
  });
});

describe('412', () => {
  it('if the key has changed since', async () => {
    const made = await make();
    const { headers } = await service.call('GET', `${path}/${made.id}`);
    const etag = { 'if-match': headers['etag'] ?? '' };
    expect((await update(made, { name: 'first' }, { headers: etag })).status).toBe(200);
    const late = await update(made, { name: 'second' }, { headers: etag });
    expect([late.status, late.body.type]).toEqual([412, problem('precondition-failed')]);
  });
});

describe('422', () => {
  it.each([
    { scopes: ['keys:manage'] },
    { expires_at: '2099-01-01T00:00:00Z' },
    { author: { type: 'key', id: 'a', name: 'b' } },
  ])('for %j, which cannot be changed', async (change) => {
    const made = await make();
    const { status, body } = await update(made, change);
    expect([status, body.type]).toEqual([422, problem('read-only-field')]);
    expect(body.errors).toMatchObject([{ pointer: `#/${Object.keys(change)[0]}` }]);
  });
});

describe('refusals', () => {
  itGuards(() => service, 'PUT', `${path}/00000000-0000-4000-8000-00000000dead`, { body: { name: 'x' } });
});
