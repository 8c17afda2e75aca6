import type { Location } from '../catalog/locations/location.ts';
import { findSpot } from '../catalog/locations/location.ts';
import type { Product } from '../catalog/products/product.ts';
import { ProblemError, type ProblemDetail } from '../errors/problem-error.ts';
import type { OrderItem, OrderModifier, OrderSpot } from './order.ts';

/** A line of an order as a caller asks for it. */
export interface RequestedItem {
  readonly productId: string;
  readonly quantity: number;
  readonly modifiers: readonly { readonly id: string; readonly quantity: number }[];
}

/** A line of an order before it is priced. */
export type UnpricedItem = Omit<OrderItem, 'total'>;

/**
 * Copies what an order keeps of the catalog. All that is wrong in one way is named at once.
 * @param products those of the requested products that exist, by id
 * @throws {ProblemError} unknown-product for products that do not exist or are another location's; product-not-active;
 *   unknown-modifier for modifiers that their product does not have
 */
export function snapshotItems(
  requested: readonly RequestedItem[],
  location: Location,
  products: ReadonlyMap<string, Product>,
): UnpricedItem[] {
  const unknownProducts: ProblemDetail[] = [];
  const inactive: ProblemDetail[] = [];
  const unknownModifiers: ProblemDetail[] = [];
  const items = requested.flatMap((item, index): UnpricedItem[] => {
    const pointer = `#/items/${index}/product_id`;
    const product = products.get(item.productId);
    if (product?.locationId !== location.id) {
      unknownProducts.push({ detail: 'is the id of no product of this location', pointer });
      return [];
    }
    if (!product.active) inactive.push({ detail: 'is the id of a product that is not active', pointer });
    return [snapshotItem(item, product, `#/items/${index}/modifiers`, unknownModifiers)];
  });
  refuse('unknown-product', 'The order names products that its location does not have.', unknownProducts);
  refuse('product-not-active', 'The order names products that cannot be ordered at present.', inactive);
  refuse('unknown-modifier', 'The order names modifiers that its products do not have.', unknownModifiers);
  return items;
}

function snapshotItem(item: RequestedItem, product: Product, pointer: string, unknown: ProblemDetail[]): UnpricedItem {
  const modifiers = item.modifiers.flatMap(({ id, quantity }, index): OrderModifier[] => {
    const modifier = product.modifiers.find((one) => one.id === id);
    if (modifier !== undefined) return [{ id, name: modifier.name, price: modifier.price, quantity }];
    unknown.push({ detail: 'is the id of no modifier of this product', pointer: `${pointer}/${index}/id` });
    return [];
  });
  return {
    productId: product.id,
    name: product.name,
    tags: product.tags,
    quantity: item.quantity,
    unitPrice: product.price,
    modifiers,
  };
}

/**
 * Copies what an order keeps of the spot that it is placed at.
 * @throws {ProblemError} unknown-spot
 */
export function snapshotSpot(location: Location, spotId: string): OrderSpot {
  const found = findSpot(location, spotId);
  if (found !== undefined) {
    const { spot, zone } = found;
    return { id: spot.id, name: spot.name, zoneId: zone.id, zoneName: zone.name };
  }
  throw new ProblemError('unknown-spot', {
    detail: `The location has no spot with the id ${spotId}.`,
    errors: [{ detail: 'is the id of no spot of this location', pointer: '#/spot_id' }],
  });
}

function refuse(
  type: 'unknown-product' | 'product-not-active' | 'unknown-modifier',
  detail: string,
  errors: ProblemDetail[],
): void {
  if (errors.length > 0) throw new ProblemError(type, { detail, errors });
}
