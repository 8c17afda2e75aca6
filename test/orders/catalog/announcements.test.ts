import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createCategories, type Categories } from '../../../src/orders/catalog/categories/categories.ts';
import { categoryFields } from '../../../src/orders/catalog/categories/category.ts';
import { createCategoryStore } from '../../../src/orders/catalog/categories/category-store.ts';
import { locationFields } from '../../../src/orders/catalog/locations/location.ts';
import { createLocations, type Locations } from '../../../src/orders/catalog/locations/locations.ts';
import { createLocationStore } from '../../../src/orders/catalog/locations/location-store.ts';
import { productFields } from '../../../src/orders/catalog/products/product.ts';
import { createProducts, type Products } from '../../../src/orders/catalog/products/products.ts';
import { createProductStore } from '../../../src/orders/catalog/products/product-store.ts';
import { toPayload } from '../../../src/webhooks/events/serialise.ts';
import {
  fromOutboxDocuments,
  outboxCapacity,
  type Relay,
  type WithOutbox,
} from '../../../src/webhooks/events/outbox.ts';
import type { EventPayload } from '../../../generated/events.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { system } from '../../../src/base/runtime/system.ts';
import { someone } from '../../support/author.ts';

const always = (): boolean => true;
let database: TestDatabase;
let locations: Locations;
let categories: Categories;
let products: Products;
let nudged: string[];
/** Runs when a writer asks the relay to send now. */
let relayNow: Relay['relayNow'];

const documents = (collection: string) => database.db.collection<WithOutbox & { _id: string }>(collection);
const payloads = async (collection: string, id: string): Promise<EventPayload[]> => {
  const document = await documents(collection).findOne({ _id: id });
  return fromOutboxDocuments(document?.outbox ?? []).map(toPayload);
};

beforeAll(async () => {
  database = await createTestDatabase();
  const relay: Relay = {
    nudge: (collection, id) => void nudged.push(`${collection} ${id}`),
    relayNow: (collection, id) => relayNow(collection, id),
  };
  locations = createLocations({ store: createLocationStore(database), ...system });
  categories = createCategories({ store: createCategoryStore(database), locations, relay, ...system });
  products = createProducts({ store: createProductStore(database), locations, categories, relay, ...system });
});
afterAll(() => database.drop());
beforeEach(() => {
  nudged = [];
  relayNow = () => Promise.reject(new Error('not called'));
});

const newCategory = async (): Promise<{ locationId: string; categoryId: string }> => {
  const content = locationFields.readNew({ name: 'Café', currency: 'EUR', time_zone: 'UTC' });
  const location = await locations.create(content, randomUUID(), someone);
  const id = `cat_${randomUUID().replaceAll('-', '')}`;
  const body = categoryFields.readNew({ location_id: location.id, name: 'Drinks' });
  const category = await categories.create(body, id, someone);
  return { locationId: location.id, categoryId: category.id };
};
const newProduct = async (): Promise<{ locationId: string; categoryId: string; productId: string }> => {
  const { locationId, categoryId } = await newCategory();
  const body = { location_id: locationId, category_id: categoryId, name: 'Tea', price: 300 };
  const content = productFields.readNew(body);
  return { locationId, categoryId, productId: (await products.create(content, randomUUID(), someone)).id };
};

/** What every event of a location has. */
const placeOf = (id: string) => ({ locationUuid: id, locationId: id, locationName: 'Café' });

describe('a category', () => {
  it('is not announced when it is created', async () => {
    const { categoryId } = await newCategory();
    expect(await payloads('categories', categoryId)).toEqual([]);
    expect(nudged).toEqual([]);
  });

  it('is announced when it changes, and names itself as the cause', async () => {
    const { locationId, categoryId } = await newCategory();
    const { updatedAt } = await categories.update(categoryId, { name: 'Hot drinks' }, always, someone);
    expect(await payloads('categories', categoryId)).toEqual([
      {
        type: 'CATEGORY_UPDATED',
        targetUuid: null,
        targetId: categoryId,
        createdAt: updatedAt.toISOString(),
        data: { cause: { type: 'CATEGORY_UPDATED' }, locationId },
        id: expect.any(String),
        ...placeOf(locationId),
      },
    ]);
    expect(nudged).toEqual([`categories ${categoryId}`]);
  });

  it('is not announced when a request changes nothing', async () => {
    const { categoryId } = await newCategory();
    const before = await categories.get(categoryId);
    expect(await categories.update(categoryId, { name: 'Drinks' }, always, someone)).toEqual(before);
    expect(await payloads('categories', categoryId)).toEqual([]);
    expect(nudged).toEqual([]);
  });
});

describe('a product', () => {
  it('is not announced when it is created', async () => {
    const { categoryId, productId } = await newProduct();
    expect(await payloads('products', productId)).toEqual([]);
    expect(await payloads('categories', categoryId)).toEqual([]);
  });

  it('is announced with its category when it changes', async () => {
    const { locationId, categoryId, productId } = await newProduct();
    const { updatedAt } = await products.update(productId, { price: 310 }, always, someone);
    const createdAt = updatedAt.toISOString();
    expect(await payloads('products', productId)).toEqual([
      {
        type: 'PRODUCT_UPDATED',
        targetUuid: productId,
        targetId: productId,
        createdAt,
        data: {},
        id: expect.any(String),
        ...placeOf(locationId),
      },
      {
        type: 'CATEGORY_UPDATED',
        targetUuid: null,
        targetId: categoryId,
        createdAt,
        data: { cause: { type: 'PRODUCT_UPDATED', targetUuid: productId }, locationId },
        id: expect.any(String),
        ...placeOf(locationId),
      },
    ]);
    expect(nudged).toEqual([`products ${productId}`]);
  });

  it('announces both categories when it moves', async () => {
    const { locationId, categoryId, productId } = await newProduct();
    const other = await categories.create(
      categoryFields.readNew({ location_id: locationId, name: 'Other' }),
      `cat_${randomUUID().replaceAll('-', '')}`,
      someone,
    );
    await products.update(productId, { categoryId: other.id }, always, someone);
    const announced = await payloads('products', productId);
    expect(announced.map(({ type }) => type)).toEqual(['PRODUCT_UPDATED', 'CATEGORY_UPDATED', 'CATEGORY_UPDATED']);
    expect(announced.slice(1)).toMatchObject([{ targetId: categoryId }, { targetId: other.id }]);
  });

  it('is not announced when a request changes nothing', async () => {
    const { productId } = await newProduct();
    const before = await products.get(productId);
    expect(await products.update(productId, { price: 300, tags: [], modifiers: [] }, always, someone)).toEqual(before);
    expect(await payloads('products', productId)).toEqual([]);
  });

  it('is announced once for each of many simultaneous changes', async () => {
    const { productId } = await newProduct();
    const prices = Array.from({ length: 20 }, (_, index) => 1_000 + index);
    await Promise.all(prices.map((price) => products.update(productId, { price }, always, someone)));
    const announced = await payloads('products', productId);
    expect(announced.filter(({ type }) => type === 'PRODUCT_UPDATED')).toHaveLength(20);
    expect(new Set(announced.map(({ createdAt }) => createdAt)).size).toBe(20);
    const document = await documents('products').findOne({ _id: productId });
    expect(new Set(document?.outbox.map(({ id }) => id)).size).toBe(40);
  });
});

describe('a full outbox', () => {
  const fill = async (productId: string): Promise<void> => {
    const about = { target_id: productId, location_id: 'l' };
    const event = { type: 'PRODUCT_UPDATED' as const, ...about, created_at: new Date(), data: {} };
    const outbox = Array.from({ length: outboxCapacity }, () => ({ ...event, id: randomUUID() }));
    await documents('products').updateOne({ _id: productId }, { $set: { outbox } });
  };

  it('is relayed by the writer before the change', async () => {
    const { productId } = await newProduct();
    await fill(productId);
    const called: string[] = [];
    relayNow = async (collection, id) => {
      called.push(`${collection} ${id}`);
      await documents('products').updateOne({ _id: productId }, { $set: { outbox: [] } });
    };
    await products.update(productId, { price: 1 }, always, someone);
    expect(called).toEqual([`products ${productId}`]);
    expect(await payloads('products', productId)).toHaveLength(2);
  });

  it('leads to a refused change if it stays full', async () => {
    const { productId } = await newProduct();
    await fill(productId);
    relayNow = () => Promise.resolve();
    await expect(products.update(productId, { price: 1 }, always, someone)).rejects.toMatchObject({
      type: 'overloaded',
    });
    expect((await products.get(productId)).price).toBe(300);
  });
});
