import type { Category } from './catalog/categories/category.ts';
import type { Location } from './catalog/locations/location.ts';
import { findSpot } from './catalog/locations/location.ts';
import type { Product } from './catalog/products/product.ts';
import { refuseFindings } from '../base/errors/findings.ts';
import type { ProblemDetail } from '../base/errors/problem-error.ts';
import type { OrderItem, OrderModifier, OrderSpot, Service } from './order.ts';

/** A line of an order as a caller asks for it. */
export interface RequestedItem {
  readonly productId: string;
  readonly quantity: number;
  readonly modifiers: readonly { readonly id: string; readonly quantity: number }[];
}

/** The requested products that exist, and their categories, by id. */
export interface Sold {
  readonly products: ReadonlyMap<string, Product>;
  readonly categories: ReadonlyMap<string, Category>;
}

/** A line of an order before it is priced. */
export type UnpricedItem = Omit<OrderItem, 'total' | 'taxRatePpm'> & { readonly taxRatePpm: number };

/**
 * Copies the parts of the catalog that an order stores: its items and its spot. One error names all mistakes.
 * @throws {ProblemError} unknown-spot; unknown-product for products that do not exist or are another location's;
 *   archived; product-not-active; product-unavailable; unknown-modifier for modifiers that their product does not have;
 *   modifier-group-not-satisfied for lines with too few or too many modifiers of a group
 */
export function snapshotOrder(
  requested: {
    readonly items: readonly RequestedItem[];
    readonly spotId: string | undefined;
    readonly service: Service;
    /** When the order is placed. */
    readonly at: Date;
  },
  location: Location,
  { products, categories }: Sold,
): { items: UnpricedItem[]; spot: OrderSpot | undefined } {
  const { spotId } = requested;
  const spot = spotId === undefined ? undefined : snapshotSpot(location, spotId);
  const isUnknownSpot = spotId !== undefined && spot === undefined;
  const unknownProducts: ProblemDetail[] = [];
  const archived: ProblemDetail[] = location.archived
    ? [{ detail: 'is an archived location', pointer: '#/location_id' }]
    : [];
  const inactive: ProblemDetail[] = [];
  const unavailable: ProblemDetail[] = [];
  const unknownModifiers: ProblemDetail[] = [];
  const brokenGroups: ProblemDetail[] = [];
  const items = requested.items.flatMap((item, index): UnpricedItem[] => {
    const pointer = `#/items/${index}/product_id`;
    const product = products.get(item.productId);
    if (product?.locationId !== location.id) {
      unknownProducts.push({ detail: 'is not the id of a product of this location', pointer });
      return [];
    }
    if (product.archived) archived.push({ detail: 'is an archived product', pointer });
    else if (categories.get(product.categoryId)?.archived === true) {
      archived.push({ detail: 'is a product in an archived category', pointer });
    }
    if (!product.active) inactive.push({ detail: 'is a product that is not active', pointer });
    const { unavailableUntil: until } = product;
    if (until !== undefined && until > requested.at) {
      unavailable.push({ detail: `is a product that is unavailable until ${until.toISOString()}`, pointer });
    }
    const taxRatePpm = taxRateOf(product, location, requested.service);
    const modifiersPointer = `#/items/${index}/modifiers`;
    brokenGroups.push(...groupMistakes(item, product, modifiersPointer));
    return [{ ...snapshotItem(item, product, modifiersPointer, unknownModifiers), taxRatePpm }];
  });
  refuseFindings(
    {
      type: 'unknown-spot',
      detail: `The location has no spot with the id ${spotId ?? ''}.`,
      errors: isUnknownSpot ? [{ detail: 'is not the id of a spot of this location', pointer: '#/spot_id' }] : [],
    },
    {
      type: 'unknown-product',
      detail: 'The order contains products that its location does not have.',
      errors: unknownProducts,
    },
    {
      type: 'archived',
      detail: 'The order contains an archived location, archived products, or products of archived categories.',
      errors: archived,
    },
    {
      type: 'product-not-active',
      detail: 'The order contains products that are not active.',
      errors: inactive,
    },
    {
      type: 'product-unavailable',
      detail: 'The order contains products that are unavailable for some time.',
      errors: unavailable,
    },
    {
      type: 'unknown-modifier',
      detail: 'The order contains modifiers that its products do not have.',
      errors: unknownModifiers,
    },
    {
      type: 'modifier-group-not-satisfied',
      detail: 'The order contains products with too few or too many modifiers of a group.',
      errors: brokenGroups,
    },
  );
  return { items, spot };
}

/** What is taken away has the rate for that, if the product has one. */
function taxRateOf(product: Product, { taxRate }: Location, service: Service): number {
  const ofProduct = product.taxRate ?? taxRate;
  return service === 'take_away' ? (product.takeAwayTaxRate ?? ofProduct) : ofProduct;
}

function snapshotItem(
  item: RequestedItem,
  product: Product,
  pointer: string,
  unknown: ProblemDetail[],
): Omit<UnpricedItem, 'taxRatePpm'> {
  const modifiers = item.modifiers.flatMap(({ id, quantity }, index): OrderModifier[] => {
    const group = product.modifierGroups?.find((one) => one.modifiers.some((modifier) => modifier.id === id));
    const modifier = (group ?? product).modifiers.find((one) => one.id === id);
    if (modifier !== undefined)
      return [{ id, name: modifier.name, price: modifier.price, group: group?.name, quantity }];
    unknown.push({ detail: 'is not the id of a modifier of this product', pointer: `${pointer}/${index}/id` });
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

/** Where a line has fewer modifiers of a group of its product than it needs, or more than it may have. */
function groupMistakes(
  { modifiers }: RequestedItem,
  { modifierGroups = [] }: Product,
  pointer: string,
): ProblemDetail[] {
  return modifierGroups.flatMap(({ name, min, max, modifiers: choices }): ProblemDetail[] => {
    const ids = new Set(choices.map(({ id }) => id));
    let count = 0;
    for (const [index, { id, quantity }] of modifiers.entries()) {
      if (!ids.has(id)) continue;
      count += quantity;
      if (count > max) {
        const detail = `has ${count} modifiers of the group "${name}" with this one, and may have at most ${max}`;
        return [{ detail, pointer: `${pointer}/${index}` }];
      }
    }
    if (count >= min) return [];
    return [{ detail: `has ${count} modifiers of the group "${name}", and needs at least ${min}`, pointer }];
  });
}

function snapshotSpot(location: Location, spotId: string): OrderSpot | undefined {
  const found = findSpot(location, spotId);
  if (found === undefined) return undefined;
  const { spot, zone } = found;
  return { id: spot.id, name: spot.name, zoneId: zone.id, zoneName: zone.name };
}
