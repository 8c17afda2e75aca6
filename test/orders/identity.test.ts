import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { packIds, unpackIds } from '../../src/orders/fiscal-days/packed-ids.ts';
import { derivedOrderId } from '../../src/orders/order-id.ts';

describe('an order id made of keys', () => {
  it('is a UUID of version 8, the same each time', () => {
    const id = derivedOrderId('0d5a2c0e-8d6d-4f0c-9a3c-0b8f4c1f2a11', 'order-4711');
    expect(id).toBe('a6fceab4-6f75-8a0a-8857-3b28b42e76a2');
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('is another one for another key of either kind', () => {
    const pairs = [
      ['a', 'b'],
      ['a', 'B'],
      ['ab', ''],
      ['', 'ab'],
      ['b', 'a'],
    ] as const;
    expect(new Set(pairs.map(([apiKey, key]) => derivedOrderId(apiKey, key))).size).toBe(pairs.length);
  });
});

describe('packed ids', () => {
  it('take 16 bytes each and come back as they were', () => {
    const ids = Array.from({ length: 1_000 }, () => randomUUID());
    const packed = packIds(ids);
    expect(packed.length).toBe(16_000);
    expect(unpackIds(packed)).toEqual(ids);
    expect(unpackIds(packIds([]))).toEqual([]);
  });
});
