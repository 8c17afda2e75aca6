/** What a key that is limited to some locations can reach: by every operation, in lists, by events, and later. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { operationTable, type OperationId, type Scope } from '../../../generated/operations.ts';
import { allScopes } from '../../../src/access/api-keys/feature.ts';
import { unknownId } from '../../orders/catalog/catalog-harness.ts';
import { openShop, orderBody, placeOrder, type Shop } from '../../orders/orders-harness.ts';
import { callEveryOperation, environmentOfEveryOperation, type Call } from '../../support/every-operation.ts';
import { problem, problemIn } from '../../support/per-operation.ts';
import type { Answer } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createIntegration, setUpIntegrations } from '../../webhooks/integrations/integrations-harness.ts';

const setup = setUpIntegrations(environmentOfEveryOperation);

const call = (key: string, method: string, path: string, body?: object): Promise<Answer> =>
  setup.service.call(method, path, { key, ...(body && { body }) });
const idsIn = ({ body }: Answer): string[] => (body.data as { id: string }[]).map(({ id }) => id);

interface MadeKey {
  readonly id: string;
  readonly key: string;
}

async function makeKey(limits: object | null, maker?: MadeKey, scopes: readonly Scope[] = allScopes): Promise<MadeKey> {
  const body = { name: 'partner', scopes, limits };
  const created = await setup.service.call('POST', '/api/v1/api-keys', { body, ...(maker && { key: maker.key }) });
  expect(created.status).toBe(201);
  return created.body as MadeKey;
}

async function limit(key: MadeKey, locations: readonly string[]): Promise<void> {
  const changed = await setup.service.call('PUT', `/api/v1/api-keys/${key.id}`, { body: { limits: { locations } } });
  expect(changed.status).toBe(200);
}

/**
 * What an operation does for a key that is limited to a location, when it is about another one.
 *
 * - `unknown`: it answers as for something that does not exist.
 * - `listed`: it lists nothing of the other.
 * - `refused`: 403, because it would reach all locations.
 * - `bound`: what it creates is bound to the locations of the key.
 * - `own`: it reaches only the key itself and its descendants.
 * - `free`: no location has what it is about.
 * - `keyless`: it needs no key.
 */
type Reaction = 'unknown' | 'listed' | 'refused' | 'bound' | 'own' | 'free' | 'keyless';

/** The compiler misses an operation that is left out. */
const reactions: Readonly<Record<OperationId, Reaction>> = {
  listLocations: 'listed',
  createLocation: 'refused',
  getLocation: 'unknown',
  updateLocation: 'unknown',
  listFiscalDays: 'unknown',
  getFiscalDay: 'unknown',
  closeFiscalDay: 'unknown',
  listCategories: 'listed',
  createCategory: 'unknown',
  getCategory: 'unknown',
  updateCategory: 'unknown',
  listProducts: 'listed',
  createProduct: 'unknown',
  getProduct: 'unknown',
  updateProduct: 'unknown',
  listOrders: 'listed',
  createOrder: 'unknown',
  calculateOrder: 'unknown',
  getOrder: 'unknown',
  completeOrder: 'unknown',
  cancelOrder: 'unknown',
  listIntegrations: 'listed',
  createIntegration: 'bound',
  previewIntegrationFilter: 'listed',
  getIntegration: 'unknown',
  updateIntegration: 'unknown',
  deleteIntegration: 'unknown',
  pauseIntegration: 'unknown',
  enableIntegration: 'unknown',
  beginSecretRotation: 'unknown',
  finishSecretRotation: 'unknown',
  cancelSecretRotation: 'unknown',
  sendTestEvent: 'unknown',
  listReplays: 'unknown',
  createReplay: 'unknown',
  getReplay: 'unknown',
  getIntegrationStatistics: 'unknown',
  listDeliveries: 'listed',
  getDelivery: 'unknown',
  listDeliveryAttempts: 'unknown',
  resendDelivery: 'unknown',
  listEventTypes: 'free',
  listEvents: 'listed',
  getMetrics: 'refused',
  getStatistics: 'refused',
  getAttention: 'refused',
  listAuditLog: 'refused',
  listRoles: 'free',
  listPeople: 'refused',
  getPerson: 'refused',
  updatePerson: 'refused',
  signOutPerson: 'refused',
  revokePersonKeys: 'refused',
  listApiKeys: 'refused',
  getApiKey: 'refused',
  createApiKey: 'own',
  updateApiKey: 'own',
  revokeApiKey: 'own',
  getCurrentApiKey: 'own',
  deleteSession: 'own',
  listPrompts: 'free',
  createPrompt: 'free',
  exportPrompts: 'free',
  importPrompts: 'free',
  getPrompt: 'free',
  updatePrompt: 'free',
  deletePrompt: 'free',
  listPromptVersions: 'free',
  getPromptVersion: 'free',
  restorePromptVersion: 'free',
  listLabels: 'free',
  getLabel: 'free',
  setLabel: 'free',
  deleteLabel: 'free',
  listLabelMoves: 'free',
  getCanary: 'free',
  setCanary: 'free',
  deleteCanary: 'free',
  promoteCanary: 'free',
  invokePrompt: 'free',
  renderPrompt: 'free',
  getPromptStatistics: 'free',
  createTestRun: 'free',
  listTestRuns: 'free',
  getTestRun: 'free',
  getTestRunResults: 'free',
  listInvocations: 'free',
  exportInvocations: 'free',
  getInvocation: 'free',
  getInvocationContent: 'free',
  deleteInvocationContent: 'free',
  createInvocationFeedback: 'free',
  listProviders: 'free',
  testProvider: 'free',
  listPrices: 'free',
  getPrice: 'free',
  setPrice: 'free',
  deletePrice: 'free',
  createEvaluation: 'free',
  listGates: 'free',
  getGate: 'free',
  setGate: 'free',
  deleteGate: 'free',
  getGateVersion: 'free',
  createGateEvaluation: 'free',
  listEvaluations: 'free',
  getEvaluation: 'free',
  cancelEvaluation: 'free',
  exportEvaluationResults: 'free',
  getCalibration: 'free',
  listJudgedAnswers: 'free',
  setMark: 'free',
  listDatasets: 'free',
  getDataset: 'free',
  setDataset: 'free',
  deleteDataset: 'free',
  addDatasetCases: 'free',
  listDatasetVersions: 'free',
  listDatasetCases: 'free',
  exportDatasetCases: 'free',
  listBudgets: 'free',
  getBudget: 'free',
  setBudget: 'free',
  deleteBudget: 'free',
  getCosts: 'free',
  createChatCompletion: 'free',
  createResponse: 'free',
  createMessage: 'free',
  countMessageTokens: 'free',
  createEmbedding: 'free',
  sendMcpMessage: 'free',
  listModels: 'free',
  getModel: 'free',
  createSession: 'keyless',
  getEventTypeSchema: 'keyless',
  getServiceInfo: 'keyless',
  getLiveness: 'keyless',
  getReadiness: 'keyless',
  getOpenApiDocument: 'keyless',
  getAsyncApiDocument: 'keyless',
};

const operationsWith = (wanted: Reaction): OperationId[] =>
  (Object.entries(reactions) as [OperationId, Reaction][]).flatMap(([id, reaction]) =>
    reaction === wanted ? [id] : [],
  );

/** The id that a call names, in its path or as a location in its body. */
function namedBy({ path, body }: Call): string {
  const inPath = /\/(cat_[0-9a-f]{32}|[0-9a-f-]{36})/.exec(path)?.[1];
  return inPath ?? (body as { location_id: string }).location_id;
}

/** The same call for something that does not exist. */
function ofUnknown(named: Call): { call: Call; unknown: string } {
  const id = namedBy(named);
  const unknown = id.startsWith('cat_') ? `cat_${unknownId.replaceAll('-', '')}` : unknownId;
  return { call: JSON.parse(JSON.stringify(named).replaceAll(id, unknown)) as Call, unknown };
}

const send = (key: string, { method, path, ...options }: Call): Promise<Answer> =>
  setup.service.call(method, path, { ...options, key });

describe('a key that is limited to a location', () => {
  let calls: Readonly<Record<OperationId, Call>>;
  let own: Shop;
  let key: MadeKey;
  beforeAll(async () => {
    calls = await callEveryOperation(setup.service);
    own = await openShop(setup.service);
    key = await makeKey({ locations: [own.location.id] });
  });

  it.each(operationsWith('unknown'))('%s: answers as for what does not exist', async (id) => {
    const { call: same, unknown } = ofUnknown(calls[id]);
    const [hidden, missing] = [await send(key.key, calls[id]), await send(key.key, same)];
    expect([hidden.status, problemIn(hidden.body)]).toEqual([missing.status, problemIn(missing.body)]);
    expect([404, 422]).toContain(hidden.status);
    const comparable = ({ text }: Answer): string =>
      text.replaceAll(namedBy(calls[id]), unknown).replace(/"request_id":"[^"]*"/, '');
    expect(comparable(hidden)).toBe(comparable(missing));
    // It is there for others.
    expect((await send(setup.service.adminKey, calls[id])).status).toBeLessThan(400);
  });

  it.each(operationsWith('refused'))('%s: is refused', async (id) => {
    const { status, body } = await send(key.key, calls[id]);
    expect([status, problemIn(body)]).toEqual([403, problem('beyond-limits')]);
    expect(body.detail).toMatch(/^This key is limited to some locations, so it cannot /);
  });

  // The feed is not counted; it has a test of its own.
  const counted = operationsWith('listed').filter((id) => id !== 'listEvents');
  it.each(counted)('%s: lists and counts only its own', async (id) => {
    const all = await send(setup.service.adminKey, calls[id]);
    expect(all.body.data.length).toBeGreaterThan(0);
    const { body } = await send(key.key, calls[id]);
    const expected: Partial<Record<OperationId, readonly string[]>> = {
      listLocations: [own.location.id],
      listCategories: [own.coffee.body.category_id],
      listProducts: [own.pie.id, own.coffee.id],
    };
    expect(body.data.map((one: { id: string }) => one.id)).toEqual(expected[id] ?? []);
    if (id === 'previewIntegrationFilter') return;
    expect(body.pagination).toMatchObject({ total: body.data.length, next: null });
    expect(body.pagination.total_is_minimum).toBeUndefined();
  });

  it.each(operationsWith('free'))('%s: is not limited', async (id) => {
    expect((await send(key.key, calls[id])).status).toBeLessThan(400);
  });

  it('has the table of every operation with a key', () => {
    const open = (Object.keys(operationTable) as OperationId[]).filter((id) => !operationTable[id].needsKey);
    expect(new Set(operationsWith('keyless'))).toEqual(new Set(open));
  });

  it('reaches what its own location has', async () => {
    const order = await call(key.key, 'POST', '/v1/orders', orderBody(own));
    const category = own.coffee.body.category_id as string;
    const product = { ...{ location_id: own.location.id, category_id: category }, name: 'Tea', price: 200 };
    const answers = [
      order,
      await call(key.key, 'POST', `/v1/orders/${order.body.id}/complete`),
      await call(key.key, 'PUT', `/v1/products/${own.coffee.id}`, { price: 430 }),
      await call(key.key, 'POST', '/v1/products', product),
      await call(key.key, 'POST', '/v1/categories', { location_id: own.location.id, name: 'Cold drinks' }),
      await call(key.key, 'PUT', `/v1/locations/${own.location.id}`, { name: 'Canal' }),
      await call(key.key, 'GET', `/v1/locations/${own.location.id}/fiscal-days`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 201, 201, 200, 200]);
  });

  it('orders by ids of products without `catalog:read`, and learns nothing of those of others', async () => {
    const foreign = await openShop(setup.service);
    const seller = await makeKey({ locations: [own.location.id] }, undefined, ['orders:write']);
    const place = (product: string): Promise<Answer> =>
      call(seller.key, 'POST', '/v1/orders', orderBody(own, { items: [{ product_id: product, quantity: 1 }] }));
    expect((await place(own.pie.id)).status).toBe(201);
    expect((await call(seller.key, 'GET', `/v1/products/${own.pie.id}`)).status).toBe(403);
    const [hidden, missing] = [await place(foreign.pie.id), await place(unknownId)];
    expect([hidden.status, hidden.body.errors]).toEqual([422, missing.body.errors]);
    expect(hidden.body.detail).toBe(missing.body.detail);
  });

  it('says so in whoami', async () => {
    const { body } = await call(key.key, 'GET', '/api/v1/whoami');
    expect([body.limits, body.administrator]).toEqual([{ locations: [own.location.id] }, false]);
  });
});

describe('lists', () => {
  let shops: readonly Shop[];
  let one: MadeKey;
  let two: MadeKey;
  let orders: readonly string[];
  beforeAll(async () => {
    shops = [await openShop(setup.service), await openShop(setup.service), await openShop(setup.service)];
    const [first, second] = shops.map(({ location }) => location.id);
    one = await makeKey({ locations: [first] });
    two = await makeKey({ locations: [first, second] });
    const placed: string[] = [];
    for (const shop of shops) placed.push((await placeOrder(setup.service, shop, { reference_id: 'till-1' })).id);
    orders = placed;
  });

  it.each([
    ['', 1, 2],
    ['?status=open', 1, 2],
    ['?status=completed', 0, 0],
    ['?reference_id=till-1', 1, 2],
    ['?updated_since=2026-01-01', 1, 2],
    ['?updated_since=2026-01-01&reference_id=till-1', 1, 2],
    ['?updated_since=2099-01-01', 0, 0],
    ['?fiscal_day=2019-01-01', 0, 0],
    ['?offset=0', 1, 2],
    ['?since=2020-01-01T00:00:00Z', 1, 2],
  ])('orders%s: have those of one and of two locations', async (query, ofOne, ofTwo) => {
    for (const [key, count] of [[one, ofOne] as const, [two, ofTwo] as const]) {
      const answer = await call(key.key, 'GET', `/v1/orders${query}`);
      expect(idsIn(answer)).toEqual(orders.slice(0, count).toReversed());
      expect(answer.body.pagination).toMatchObject({ total: count, next: null });
    }
  });

  it('page through several locations without gaps', async () => {
    const first = await call(two.key, 'GET', '/v1/orders?limit=1');
    expect(first.body.pagination.total).toBe(2);
    const next = await call(two.key, 'GET', `/v1/orders?limit=1&after=${first.body.pagination.next}`);
    expect([...idsIn(first), ...idsIn(next)]).toEqual([orders[1], orders[0]]);
    expect(next.body.pagination).toMatchObject({ total: 2, next: null });
  });

  it('are empty with a filter by what is beyond the limit, as with an unknown one', async () => {
    const third = shops[2] as Shop;
    const category = third.coffee.body.category_id as string;
    const filters = [
      ['/v1/orders?location_id=', third.location.id],
      ['/v1/orders?reference_id=till-1&location_id=', third.location.id],
      ['/v1/products?location_id=', third.location.id],
      ['/v1/products?category_id=', category],
      ['/v1/categories?location_id=', third.location.id],
    ] as const;
    for (const [path, id] of filters) {
      for (const { key } of [one, two]) {
        const { body } = await call(key, 'GET', path + id);
        expect([path, body.data, body.pagination.total]).toEqual([path, [], 0]);
      }
      expect((await setup.service.call('GET', path + id)).body.pagination.total).toBeGreaterThan(0);
    }
    const mine = await call(two.key, 'GET', `/v1/orders?location_id=${shops[1]?.location.id}`);
    expect(idsIn(mine)).toEqual([orders[1]]);
  });
});

describe('integrations', () => {
  const path = '/api/v1/integrations';
  const body = (members: object = {}): object => ({
    name: 'Partner',
    url: setup.receiver.url,
    event_types: ['ORDER_PLACED'],
    unsigned: true,
    ...members,
  });
  let own: Shop;
  let foreign: Shop;
  let key: MadeKey;
  beforeAll(async () => {
    [own, foreign] = [await openShop(setup.service), await openShop(setup.service)];
    key = await makeKey({ locations: [own.location.id] });
  });
  const make = async (members: object = {}, by = key): Promise<string> => {
    const created = await call(by.key, 'POST', path, body(members));
    expect([created.status, created.body.location_ids]).toEqual([201, [own.location.id]]);
    return created.body.id as string;
  };

  it('are bound to the locations of the key, whatever it asks for', async () => {
    const id = await make();
    await make({ location_ids: [] });
    await make({ location_ids: [own.location.id] });
    const freed = await call(key.key, 'PUT', `${path}/${id}`, { location_ids: [] });
    expect([freed.status, freed.body.location_ids]).toEqual([200, [own.location.id]]);
    const kept = await call(key.key, 'PUT', `${path}/${id}`, { name: 'Other' });
    expect(kept.body.location_ids).toEqual([own.location.id]);
    for (const wider of [[foreign.location.id], [own.location.id, foreign.location.id]]) {
      const missing = wider.map((one) => (one === foreign.location.id ? unknownId : one));
      for (const [method, target] of [['POST', path] as const, ['PUT', `${path}/${id}`] as const]) {
        const hidden = await call(
          key.key,
          method,
          target,
          method === 'POST' ? body({ location_ids: wider }) : { location_ids: wider },
        );
        const unknown = await call(
          key.key,
          method,
          target,
          method === 'POST' ? body({ location_ids: missing }) : { location_ids: missing },
        );
        expect([hidden.status, problemIn(hidden.body)]).toEqual([422, problem('unknown-location')]);
        expect([hidden.body.detail, hidden.body.errors]).toEqual([unknown.body.detail, unknown.body.errors]);
      }
    }
  });

  it('get the events of their location, and a test event', async () => {
    setup.receiver.forget();
    const id = await make();
    await placeOrder(setup.service, foreign);
    const order = await placeOrder(setup.service, own);
    expect((await call(key.key, 'POST', `${path}/${id}/test`)).status).toBe(202);
    const arrived = await setup.receiver.received(2);
    // Also a sample of what has no location.
    const sample = await call(key.key, 'POST', `${path}/${id}/test`, { type: 'BUDGET_REFUSING' });
    expect((await call(key.key, 'GET', `/api/v1/deliveries/${sample.body.id}`)).status).toBe(200);
    const types = arrived
      .slice(0, 2)
      .map(({ headers }) => [headers['x-service-event-type'], headers['x-service-event-target-uuid']]);
    expect(new Set(types.map(String))).toEqual(new Set([`ORDER_PLACED,${order.id}`, `TEST,${id}`]));
    const { body: deliveries } = await call(key.key, 'GET', `/api/v1/deliveries?integration_id=${id}`);
    expect(deliveries.pagination.total).toBe(3);
  });

  it('that are for more than its locations are out of reach', async () => {
    const mine = await make();
    const location_ids = [own.location.id, foreign.location.id];
    const both = await createIntegration(setup.service, { location_ids, url: setup.receiver.url });
    const all = await createIntegration(setup.service, { url: setup.receiver.url });
    const listed = idsIn(await call(key.key, 'GET', `${path}?limit=100`));
    expect(listed).toContain(mine);
    for (const { id } of [both, all]) {
      expect(listed).not.toContain(id);
      expect((await call(key.key, 'GET', `${path}/${id}`)).status).toBe(404);
    }
    // Their deliveries stay so, even those of its own location.
    const order = await placeOrder(setup.service, own);
    const found = await until(
      () => setup.service.call('GET', `/api/v1/deliveries?target_id=${order.id}`),
      ({ body: { data } }) => data.some(({ integration_id }: { integration_id: string }) => integration_id === all.id),
    );
    for (const { id, integration_id } of found.body.data as { id: string; integration_id: string }[]) {
      const reached = await call(key.key, 'GET', `/api/v1/deliveries/${id}`);
      expect([integration_id, reached.status]).toEqual([integration_id, listed.includes(integration_id) ? 200 : 404]);
    }
    const { body: mineOnly } = await call(key.key, 'GET', `/api/v1/deliveries?target_id=${order.id}&limit=100`);
    const integrations = mineOnly.data.map(({ integration_id }: { integration_id: string }) => integration_id);
    expect(integrations.filter((id: string) => !listed.includes(id))).toEqual([]);
    expect(mineOnly.pagination.total).toBe(mineOnly.data.length);
  });

  it('that got other locations keep earlier deliveries out of reach', async () => {
    const partner = await makeKey({ locations: [own.location.id] });
    const { id } = await createIntegration(setup.service, {
      location_ids: [foreign.location.id],
      url: setup.receiver.url,
    });
    const before = await placeOrder(setup.service, foreign);
    await setup.receiver.received(1);
    const deliveries = `/api/v1/deliveries?integration_id=${id}`;
    const settled = await until(
      () => setup.service.call('GET', `${deliveries}&status=delivered`),
      (answer) => answer.body.pagination.total === 1,
    );
    const [{ id: hidden, event_id: event }] = settled.body.data as [{ id: string; event_id: string }];
    await setup.service.call('PUT', `${path}/${id}`, { body: { location_ids: [own.location.id] } });

    expect((await call(partner.key, 'GET', `${path}/${id}`)).status).toBe(200);
    const queries = ['', '&status=delivered', `&target_id=${before.id}`, `&event_id=${event}`, '&last_outcome=2xx'];
    for (const query of queries) {
      const { body: page } = await call(partner.key, 'GET', deliveries + query);
      expect([query, page.data, page.pagination.total]).toEqual([query, [], 0]);
    }
    const one = `/api/v1/deliveries/${hidden}`;
    const answers = [
      await call(partner.key, 'GET', one),
      await call(partner.key, 'GET', `${one}/attempts`),
      await call(partner.key, 'POST', `${one}/resend`, { now: true }),
    ];
    expect(answers.map((answer) => [answer.status, problemIn(answer.body)])).toEqual(
      answers.map(() => [404, problem('delivery-not-found')]),
    );

    // A replay sends only what the integration gets now.
    setup.receiver.forget();
    const after = await placeOrder(setup.service, own);
    await setup.receiver.received(1);
    const replay = await call(partner.key, 'POST', `${path}/${id}/replays`, { since: '2026-01-01T00:00:00Z' });
    const done = await until(
      () => call(partner.key, 'GET', `/api/v1/replays/${replay.body.id}`),
      (answer) => answer.body.status === 'done',
    );
    const targets = await until(
      async () => (await call(partner.key, 'GET', deliveries)).body,
      ({ pagination }) => pagination.total === done.body.delivery_count + 1,
    );
    expect(targets.data.some((delivery: { target_id: string }) => delivery.target_id === after.id)).toBe(true);
    expect(targets.data.some((delivery: { target_id: string }) => delivery.target_id === before.id)).toBe(false);
  });

  it('of the lists of all deliveries are only its own, with every status', async () => {
    const partner = await makeKey({ locations: [foreign.location.id] });
    for (const query of ['', '?status=pending', '?status=held', '?status=retrying', '?status=failed']) {
      const { body: page } = await call(partner.key, 'GET', `/api/v1/deliveries${query}`);
      expect([query, page.data, page.pagination.total]).toEqual([query, [], 0]);
    }
    const ids: string[] = [];
    for (const name of ['First', 'Second', 'Third']) {
      const created = await call(partner.key, 'POST', path, body({ name }));
      ids.push(created.body.id as string);
    }
    const [first, second, third] = ids as [string, string, string];
    await call(partner.key, 'POST', `${path}/${second}/pause`);
    const order = await placeOrder(setup.service, foreign);
    const ofOrder = `target_id=${order.id}`;
    const statuses = async (query: string): Promise<Set<string>> => {
      const { body: page } = await call(partner.key, 'GET', `/api/v1/deliveries?${ofOrder}${query}`);
      return new Set(page.data.map(({ integration_id }: { integration_id: string }) => integration_id));
    };
    await until(async () => (await statuses('&status=delivered')).size === 2);
    expect(await statuses('')).toEqual(new Set(ids));
    expect(await statuses('&status=delivered')).toEqual(new Set([first, third]));
    expect(await statuses('&status=held')).toEqual(new Set([second]));
    expect(await statuses('&status=pending')).toEqual(new Set());
    expect(await statuses(`&status=held&integration_id=${first}`)).toEqual(new Set());
    expect(await statuses(`&integration_id=${first}`)).toEqual(new Set([first]));
  });
});

describe('limits that change', () => {
  let shops: readonly [Shop, Shop];
  beforeAll(async () => {
    shops = [await openShop(setup.service), await openShop(setup.service)];
  });
  const ids = (): [string, string] => [shops[0].location.id, shops[1].location.id];
  const again = (key: MadeKey, path: string, body: object, idempotencyKey: string): Promise<Answer> =>
    setup.service.call('POST', path, { key: key.key, body, headers: { 'Idempotency-Key': idempotencyKey } });

  it('hide what an idempotency key has answered before', async () => {
    const key = await makeKey({ locations: ids() });
    const [[first], repeated] = [ids(), randomUUID()];
    const order = orderBody(shops[1]);
    const integration = { name: 'Both', url: setup.receiver.url, event_types: ['ORDER_PLACED'] };
    const category = { location_id: shops[1].location.id, name: 'Soups' };
    const requests = [
      ['/v1/orders', order, 'unknown-location'],
      ['/v1/categories', category, 'idempotency-key-reused'],
      ['/api/v1/integrations', integration, 'idempotency-key-reused'],
    ] as const;
    for (const [path, body] of requests) {
      expect((await again(key, path, body, repeated)).status).toBe(201);
      expect((await again(key, path, body, repeated)).headers['idempotency-replayed']).toBe('true');
    }
    await limit(key, [first]);
    for (const [path, body, type] of requests) {
      const answer = await again(key, path, body, repeated);
      expect([path, answer.status, problemIn(answer.body)]).toEqual([path, 422, problem(type)]);
      expect(answer.text.replaceAll(shops[1].location.id, '')).not.toContain(shops[1].coffee.id);
    }
  });

  it('hold for the keys that it has created, which cannot widen them', async () => {
    const [first, second] = ids();
    const key = await makeKey({ locations: [first] });
    const reached = async ({ key: child }: MadeKey): Promise<string[]> =>
      idsIn(await call(child, 'GET', '/v1/locations'));
    const open = await makeKey(null, key);
    const wide = await makeKey({ locations: [first, second] }, key);
    const other = await makeKey({ locations: [second] }, key);
    expect([await reached(open), await reached(wide), await reached(other)]).toEqual([[first], [first], []]);
    const widened = await call(key.key, 'PUT', `/api/v1/api-keys/${open.id}`, { limits: { locations: [second] } });
    expect(widened.status).toBe(200);
    expect(await reached(open)).toEqual([]);
    const self = await call(key.key, 'PUT', `/api/v1/api-keys/${key.id}`, { limits: null });
    expect([self.status, problemIn(self.body)]).toEqual([403, problem('no-authority')]);
    // Without any location it has nothing to bind an integration to.
    const integration = { name: 'None', url: setup.receiver.url, event_types: ['ORDER_PLACED'] };
    const refused = await call(other.key, 'POST', '/api/v1/integrations', integration);
    expect([refused.status, problemIn(refused.body)]).toEqual([422, problem('unknown-location')]);
    expect((await call(other.key, 'GET', '/v1/orders')).body.pagination.total).toBe(0);
    const { body: whoami } = await call(wide.key, 'GET', '/api/v1/whoami');
    expect(whoami.limits.locations).toEqual([first]);
  });
});
