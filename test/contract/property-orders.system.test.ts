import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { createWebhooks, type WebhookDependencies, type Webhooks } from '../../src/webhooks/webhooks.ts';
import type { WireAnswer } from '../support/contract-check.ts';
import {
  canonical,
  createGeneratedRun,
  findUnlike,
  writeOf,
  type GeneratedRun,
  type Json,
} from '../support/generated-run.ts';
import { createShopLedger, openGeneratedShop, type ShopLedger } from '../support/generated-shop.ts';
import type { Call } from '../support/generated-traffic.ts';
import { findStrangeDocuments } from '../support/raw-documents.ts';
import { startReceiver, type ReceivedRequest, type Receiver } from '../support/receiver.ts';
import { isOrdersPath } from '../support/request-arbitraries.ts';
import { isNightly, runSettings } from '../support/run-settings.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createStandIns } from '../support/stand-ins.ts';

/**
 * Sends generated requests for orders, catalog and webhooks over HTTP to the real service on a real database. Its
 * events go to a real receiver.
 */
const { seed, numRuns } = runSettings(10_000);
/** With more integrations, every event would have many deliveries. */
const mostIntegrations = 6;

const standIns = createStandIns();
let receiver: Receiver;
let service: TestService;
let run: GeneratedRun;
let ledger: ShopLedger;
let watcherId: string;
/** The answers to writes to the catalog, as canonical JSON by entity tag. */
const written = new Map<string, string>();

beforeAll(async () => {
  receiver = await startReceiver();
  receiver.always((request) => ({ kind: 'answer', status: statusOf(request) }));
  service = await startTestService({
    environment: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
    createWebhooks: createLocalWebhooks,
  });
  const callers = { reader: 'orders:read', cook: 'orders:write', integrator: 'integrations:manage' } as const;
  run = await createGeneratedRun({ service, callers, seed, prepare: standIns.replaceIn, examine });
  const targets = {
    watcher: `${receiver.url}/watcher`,
    others: [receiver.url, `${receiver.url}/other`, `${receiver.url}/failing`, `${receiver.url}/gone`],
  };
  ledger = createShopLedger(standIns, targets);
  const shop = await openGeneratedShop(run, standIns, targets);
  watcherId = shop.watcherId;
  await run.sendGenerated({ slipOneIn: 80, hints: shop.hints, hintWeight: 9, isWanted: isOrdersPath }, numRuns);
}, 400_000);
afterAll(async () => {
  await run.close();
  await service.close();
  await receiver.close();
});

function statusOf({ path }: ReceivedRequest): number {
  if (path.endsWith('/gone')) return 410;
  return path.endsWith('/failing') ? 500 : 200;
}

/**
 * Webhooks that resolve no names and connect only to this machine, because a generated address could belong to anyone.
 */
function createLocalWebhooks(dependencies: WebhookDependencies): Webhooks {
  return createWebhooks({
    ...dependencies,
    mayConnect: (address) => address === '127.0.0.1' && dependencies.mayConnect(address),
    lookUp: (hostname) => Promise.reject(Object.assign(new Error(`no look-up of ${hostname}`), { code: 'ENOTFOUND' })),
  });
}

/** Records what was created, and compares the answers to writes with the requests. */
async function examine(call: Call, answer: WireAnswer): Promise<string[]> {
  ledger.note(call, answer);
  const [oldest] = ledger.integrations;
  if (call.request.operationId === 'createIntegration' && ledger.integrations.size > mostIntegrations) {
    await run.send('DELETE', `/api/v1/integrations/${String(oldest)}`);
  }
  const write = writeOf(
    [
      ...(['createLocation', 'updateLocation', 'createCategory', 'updateCategory'] as const),
      ...(['createProduct', 'updateProduct'] as const),
    ],
    call,
    answer,
  );
  if (write === undefined) return [];
  written.set(write.etag, canonical(write.answer));
  // The service assigns missing ids of zones, spots and modifiers. The currency of an order is that of its location.
  return write.isReplayed
    ? []
    : findUnlike(write, ['id', 'created_at', 'updated_at', 'currency', 'zones', 'modifiers', 'modifier_groups']);
}

async function readJson(url: string): Promise<Json> {
  return JSON.parse((await run.read(url)).text) as Json;
}

describe('after generated requests', () => {
  it('no answer was a 5xx or outside the contract', () => {
    expect(run.faults.slice(0, 10)).toEqual([]);
  });

  it('answers of all kinds occurred', () => {
    const usual = [200, 201, 400, 401, 403, 404, 409, 412, 422];
    expect([...run.statuses.keys()]).toEqual(
      expect.arrayContaining(isNightly ? [...usual, 202, 204, 405, 413, 415] : usual),
    );
  });

  it('every location, category and product equals the answer to its last write', async () => {
    for (const path of ['/v1/locations', '/v1/categories', '/v1/products']) {
      const differing: string[] = [];
      for (const { id } of await run.readAll(path)) {
        const { headers, text } = await run.read(`${path}/${String(id)}`);
        if (written.get(headers['etag'] ?? '') !== canonical(JSON.parse(text))) differing.push(text);
      }
      expect(differing).toEqual([]);
    }
  });

  it('every placed order exists once and is unchanged', async () => {
    const listed = await run.readAll('/v1/orders');
    expect(listed.map(({ id }) => String(id)).sort()).toEqual([...ledger.placed.keys()].sort());
    expect(listed.length).toBeGreaterThan(numRuns / 200);
    for (const entry of listed) {
      const order = await readJson(`/v1/orders/${String(entry['id'])}`);
      expect(order).toMatchObject(entry);
      expect(asPlaced(order)).toEqual(ledger.placed.get(String(entry['id'])));
    }
  });

  it('the amounts of every order add up', () => {
    const wrong = [...ledger.placed.values()].filter((order) => !addsUp(order as unknown as PricedOrder));
    expect(wrong).toEqual([]);
  });

  it('every closed fiscal day counts its orders', async () => {
    const orders = await Promise.all([...ledger.placed.keys()].map((id) => readJson(`/v1/orders/${id}`)));
    let closed = 0;
    for (const { id } of await run.readAll('/v1/locations')) {
      for (const day of await run.readAll(`/v1/locations/${String(id)}/fiscal-days`)) {
        const counted = orders.filter((order) => order['location_id'] === id && order['fiscal_day'] === day['date']);
        const total = counted.reduce((sum, order) => sum + Number(order['total']), 0);
        expect(day).toMatchObject({ order_count: counted.length, total });
        closed += 1;
      }
    }
    expect(closed).toBeGreaterThan(0);
  });

  it('every event reached the receiver that subscribes to all of them', async () => {
    const wanted = await announced();
    const missing = (): string[] => {
      const seen = new Set(receivedBy(watcherId).map(eventOf));
      return wanted.filter((event) => !seen.has(event));
    };
    for (let wait = 0; wait < 600 && missing().length > 0; wait += 1) await sleep(100);
    expect(missing()).toEqual([]);
  });

  it('no order and no fiscal day was announced by two events', () => {
    const events = new Map<string, Set<string | undefined>>();
    for (const request of receivedBy(watcherId)) {
      if (!/ORDER_PLACED|FISCAL_DAY_END/.test(request.headers['x-service-event-type'] ?? '')) continue;
      if (isSample(request)) continue;
      const event = eventOf(request);
      events.set(event, (events.get(event) ?? new Set()).add(request.headers['webhook-id']));
    }
    expect([...events].filter(([, ids]) => ids.size > 1)).toEqual([]);
  });

  it('every received body matches the schema that the service publishes', async () => {
    const validators = await publishedValidators();
    const types = new Set<string>();
    for (const { headers, body } of receiver.requests) {
      const type = headers['x-service-event-type'] ?? '';
      const validate = validators.get(type);
      if (validate === undefined) throw new Error(`an event of type ${type}`);
      const payload = JSON.parse(body.toString()) as Json;
      expect({ payload, valid: validate(payload), errors: validate.errors }).toMatchObject({ valid: true });
      expect(payload['type']).toBe(type);
      if (payload['test'] !== true && !/^(BUDGET|INTEGRATION)/.test(type)) types.add(type);
    }
    // No budget is set, no prompt is changed, and receivers fail only now and then.
    for (const type of [...validators.keys()]) if (/^(BUDGET|INTEGRATION|PROMPT)/.test(type)) validators.delete(type);
    expect([...types].sort()).toEqual([...validators.keys()].sort());
  });

  it('every received request is signed with a secret of its integration', () => {
    const wrong = receiver.requests.filter((request) => !isSigned(request));
    expect(wrong.slice(0, 3).map(({ headers }) => headers)).toEqual([]);
  });

  it('no webhook-id was sent with two different bodies', () => {
    const bodies = new Map<string, Set<string>>();
    for (const { headers, body } of receiver.requests) {
      const id = headers['webhook-id'] ?? '';
      bodies.set(id, (bodies.get(id) ?? new Set()).add(body.toString()));
    }
    expect([...bodies].filter(([id, different]) => id === '' || different.size > 1)).toEqual([]);
  });

  it('every integration, delivery, attempt and replay can be read', async () => {
    const integrations = await run.readAll('/api/v1/integrations');
    expect(integrations.map(({ id }) => id).sort()).toEqual([...ledger.integrations, watcherId].sort());
    const statuses = new Set<unknown>();
    for (const { id } of integrations) {
      await run.read(`/api/v1/integrations/${String(id)}`);
      const deliveries = await run.readAll(`/api/v1/deliveries?integration_id=${String(id)}`);
      for (const delivery of deliveries) statuses.add(delivery['status']);
      for (const delivery of deliveries.slice(0, 5)) {
        await run.read(`/api/v1/deliveries/${String(delivery['id'])}`);
        await run.readAll(`/api/v1/deliveries/${String(delivery['id'])}/attempts`);
      }
    }
    expect(statuses).toContain('delivered');
    if (isNightly) expect(statuses.size).toBeGreaterThan(1);
  });

  it('the database contains nothing unexpected', async () => {
    expect(await findStrangeDocuments(service)).toEqual([]);
  });

  it('no prototype was changed', () => {
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as Json)['polluted']).toBeUndefined();
  });
});

/** The order without later changes. */
function asPlaced(order: Json): Json {
  const later = ['completed_at', 'canceled_at', 'fiscal_day'];
  const kept = Object.fromEntries(Object.entries(order).filter(([name]) => !later.includes(name)));
  return { ...kept, status: 'open', updated_at: order['created_at'] };
}

interface PricedOrder {
  readonly subtotal: number;
  readonly prices_include_tax: boolean;
  readonly taxes: number;
  readonly fees: number;
  readonly total: number;
  readonly items: readonly {
    readonly quantity: number;
    readonly unit_price: number;
    readonly modifiers: readonly { readonly price: number; readonly quantity: number }[];
    readonly total: number;
  }[];
}

function addsUp({ subtotal, prices_include_tax, taxes, fees, total, items }: PricedOrder): boolean {
  const lines = items.map(({ quantity, unit_price, modifiers }) => {
    return quantity * modifiers.reduce((sum, modifier) => sum + modifier.price * modifier.quantity, unit_price);
  });
  return (
    items.every((item, index) => item.total === lines[index]) &&
    subtotal === lines.reduce((sum, line) => sum + line, 0) &&
    total === subtotal + (prices_include_tax ? 0 : taxes) + fees
  );
}

function receivedBy(integrationId: string): ReceivedRequest[] {
  return receiver.requests.filter(({ headers }) => headers['x-service-application-id'] === integrationId);
}

/** Whether it is a sample of its type, which tests an integration. */
function isSample({ body }: ReceivedRequest): boolean {
  return (JSON.parse(body.toString()) as Json)['test'] === true;
}

/** The change that an event announces, in the form of {@link announced}. */
function eventOf({ body }: ReceivedRequest): string {
  const { type, targetUuid, data } = JSON.parse(body.toString()) as { type: string; targetUuid: string; data: Json };
  return type === 'FISCAL_DAY_END' ? `${type} ${targetUuid} ${String(data['fiscalDay'])}` : `${type} ${targetUuid}`;
}

/** All announced changes that the API shows. */
async function announced(): Promise<string[]> {
  const events = [...ledger.placed.keys()].map((id) => `ORDER_PLACED ${id}`);
  for (const { id } of await run.readAll('/v1/locations')) {
    const days = await run.readAll(`/v1/locations/${String(id)}/fiscal-days`);
    events.push(...days.map(({ date }) => `FISCAL_DAY_END ${String(id)} ${String(date)}`));
  }
  const products = await run.readAll('/v1/products');
  const updated = products.filter((product) => product['updated_at'] !== product['created_at']);
  return [...events, ...updated.map(({ id }) => `PRODUCT_UPDATED ${String(id)}`)];
}

/** The JSON Schemas that the service publishes for receivers, compiled, by type. */
async function publishedValidators(): Promise<Map<string, ValidateFunction>> {
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv, { mode: 'full' });
  const types = (await run.readAll('/api/v1/event-types')) as { type: string; schema: object }[];
  return new Map(types.map(({ type, schema }) => [type, ajv.compile(schema)]));
}

/** Checks the signature of the service. The Standard Webhooks signature is checked with it. */
function isSigned({ headers, body }: ReceivedRequest): boolean {
  const integrationId = headers['x-service-application-id'] ?? '';
  const signature = headers['x-service-signature'];
  if (signature === undefined) return !ledger.alwaysSigned.has(integrationId);
  const secrets = ledger.secrets.get(integrationId) ?? [];
  return secrets.some((secret) => createHmac('sha256', secret).update(body).digest('hex') === signature);
}
