import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ensureInstallation } from '../../src/storage/db/installation.ts';
import { packIds, unpackIds } from '../../src/orders/fiscal-days/packed-ids.ts';
import { createOrderIds } from '../../src/orders/order-id.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('an order id from an idempotency key', () => {
  const apiKey = '0d5a2c0e-8d6d-4f0c-9a3c-0b8f4c1f2a11';
  const here = createOrderIds({ id: 'here', hasFormerOrders: false });

  it('is a UUID of version 8, always the same', () => {
    const { id } = here(apiKey, 'order-4711');
    expect(here(apiKey, 'order-4711').id).toBe(id);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('is different for another key of either kind, and in another installation', () => {
    const pairs = [
      ['a', 'b'],
      ['a', 'B'],
      ['ab', ''],
      ['', 'ab'],
      ['b', 'a'],
    ] as const;
    const there = createOrderIds({ id: 'there', hasFormerOrders: false });
    const ids = pairs.flatMap(([key, idempotencyKey]) => [here(key, idempotencyKey).id, there(key, idempotencyKey).id]);
    expect(new Set(ids).size).toBe(2 * pairs.length);
  });

  it('has a former value only if there are orders from before installations had ids', () => {
    const upgraded = createOrderIds({ id: 'here', hasFormerOrders: true });
    expect(here(apiKey, 'order-4711').formerId).toBeUndefined();
    // The id that the first release made from these two.
    expect(upgraded(apiKey, 'order-4711').formerId).toBe('a6fceab4-6f75-8a0a-8857-3b28b42e76a2');
  });
});

describe('an installation', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  it('has one id, even if several processes start first', async () => {
    const made = await Promise.all(Array.from({ length: 10 }, () => ensureInstallation(database)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await ensureInstallation(database)).toEqual({ ...made[0], hasFormerOrders: false });
  });

  it('permanently records whether it had orders before', async () => {
    const orders = database.db.collection<{ _id: string }>('orders');
    await orders.insertOne({ _id: 'former' });
    expect((await ensureInstallation(database)).hasFormerOrders).toBe(true);
    await orders.deleteOne({ _id: 'former' });
    expect((await ensureInstallation(database)).hasFormerOrders).toBe(true);
  });

  it('has its id from the first start, before the first order', async () => {
    await ensureInstallation(database);
    await database.db.collection<{ _id: string }>('orders').insertOne({ _id: 'later' });
    expect((await ensureInstallation(database)).hasFormerOrders).toBe(false);
  });
});

describe('packed ids', () => {
  it('take 16 bytes each and can be unpacked unchanged', () => {
    const ids = Array.from({ length: 1_000 }, () => randomUUID());
    const packed = packIds(ids);
    expect(packed.length).toBe(16_000);
    expect(unpackIds(packed)).toEqual(ids);
    expect(unpackIds(packIds([]))).toEqual([]);
  });
});
