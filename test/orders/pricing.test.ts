import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { priceOrder, type PricedLine } from '../../src/orders/pricing.ts';

const largest = 1_000_000_000_000;
const line = (unitPrice: number, quantity = 1, modifiers: PricedLine['modifiers'] = []): PricedLine => ({
  unitPrice,
  quantity,
  modifiers,
});

describe('lines', () => {
  it('cost the quantity times the price of one unit with its modifiers', () => {
    const modifiers = [
      { price: 50, quantity: 2 },
      { price: 30, quantity: 1 },
    ];
    expect(priceOrder([line(400, 3, modifiers), line(125, 2)], { taxRate: 0, feeRate: 0 }, largest)).toEqual({
      lines: [1590, 250],
      subtotal: 1840,
      taxes: 0,
      fees: 0,
      total: 1840,
    });
  });

  it('can be free', () => {
    const totals = priceOrder([line(0, 999)], { taxRate: 190_000, feeRate: 10_000 }, largest);
    expect(totals).toEqual({ lines: [0], subtotal: 0, taxes: 0, fees: 0, total: 0 });
  });
});

describe('rounding', () => {
  it.each([
    // subtotal, parts per million, expected: half-up at exactly one half
    [1, 499_999, 0],
    [1, 500_000, 1],
    [50, 10_000, 1],
    [49, 10_000, 0],
    [150, 10_000, 2],
    [250, 10_000, 3],
    [1_999, 190_000, 380],
    [1_050, 190_000, 200],
    [1_000, 77_500, 78],
    [999, 1_000_000, 999],
    [333, 82_500, 27],
    [400, 88_749, 35],
    [400, 88_750, 36],
    [499_999, 1, 0],
    [500_000, 1, 1],
    [100, 0, 0],
  ])('of %i at %i parts per million gives %i', (subtotal, rate, expected) => {
    expect(priceOrder([line(subtotal)], { taxRate: rate, feeRate: 0 }, largest)?.taxes).toBe(expected);
    expect(priceOrder([line(subtotal)], { taxRate: 0, feeRate: rate }, largest)?.fees).toBe(expected);
  });

  it('happens once per order and not for each line', () => {
    const lines = Array.from({ length: 10 }, () => line(5));
    expect(priceOrder(lines, { taxRate: 100_000, feeRate: 0 }, largest)?.taxes).toBe(5);
  });

  it('rounds tax and fee separately, both on the subtotal', () => {
    const totals = priceOrder([line(250)], { taxRate: 10_000, feeRate: 10_000 }, largest);
    expect(totals).toMatchObject({ subtotal: 250, taxes: 3, fees: 3, total: 256 });
  });

  it('is exact for products that a double cannot hold', () => {
    const totals = priceOrder([line(999_999_999_999)], { taxRate: 999_999, feeRate: 0 }, Number.MAX_SAFE_INTEGER);
    expect(totals?.taxes).toBe(999_998_999_999);
  });
});

describe('the largest total', () => {
  it('can be reached but not exceeded', () => {
    expect(priceOrder([line(1_000_000_000, 999)], { taxRate: 0, feeRate: 0 }, 999_000_000_000)?.total).toBe(
      999_000_000_000,
    );
    expect(priceOrder([line(1_000_000_000, 999)], { taxRate: 0, feeRate: 0 }, 998_999_999_999)).toBeUndefined();
  });

  it('is above the total of every order that the contract allows', () => {
    const modifiers = Array.from({ length: 50 }, () => ({ price: 1_000_000_000, quantity: 99 }));
    const lines = Array.from({ length: 200 }, () => line(1_000_000_000, 999, modifiers));
    expect(priceOrder(lines, { taxRate: 1_000_000, feeRate: 1_000_000 }, Number.MAX_SAFE_INTEGER)).toBeUndefined();
  });
});

it('is always the sum of its parts', () => {
  const money = fc.integer({ min: 0, max: 1_000_000 });
  const lines = fc.array(
    fc.record({
      unitPrice: money,
      quantity: fc.integer({ min: 1, max: 999 }),
      modifiers: fc.array(fc.record({ price: money, quantity: fc.integer({ min: 1, max: 9 }) }), { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 20 },
  );
  const rate = fc.integer({ min: 0, max: 1_000_000 });
  fc.assert(
    fc.property(lines, rate, rate, (some, taxRate, feeRate) => {
      const totals = priceOrder(some, { taxRate, feeRate }, Number.MAX_SAFE_INTEGER);
      if (totals === undefined) return false;
      const { subtotal, taxes, fees, total } = totals;
      const exact = (subtotal * taxRate) / 1_000_000;
      return (
        totals.lines.reduce((sum, one) => sum + one, 0) === subtotal &&
        subtotal + taxes + fees === total &&
        taxes - exact <= 0.5 + 1e-3 &&
        exact - taxes < 0.5 + 1e-3
      );
    }),
  );
});
