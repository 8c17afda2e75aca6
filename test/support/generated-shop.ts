import { eventTypes } from '../../generated/events.ts';
import type { OperationId } from '../../generated/operations.ts';
import type { WireAnswer } from './contract-check.ts';
import { findOperation } from './find-operation.ts';
import type { GeneratedRun, Json } from './generated-run.ts';
import type { Call } from './generated-traffic.ts';
import type { RequestOptions } from './request-arbitraries.ts';
import type { Kind, StandIns } from './stand-ins.ts';

/** The URL for the events of generated integrations. */
export interface ShopTargets {
  /** The URL of the one integration that generated requests do not know. It gets every event. */
  readonly watcher: string;
  readonly others: readonly string[];
}

/** Creates a location with a catalog and integrations that generated requests use. */
export interface GeneratedShop {
  readonly watcherId: string;
  /** The values that requests use, so that many of them succeed. */
  readonly hints: NonNullable<RequestOptions['hints']>;
}

/** Zones and modifiers keep the ids that requests give them. So these ids stay valid. */
const zoneIds = ids(2, 'a');
const spotIds = ids(4, 'b');
const modifierIds = ids(3, 'c');
const groupedIds = ids(2, 'd');

export async function openGeneratedShop(
  run: GeneratedRun,
  standIns: StandIns,
  { watcher, others }: ShopTargets,
): Promise<GeneratedShop> {
  const make = async (url: string, body: Json): Promise<string> => String((await run.send('POST', url, body))['id']);
  const zones = zoneIds.map((id, zone) => ({
    ...{ id, name: `Zone ${zone}` },
    spots: spotIds.slice(2 * zone, 2 * zone + 2).map((spot, table) => ({ id: spot, name: `Table ${zone}.${table}` })),
  }));
  const rates = { tax_rate_ppm: 88_750, fee_rate_ppm: 3_500 };
  const location = await make('/v1/locations', { name: 'Café', currency: 'EUR', time_zone: 'UTC', zones, ...rates });
  const categories: string[] = [];
  for (const name of ['Hot drinks', 'Pastry'])
    categories.push(await make('/v1/categories', { location_id: location, name }));
  const modifiers = modifierIds.map((id, index) => ({ id, name: `Extra ${index}`, price: 10 * index + 5 }));
  const groups = [
    {
      name: 'Size',
      min: 0,
      max: 2,
      modifiers: groupedIds.map((id, index) => ({ id, name: `Size ${index}`, price: index })),
    },
  ];
  const products: string[] = [];
  for (let price = 250; price < 650; price += 50) {
    const category_id = categories[products.length % categories.length];
    const content = {
      name: `Product ${price}`,
      price,
      tags: ['tasty', `p${price}`],
      modifiers,
      modifier_groups: groups,
    };
    products.push(await make('/v1/products', { location_id: location, category_id, ...content }));
  }
  const event_types = eventTypes.filter((type) => type !== 'TEST');
  const watch = { name: 'Watcher', url: watcher, event_types };
  const watcherId = await make('/api/v1/integrations', watch);
  for (const url of others) {
    await make('/api/v1/integrations', { name: 'Other', url, event_types: ['ORDER_PLACED'] });
  }

  const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

  // Something of everything that is announced, whatever the generated requests do.
  const order = { location_id: location, items: [{ product_id: products[0], quantity: 1 }] };
  await run.send('POST', `/v1/orders/${await make('/v1/orders', order)}/complete`);
  await run.send('POST', `/v1/orders/${await make('/v1/orders', order)}/cancel`);
  await run.send('PUT', `/v1/products/${String(products[0])}`, { price: 255 });
  await run.send('PUT', `/v1/categories/${String(categories[0])}`, { name: 'Coffee and tea' });
  await run.send('POST', `/v1/locations/${location}/fiscal-days/${day(0)}/close`);
  await run.send('POST', `/api/v1/integrations/${watcherId}/test`);

  const [newestOrder] = standIns.of('OrderId');
  return {
    watcherId,
    hints: {
      LocationId: [...Array.from({ length: 12 }, () => location), ...standIns.of('LocationId')],
      CategoryId: [...categories, ...standIns.of('CategoryId')],
      ProductId: [...products, ...standIns.of('ProductId')],
      ...{ ZoneId: zoneIds, SpotId: spotIds, ZonesInput: [zones] },
      ...{
        ModifierId: [...modifierIds, ...groupedIds],
        ModifiersInput: [modifiers],
        ModifierGroupsInput: [groups, []],
      },
      OrderId: standIns.of('OrderId'),
      IntegrationId: standIns.of('IntegrationId'),
      SecretRotationId: standIns.of('SecretRotationId'),
      DeliveryId: standIns.of('DeliveryId'),
      ReplayId: standIns.of('ReplayId'),
      IntegrationUrlInput: others,
      FiscalDate: [day(-1), day(0), day(0), day(1)],
      // ICU knows PST, the IANA database does not.
      TimeZone: ['UTC', 'Europe/Amsterdam', 'Asia/Kathmandu', 'Pacific/Kiritimati', 'PST'],
      // Archived resources accept no orders, so they are rare too.
      ...{ currency: ['EUR', 'EUR', 'JPY', 'HRK'], active: [true], archived: [false], limit: [3] },
      // Periods in the past are rare: each replay of one sends all events so far again.
      since: [...Array.from({ length: 9 }, () => `${day(1)}T12:00:00+05:45`), day(-1)],
      until: [day(2), '2999-12-31', '0000-01-01T00:00:00-00:00', '9999-12-31T23:59:59.999999999-23:59'],
      'Idempotency-Key': Array.from({ length: 200 }, (_, index) => `key-${index}`),
      'If-Match': ['*', '*', `"${newestOrder ?? ''}.1"`, '"of nothing"'],
    },
  };
}

function ids(count: number, digit: string): string[] {
  return Array.from({ length: count }, (_, index) => `${digit.repeat(8)}-0000-4000-8000-00000000000${index}`);
}

/** The created resources, according to the answers. */
export interface ShopLedger {
  note(call: Call, answer: WireAnswer): void;
  /** The answer to the creation of each order, by the id of the order. Replayed answers are not included. */
  readonly placed: ReadonlyMap<string, Json>;
  /** The ids of the existing integrations that requests can use, the oldest first. */
  readonly integrations: ReadonlySet<string>;
  /** All secrets of an integration so far, by its id. */
  readonly secrets: ReadonlyMap<string, readonly string[]>;
  /** The ids of the integrations that had a secret from the start. */
  readonly alwaysSigned: ReadonlySet<string>;
}

/** The operations that create something, and the kind of their id. */
const makes: Partial<Record<OperationId, Kind>> = {
  ...{ createLocation: 'LocationId', createCategory: 'CategoryId', createProduct: 'ProductId', createOrder: 'OrderId' },
  ...{ createIntegration: 'IntegrationId', createReplay: 'ReplayId' },
  ...{ sendTestEvent: 'DeliveryId', resendDelivery: 'DeliveryId' },
};

/** Updates stand-ins and ledger from answers. */
export function createShopLedger(standIns: StandIns, { watcher }: Pick<ShopTargets, 'watcher'>): ShopLedger {
  const placed = new Map<string, Json>();
  const integrations = new Set<string>();
  const secrets = new Map<string, string[]>();
  const alwaysSigned = new Set<string>();
  let firstLocation: unknown;

  const noteSecret = (sent: Json, answer: Json): void => {
    const { id, secret } = answer as { id: string; secret?: { value: string } };
    const given = secret?.value ?? sent['secret'];
    if (typeof given === 'string') secrets.set(id, [...(secrets.get(id) ?? []), given]);
  };

  const noteMade = (kind: Kind, answer: Json): void => {
    const id = String(answer['id']);
    if (kind === 'LocationId') firstLocation ??= id;
    // Orders belong to one location, so products of other locations would make them fail.
    if ((kind === 'CategoryId' || kind === 'ProductId') && answer['location_id'] !== firstLocation) return;
    if (kind === 'IntegrationId') {
      if (answer['signed'] === true) alwaysSigned.add(id);
      if (answer['url'] === watcher) return;
      integrations.add(id);
    }
    standIns.add(kind, id);
  };

  return {
    placed,
    integrations,
    secrets,
    alwaysSigned,
    note({ request: { method, url, body } }, { status, headers, text }) {
      const operationId = findOperation(method, url);
      if (operationId === undefined || method === 'HEAD' || status >= 300) return;
      if (operationId === 'deleteIntegration') {
        const id = url.slice(url.lastIndexOf('/') + 1);
        integrations.delete(id);
        standIns.remove('IntegrationId', id);
        return;
      }
      const kind = makes[operationId];
      if (kind === undefined && operationId !== 'beginSecretRotation') return;
      const answer = JSON.parse(text) as Json;
      if (kind !== undefined) noteMade(kind, answer);
      else standIns.add('SecretRotationId', (answer['secret_rotation'] as { id: string }).id);
      if (operationId === 'createOrder' && headers['idempotency-replayed'] === undefined) {
        placed.set(String(answer['id']), answer);
      }
      if (operationId === 'createIntegration' || operationId === 'beginSecretRotation') {
        noteSecret(body === undefined || body === '' ? {} : (JSON.parse(body) as Json), answer);
      }
    },
  };
}
