import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ensureInstallation } from '../../src/storage/db/installation.ts';
import { packIds, unpackIds } from '../../src/orders/fiscal-days/packed-ids.ts';
import { createOrderIds } from '../../src/orders/order-id.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('an order id from an idempotency key', () => {
  const apiKey = '0d5a2c0e-8d6d-4f0c-9a3c-0b8f4c1f2a11';
  const here = createOrderIds({ id: 'here' });

  it('is a UUID of version 8, always the same', () => {
    const id = here(apiKey, 'order-4711');
    expect(here(apiKey, 'order-4711')).toBe(id);
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
    const there = createOrderIds({ id: 'there' });
    const ids = pairs.flatMap(([key, idempotencyKey]) => [here(key, idempotencyKey), there(key, idempotencyKey)]);
    expect(new Set(ids).size).toBe(2 * pairs.length);
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
    expect(await ensureInstallation(database)).toEqual(made[0]);
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
