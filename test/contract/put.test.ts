/** PUT works in the same way for all resources: it changes the sent fields, and keeps the others. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { problem } from '../support/per-operation.ts';
import { startTestService, type Answer, type TestService } from '../support/service.ts';

type Members = Record<string, unknown>;
interface Kind {
  readonly kind: string;
  readonly path: string;
  /** The name under which a PUT creates it; otherwise a POST does. */
  readonly name?: string;
  /** Creates one with a value for every field that a caller can set. */
  readonly create: () => Members;
  /** Another value for a field. */
  readonly change?: Members;
  /** When it was created and changed. */
  readonly times?: readonly [created: string, changed: string];
  /** Other values for the fields that a PUT cannot change. */
  readonly readOnly: Members;
}

const at = '2026-01-01T00:00:00.000Z';
const uuid = '00000000-0000-4000-8000-00000000dead';
let location = '';
let category = '';
const kinds: readonly Kind[] = [
  {
    kind: 'a prompt',
    path: '/api/v1/prompts',
    create: () => ({
      name: 'Greeting',
      description: 'Greets',
      selected_provider: 'echo',
      selected_model: 'echo',
      strict: true,
      messages: [{ role: 'user', content: 'Hello {{name}}' }],
      variables: { name: { default: 'world' } },
      test_settings: { samples: ['a'] },
    }),
    readOnly: { id: uuid, version: 7, created_at: at, updated_at: at, warnings: [{ code: 'x' }] },
  },
  {
    kind: 'a location',
    path: '/v1/locations',
    create: () => ({
      name: 'Harbour',
      currency: 'EUR',
      time_zone: 'UTC',
      fiscal_day_end: '04:00',
      tax_rate_ppm: 90_000,
      fee_rate_ppm: 500,
      zones: [{ name: 'Terrace', spots: [{ name: 'Table 1' }, { name: 'Table 2' }] }],
    }),
    readOnly: { id: uuid, currency: 'USD', created_at: at, updated_at: at },
  },
  {
    kind: 'a category',
    path: '/v1/categories',
    create: () => ({ location_id: location, name: 'Drinks' }),
    readOnly: { id: `cat_${'0'.repeat(32)}`, location_id: uuid, created_at: at, updated_at: at },
  },
  {
    kind: 'a product',
    path: '/v1/products',
    create: () => ({
      location_id: location,
      category_id: category,
      name: 'Tea',
      price: 200,
      tags: ['hot'],
      active: false,
      modifiers: [{ name: 'Milk', price: 20 }],
      modifier_groups: [{ name: 'Size', min: 0, max: 2, modifiers: [{ name: 'Large', price: 60 }] }],
    }),
    readOnly: { id: uuid, location_id: uuid, currency: 'USD', created_at: at, updated_at: at },
  },
  {
    kind: 'an integration',
    path: '/api/v1/integrations',
    create: () => ({
      name: 'Screen',
      url: 'https://screen.example.com/hooks?token=EXAMPLE&shop=4',
      event_types: ['ORDER_PLACED'],
      headers: { 'X-Screen': 'bar', Authorization: 'EXAMPLE' },
      secret: 'EXAMPLE-not-a-real-secret-0123456789',
    }),
    readOnly: {
      id: uuid,
      signed: false,
      status: 'paused',
      disabled_reason: 'gone',
      disabled_at: at,
      secret_rotation: { id: uuid },
      warning: { type: 'failing' },
      created_at: at,
      updated_at: at,
    },
  },
  {
    kind: 'a budget',
    path: '/api/v1/budgets',
    name: 'checkout',
    create: () => ({
      scope: { tag: 'team=checkout' },
      limit: { amount: '50', currency: 'USD' },
      period: 'month',
      time_zone: 'Europe/Amsterdam',
      unpriced: 'allow',
      assume_max_output_tokens: 4096,
      thresholds: [50],
    }),
    change: { thresholds: [90] },
    times: ['started_at', 'updated_at'],
    readOnly: {
      id: uuid,
      name: 'other',
      blocked_models: [{ model: 'a/b' }],
      started_at: at,
      updated_at: at,
      author: {},
    },
  },
];

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  const make = async (path: string, body: Members): Promise<string> =>
    (await service.call('POST', path, { body })).body.id as string;
  location = await make('/v1/locations', { name: 'Pier', currency: 'EUR', time_zone: 'UTC' });
  category = await make('/v1/categories', { location_id: location, name: 'Food' });
});
afterAll(() => service.close());

describe.each(kinds)('PUT of $kind', (kind) => {
  const { path, name, create, readOnly, change = { name: 'Other' } } = kind;
  const [createdAt, changedAt] = kind.times ?? ['created_at', 'updated_at'];
  let target: string;
  let stored: Answer;
  beforeAll(async () => {
    const body = create();
    const created = await (name === undefined
      ? service.call('POST', path, { body })
      : service.call('PUT', `${path}/${name}`, { body }));
    expect(created.status).toBe(201);
    target = `${path}/${name ?? String(created.body.id)}`;
    stored = await service.call('GET', target);
  });
  const put = (body: object): Promise<Answer> => service.call('PUT', target, { body });
  const expectUnchanged = async (): Promise<void> => {
    const now = await service.call('GET', target);
    expect([now.body, now.headers['etag']]).toEqual([stored.body, stored.headers['etag']]);
  };

  it.each(Object.entries(readOnly))('refuses another value of %s', async (field, value) => {
    const { status, body } = await put({ ...change, [field]: value });
    expect([status, body.type]).toEqual([422, problem('read-only-field')]);
    expect((body.errors as { pointer: string }[]).map(({ pointer }) => pointer)).toEqual([`#/${field}`]);
    await expectUnchanged();
  });

  it('names all fields that differ', async () => {
    const { body } = await put(readOnly);
    const pointers = Object.keys(readOnly).map((field) => `#/${field}`);
    expect((body.errors as { pointer: string }[]).map(({ pointer }) => pointer)).toEqual(pointers);
  });

  it('accepts the answer of GET, and writes nothing', async () => {
    const { status, headers } = await put(stored.body as object);
    expect([status, headers['etag']]).toEqual([200, stored.headers['etag']]);
    await expectUnchanged();
  });

  it('accepts times in another notation', async () => {
    const sent = String(stored.body[createdAt]);
    expect((await put({ [createdAt]: sent.replace('Z', '000+00:00') })).status).toBe(200);
    await expectUnchanged();
  });

  it('keeps fields that are missing', async () => {
    const { body } = await put(change);
    expect(body).toEqual({ ...stored.body, ...change, [changedAt]: body[changedAt] });
    stored = await service.call('GET', target);
    expect({ ...stored.body }).toEqual(body);
  });
});

describe('a nested list', () => {
  const create = async (): Promise<{ target: string; zones: Zone[] }> => {
    const spots = [{ name: 'Table 1' }, { name: 'Table 2' }];
    const zones = [{ name: 'Terrace', spots }, { name: 'Bar' }];
    const body = { name: 'Harbour', currency: 'EUR', time_zone: 'UTC', zones };
    const created = await service.call('POST', '/v1/locations', { body });
    return { target: `/v1/locations/${String(created.body.id)}`, zones: created.body.zones as Zone[] };
  };
  interface Zone {
    id: string;
    name: string;
    spots: { id: string; name: string }[];
  }
  const put = async (target: string, zones: object[]): Promise<Zone[]> => {
    const { status, body } = await service.call('PUT', target, { body: { zones } });
    expect(status).toBe(200);
    return body.zones as Zone[];
  };

  it('keeps the spots of a zone that is sent without them', async () => {
    const { target, zones } = await create();
    const [terrace, bar] = zones as [Zone, Zone];
    const renamed = await put(target, [
      { id: terrace.id, name: 'Garden' },
      { id: bar.id, name: 'Bar' },
      { name: 'Hall' },
    ]);
    expect(renamed).toMatchObject([{ ...terrace, name: 'Garden' }, bar, { name: 'Hall', spots: [] }]);
  });

  it('moves a spot that is sent with another zone', async () => {
    const { target, zones } = await create();
    const [terrace, bar] = zones as [Zone, Zone];
    const [first, second] = terrace.spots;
    const moved = await put(target, [
      { id: terrace.id, name: 'Terrace' },
      { ...bar, spots: [first] },
    ]);
    expect(moved).toEqual([
      { ...terrace, spots: [second] },
      { ...bar, spots: [first] },
    ]);
  });

  it('becomes empty when an empty list is sent', async () => {
    const { target, zones } = await create();
    const [terrace] = zones as [Zone, Zone];
    expect(await put(target, [{ ...terrace, spots: [] }])).toEqual([{ ...terrace, spots: [] }]);
  });
});
