import { describe, expect, it } from '@jest/globals';
import type { Collection } from 'mongodb';
import type { Database } from '../../../src/storage/db/client.ts';
import { fingerprintOf } from '../../../src/http/idempotency/idempotency.ts';
import { createLocation, unknownId, uuidForm } from '../../orders/catalog/catalog-harness.ts';
import { problem } from '../../support/per-operation.ts';
import type { Answer } from '../../support/service.ts';
import { createIntegration, integrationBody, mask, path, secret, setUpIntegrations } from './integrations-harness.ts';

const setup = setUpIntegrations();
const post = (members: Record<string, unknown> = {}): Promise<Answer> =>
  setup.service.call('POST', path, { body: integrationBody(members) });

const notPublic =
  'points to an address that is not public; the operator can allow its network with WEBHOOK_ALLOWED_NETWORKS';

/** The stored document of an integration, as text. */
const stored = async (id: string): Promise<string> =>
  JSON.stringify(await setup.database.db.collection<{ _id: string }>('integrations').findOne({ _id: id }));

interface KeptRecord {
  _id: string;
  fingerprint: string;
  given_up?: boolean;
  answer?: { headers: [string, string][] };
}
const recordsOf = ({ db }: Database): Collection<KeptRecord> => db.collection('idempotency_keys');

describe('201', () => {
  it('creates an active integration', async () => {
    const { status, body, headers } = await post({ headers: { 'X-Kitchen': 'ground-floor' }, unsigned: true });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(uuidForm),
      name: 'Kitchen display',
      url: 'https://kitchen.example.com/hooks/orders',
      event_types: ['ORDER_PLACED', 'FISCAL_DAY_END'],
      headers: { 'X-Kitchen': 'ground-floor' },
      signed: false,
      status: 'active',
      consecutive_failures: 0,
      created_at: body.created_at,
      updated_at: body.created_at,
    });
    expect(headers['location']).toBe(`${path}/${body.id}`);
    const got = await setup.service.call('GET', headers['location'] ?? '');
    expect(got.body).toEqual(body);
    expect(got.headers['etag']).toBe(headers['etag']);
  });

  it('limits it to the given locations; an empty list means all', async () => {
    const { id } = await createLocation(setup.service);
    expect((await post({ location_ids: [id] })).body.location_ids).toEqual([id]);
    expect((await post({ location_ids: [] })).body).not.toHaveProperty('location_ids');
  });

  it('has a filter; an empty one means all events', async () => {
    const filter = {
      'data.total': { $gte: 10_000 },
      'data.currency': 'EUR',
      type: { $in: ['ORDER_PLACED', 'FISCAL_DAY_END'] },
    };
    const { body } = await post({ filter, unsigned: true });
    expect(body.filter).toEqual(filter);
    expect((await setup.service.call('GET', `${path}/${body.id}`)).body).toEqual(body);
    expect((await post({ filter: {} })).body).not.toHaveProperty('filter');
  });

  it('creates a secret, and shows it only once, in both forms', async () => {
    const { body } = await post({});
    expect(body.signed).toBe(true);
    expect(body.secret.value).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(body.secret.standard_webhooks).toBe(`whsec_${Buffer.from(body.secret.value).toString('base64')}`);
    const other = await post({});
    expect(other.body.secret.value).not.toBe(body.secret.value);
    const got = await setup.service.call('GET', `${path}/${body.id}`);
    expect(got.body).not.toHaveProperty('secret');
    expect(got.text).not.toContain(body.secret.value);
    expect(await stored(body.id)).not.toContain(body.secret.value);
  });

  it('creates a secret unless the request says that deliveries are unsigned', async () => {
    const { body } = await post({});
    expect(body).toMatchObject({ signed: true, secret: { value: expect.any(String) } });
    const unsigned = await post({ unsigned: true });
    expect(unsigned.body.signed).toBe(false);
    expect(unsigned.body).not.toHaveProperty('secret');
  });

  it('accepts a secret in the form of Standard Webhooks', async () => {
    for (const length of [24, 25, 26, 63, 64]) {
      const { status, body } = await post({ secret: `whsec_${Buffer.alloc(length, 0xff).toString('base64')}` });
      expect([length, status, body.signed]).toEqual([length, 201, true]);
      expect(body).not.toHaveProperty('secret');
    }
  });

  it('accepts a secret of the caller, and never shows it', async () => {
    const { body, text } = await post({ secret, unsigned: false });
    expect(body.signed).toBe(true);
    expect(body).not.toHaveProperty('secret');
    expect(text).not.toContain(secret);
    expect(await stored(body.id)).not.toContain(secret);
  });

  it('masks header values that look like credentials, and encrypts all values', async () => {
    const headers = {
      'X-Kitchen': 'ground-floor',
      Authorization: 'EXAMPLE',
      'X-Api-Key': 'EXAMPLE-1',
      'X-Forwarded-As': 'Bearer EXAMPLE-2',
      'X-Blob': 'EXAMPLE3EXAMPLE3EXAMPLE3EXAMPLE3',
    };
    const { body } = await post({ headers });
    expect(body.headers).toEqual({
      'X-Kitchen': 'ground-floor',
      Authorization: mask,
      'X-Api-Key': mask,
      'X-Forwarded-As': mask,
      'X-Blob': mask,
    });
    const document = await stored(body.id);
    for (const value of Object.values(headers)) expect(document).not.toContain(value);
  });

  it('keeps a header with a name that is special in JavaScript', async () => {
    const { body } = await setup.service.call('POST', path, {
      body: JSON.stringify(integrationBody({ headers: {} })).replace(
        '"headers":{}',
        '"headers":{"__proto__":"a","constructor":"b"}',
      ),
    });
    expect(Object.entries(body.headers as object)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });

  it('writes the URL as the WHATWG parser does', async () => {
    for (const [sent, stored] of [
      ['HTTPS://Kitchen.Example.com:443/a/../b?c=d', 'https://kitchen.example.com/b?c=d'],
      ['Http://kitchen.example.com', 'http://kitchen.example.com/'],
      ['http://bücher.example/', 'http://xn--bcher-kva.example/'],
      ['https://例え.テスト/注文?品=茶', 'https://xn--r8jz45g.xn--zckzah/%E6%B3%A8%E6%96%87?%E5%93%81=%E8%8C%B6'],
      ['http://kitchen.example.com/hook?', 'http://kitchen.example.com/hook?'],
    ]) {
      const { status, body } = await post({ url: sent });
      expect([status, body.url]).toEqual([201, stored]);
    }
  });

  it('allows addresses in networks that the operator trusts', async () => {
    expect((await post({ url: 'http://127.0.0.1:9999/hook' })).status).toBe(201);
  });
});

describe('a creation that is repeated with its Idempotency-Key', () => {
  const repeat = (key: string, members: Record<string, unknown>): Promise<Answer> =>
    setup.service.call('POST', path, { body: integrationBody(members), headers: { 'Idempotency-Key': key } });
  const members = { headers: { Authorization: 'hunter2' } };
  const records = (): ReturnType<typeof recordsOf> => recordsOf(setup.database);

  it('returns the secret again, which is stored encrypted', async () => {
    const first = await repeat('screen', members);
    const { body, text, headers } = await repeat('screen', members);
    expect([text, headers['idempotency-replayed']]).toEqual([first.text, 'true']);
    expect(body.secret.value).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const kept = JSON.stringify(await records().find().toArray());
    expect(kept).not.toContain(body.secret.value);
    expect(kept).not.toContain('Kitchen display');
    const list = await setup.service.call('GET', `${path}?limit=2`);
    expect((list.body.data as { id: string }[]).filter(({ id }) => id === body.id)).toHaveLength(1);
  });

  it('stores no hash from which a header could be guessed', async () => {
    await repeat('hashed', members);
    const kept = await records().find().toArray();
    expect(kept.map(({ fingerprint }) => fingerprint)).not.toContain(fingerprintOf(integrationBody(members)));
  });

  it('returns the stored secret if the first attempt crashed after storing it', async () => {
    const first = await repeat('died', members);
    const died = { $set: { given_up: true }, $unset: { answer: '' } } as const;
    await records().updateMany({ 'answer.headers': ['location', `${path}/${first.body.id}`] }, died);
    const again = await repeat('died', members);
    expect(again.headers).not.toHaveProperty('idempotency-replayed');
    expect(again.body).toEqual(first.body);
  });

  it('is refused with another body', async () => {
    await repeat('other', members);
    const { status, body } = await repeat('other', { ...members, name: 'Bar display' });
    expect([status, body.type]).toEqual([422, problem('idempotency-key-reused')]);
  });
});

/** As other programs print it. */
const standardSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

describe('400', () => {
  it.each([
    ['#/name', { name: ' ' }],
    ['#/url', { url: 'ftp://kitchen.example.com/' }],
    ['#/url', { url: 'https://user:pass@kitchen.example.com/' }],
    ['#/url', { url: 'https://kitchen.example.com/#fragment' }],
    ['#/event_types', { event_types: [] }],
    ['#/event_types', { event_types: ['ORDER_PLACED', 'ORDER_PLACED'] }],
    ['#/event_types/0', { event_types: ['TEST'] }],
    ['#/event_types/0', { event_types: ['*'] }],
    ['#/headers/X-Kitchen', { headers: { 'X-Kitchen': 'ground\r\nX-Other: floor' } }],
    ['#/headers/X-Kitchen', { headers: { 'X-Kitchen': ' ground' } }],
    ['#/headers/X-Kitchen', { headers: { 'X-Kitchen': 'étage' } }],
    ['#/headers/X Kitchen', { headers: { 'X Kitchen': 'ground' } }],
    ['#/headers', { headers: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`X-${index}`, 'a'])) }],
    ['#/secret', { secret: 'too short' }],
    ['#/secret', { secret: 'é'.repeat(30) }],
    ['#/secret', { secret: `whsec_${Buffer.alloc(23).toString('base64')}` }],
    ['#/secret', { secret: `whsec_${Buffer.alloc(65).toString('base64')}` }],
    ['#/secret', { secret: `whsec_${'a'.repeat(33)}` }],
    ['#/secret', { secret: `whsec_${'-'.repeat(40)}` }],
    ...[
      `v1,${standardSecret}`,
      `v1a,${'a'.repeat(40)}`,
      `"${standardSecret}"`,
      ` ${standardSecret}`,
      `${standardSecret} `,
      `WHSEC_${'a'.repeat(40)}`,
      `SECRET=${standardSecret}`,
      `whsk_${'a'.repeat(40)}`,
      `whpk_${'a'.repeat(40)}`,
      `${'a'.repeat(40)} `,
    ].map((secret) => ['#/secret', { secret }] as const),
    ['#/url', { url: ' https://kitchen.example.com/' }],
    ['#/url', { url: 'https://kitchen.example.com/a b' }],
    ['#/url', { url: 'https:\\\\kitchen.example.com\\hook' }],
    ['#/status', { status: 'paused' }],
    ['#/filter/data.total', { filter: { 'data.total': { $gt: 1 } } }],
    ['#/filter/data.total', { filter: { 'data.total': {} } }],
    ['#/filter/data.total', { filter: { 'data.total': null } }],
    ['#/filter/data.total', { filter: { 'data.total': [1] } }],
    ['#/filter/data.total/$in', { filter: { 'data.total': { $in: [] } } }],
    ['#/filter/data.total/$in', { filter: { 'data.total': { $in: Array.from({ length: 51 }, (_, each) => each) } } }],
    ['#/filter/__proto__', { filter: JSON.parse('{"__proto__": 1}') as object }],
    ['#/filter/data..total', { filter: { 'data..total': 1 } }],
    ['#/filter', { filter: Object.fromEntries(Array.from({ length: 11 }, (_, each) => [`data.a${each}`, 1])) }],
  ])('names %s of %j', async (pointer, members) => {
    const { status, body } = await post(members);
    expect(status).toBe(400);
    expect(body.type).toBe(problem('invalid-request'));
    expect((body.errors as { pointer: string }[]).map((error) => error.pointer)).toContain(pointer);
  });

  it.each([
    [{ secret, unsigned: true }, 'cannot be combined with secret', '#/unsigned'],
    [{ generate_secret: true }, 'is unknown; did you mean secret?', '#/generate_secret'],
  ])('refuses %j', async (members, detail, pointer) => {
    const { status, body } = await post(members);
    expect([status, body.errors]).toEqual([400, [{ detail, pointer }]]);
  });
});

describe('a URL with credentials', () => {
  it.each([
    ['?key=1&shop=4', `?key=${mask}&shop=4`],
    ['?code=a%20b', `?code=${mask}`],
    ['?X-Amz-Signature=0', `?X-Amz-Signature=${mask}`],
    ['?id=Zm9vYmFyMTIzNDU2Nzg5MGFiY2Rl', `?id=${mask}`],
    ['?Zm9vYmFyMTIzNDU2Nzg5MGFiY2Rl', `?${mask}`],
    ['?token=&shop&=4&q=a=b', '?token=&shop&=4&q=a=b'],
  ])('shows no values that look like some: %s', async (query, shown) => {
    const url = 'https://kitchen.example.com/hook';
    const { path: created, body } = await createIntegration(setup.service, { url: url + query });
    expect(body.url).toBe(url + shown);
    expect((await setup.service.call('GET', created)).body.url).toBe(url + shown);
    const list = await setup.service.call('GET', `${path}?limit=1`);
    expect(list.body.data[0].url).toBe(url + shown);
  });

  it('must not exceed the length of a URL when it is masked', async () => {
    const url = `https://kitchen.example.com/?${'key=1&'.repeat(300)}`;
    const { status, body } = await setup.service.call('POST', path, { body: integrationBody({ url }) });
    expect([status, body.type]).toEqual([422, problem('target-not-allowed')]);
  });
});

describe('422', () => {
  it('names each location that does not exist', async () => {
    const { id } = await createLocation(setup.service);
    const { status, body } = await post({ location_ids: [unknownId, id] });
    expect(status).toBe(422);
    expect(body).toMatchObject({ type: problem('unknown-location'), errors: [{ pointer: '#/location_ids/0' }] });
    expect(body.errors).toHaveLength(1);
  });

  it('refuses a masked value in the URL', async () => {
    const url = `https://kitchen.example.com/?token=${mask}`;
    const { status, body } = await setup.service.call('POST', path, { body: integrationBody({ url }) });
    expect([status, body.type]).toEqual([422, problem('target-not-allowed')]);
  });

  it.each([
    'http://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://192.168.1.1:8080/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[64:ff9b::a00:1]/',
    'http://[fd00::1]/',
    'http://[2002:a00:1::]/',
    'http://0xa000001/',
    'http://167772161/',
    'http://012.1/',
    'http://0/',
  ])('refuses the address of %s', async (url) => {
    const { status, body } = await post({ url });
    expect(status).toBe(422);
    expect(body.type).toBe(problem('target-not-allowed'));
    expect(body.errors).toEqual([{ detail: notPublic, pointer: '#/url' }]);
  });

  it('refuses an invalid URL, and a URL that becomes too long', async () => {
    for (const url of [
      'http://kitchen.example.com:99999/',
      'http://[::1/',
      'http://a%00b/',
      "http://kitchen.example.com!$&'()*+,;=~/",
      'http://a!b/',
      `http://kitchen.example.com/?${"'".repeat(1_000)}`,
    ]) {
      const { status, body } = await post({ url });
      expect([status, body.type]).toEqual([422, problem('target-not-allowed')]);
    }
  });

  it('refuses a filter that is longer than all of its parts may be', async () => {
    const filter = { 'data.spotName': { $in: Array.from({ length: 21 }, () => 'a'.repeat(200)) } };
    const { status, body } = await post({ event_types: ['ORDER_PLACED'], filter });
    expect([status, body.type]).toEqual([422, problem('filter-not-applicable')]);
    expect(body.errors).toEqual([{ detail: 'has more than 4,000 characters as JSON', pointer: '#/filter' }]);
  });

  it('names each path of a filter that a type does not have, and each value that it cannot be', async () => {
    const { status, body } = await post({
      event_types: ['ORDER_PLACED', 'FISCAL_DAY_END'],
      filter: { 'data.spotName': 'Bar', 'data.total': { $gte: '10000' }, 'data.constructor': { $exists: true } },
    });
    expect([status, body.type]).toEqual([422, problem('filter-not-applicable')]);
    const total = (type: string) => ({
      detail: `data.total is a number in the payload of ${type}, and cannot be compared with a string`,
      pointer: '#/filter/data.total/$gte',
    });
    const missing = (name: string, type: string) => ({
      detail: `${name} is not in the payload of ${type}`,
      pointer: `#/filter/${name}`,
    });
    expect(body.errors).toEqual([
      total('ORDER_PLACED'),
      missing('data.constructor', 'ORDER_PLACED'),
      missing('data.spotName', 'FISCAL_DAY_END'),
      total('FISCAL_DAY_END'),
      missing('data.constructor', 'FISCAL_DAY_END'),
    ]);
  });

  it('names each operator of a filter that can match no event', async () => {
    const refused = async (filter: object): Promise<unknown> => {
      const { status, body } = await post({ event_types: ['ORDER_PLACED', 'ORDER_COMPLETED'], filter });
      expect([status, body.type]).toEqual([422, problem('filter-not-applicable')]);
      return body.errors;
    };
    expect(
      await refused({ 'data.total': { $gte: 2, $lte: 1 }, createdAt: { $exists: false, $gte: '2026' }, type: 'TEST' }),
    ).toEqual([
      { detail: 'data.total has a $gte that $lte excludes', pointer: '#/filter/data.total/$gte' },
      {
        detail: 'createdAt has $exists: false and operators that match only what exists',
        pointer: '#/filter/createdAt/$exists',
      },
      { detail: 'type is always "ORDER_PLACED" in the payload of ORDER_PLACED', pointer: '#/filter/type' },
      { detail: 'type is always "ORDER_COMPLETED" in the payload of ORDER_COMPLETED', pointer: '#/filter/type' },
    ]);
    expect(await refused({ type: { $in: ['ORDER_PLACED', 'TEST'] } })).toEqual([
      { detail: 'type is always "ORDER_COMPLETED" in the payload of ORDER_COMPLETED', pointer: '#/filter/type/$in' },
    ]);
  });

  it.each([
    ...['Host', 'content-length', 'Content-Encoding', 'Transfer-Encoding', 'CONNECTION', 'Expect', 'TE', 'Trailer'],
    ...['Upgrade', 'Proxy-Authorization', 'X-Service-Signature', 'webhook-id', 'User-Agent', 'Keep-Alive'],
  ])('refuses the header %s', async (name) => {
    const { status, body } = await post({ headers: { [name]: 'a' } });
    expect(status).toBe(422);
    expect(body.type).toBe(problem('header-not-allowed'));
    expect(body.errors).toEqual([{ detail: 'is set by the service itself', pointer: `#/headers/${name}` }]);
  });

  it('names every wrong header', async () => {
    const { status, body } = await post({
      headers: { 'X-Kitchen': 'a', 'x-kitchen': 'b', 'X~Token': mask, Authorization: mask },
    });
    expect(status).toBe(422);
    expect(body.detail).toBe('3 headers are not allowed.');
    expect(body.errors).toEqual([
      { detail: 'differs from another name only in case', pointer: '#/headers/x-kitchen' },
      { detail: expect.stringContaining('no value is stored'), pointer: '#/headers/X~0Token' },
      { detail: expect.stringContaining('no value is stored'), pointer: '#/headers/Authorization' },
    ]);
  });

  it('creates nothing after a refusal', async () => {
    const { body: before } = await setup.service.call('GET', path);
    await post({ headers: { Host: 'a' } });
    const { body: after } = await setup.service.call('GET', path);
    expect(after.pagination.total).toBe(before.pagination.total);
    await createIntegration(setup.service);
  });
});
