import { expect } from '@jest/globals';
import { createCatalog, createProduct, type Created } from './catalog/catalog-harness.ts';
import type { TestService } from '../support/service.ts';

/** A location where orders can be placed. */
export interface Shop {
  readonly location: Created;
  readonly coffee: Created;
  readonly pie: Created;
  /** The ids that an order can contain. */
  readonly oatMilk: string;
  readonly extraShot: string;
  readonly spot: string;
}

/**
 * Creates a location with a flat white at 420 (coffee, hot; oat milk 50, extra shot 70), an apple pie at 365 (pastry,
 * hot) and a spot "Table 4" in the zone "Terrace".
 */
export async function openShop(service: TestService, members: Record<string, unknown> = {}): Promise<Shop> {
  const zones = [
    { name: 'Bar', spots: [] },
    { name: 'Terrace', spots: [{ name: 'Table 3' }, { name: 'Table 4' }] },
  ];
  const { location, category } = await createCatalog(service, { zones, ...members });
  const modifiers = [
    { name: 'Oat milk', price: 50 },
    { name: 'Extra shot', price: 70 },
  ];
  const coffee = await createProduct(service, category, { tags: ['coffee', 'hot'], modifiers });
  const pie = await createProduct(service, category, { name: 'Apple pie', price: 365, tags: ['pastry', 'hot'] });
  const [oatMilk, extraShot] = coffee.body.modifiers as { id: string }[];
  const spot = (location.body.zones as { spots: { id: string }[] }[])[1]?.spots[1];
  return {
    location,
    coffee,
    pie,
    oatMilk: oatMilk?.id ?? '',
    extraShot: extraShot?.id ?? '',
    spot: spot?.id ?? '',
  };
}

/** A valid order of one flat white. */
export function orderBody({ location, coffee }: Shop, members: Record<string, unknown> = {}): Record<string, unknown> {
  return { location_id: location.id, items: [{ product_id: coffee.id, quantity: 1 }], ...members };
}

/** Places an order. */
export async function placeOrder(
  service: TestService,
  shop: Shop,
  members: Record<string, unknown> = {},
): Promise<Created> {
  const answer = await service.call('POST', '/v1/orders', { body: orderBody(shop, members) });
  expect(answer.status).toBe(201);
  return { id: (answer.body as { id: string }).id, etag: answer.headers['etag'] ?? '', body: answer.body };
}

/** Settings of a location that put it in the middle of its fiscal day, so that the day does not end during a test. */
export function middayClock(now: Date): { time_zone: string; fiscal_day_end: string } {
  const hour = String((now.getUTCHours() + 12) % 24).padStart(2, '0');
  return { time_zone: 'UTC', fiscal_day_end: `${hour}:30` };
}
