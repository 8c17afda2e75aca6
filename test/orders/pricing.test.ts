import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Location } from '../../src/orders/catalog/locations/location.ts';
import type { Product } from '../../src/orders/catalog/products/product.ts';
import { priceOrder, type OrderTotals, type PricedLine } from '../../src/orders/pricing.ts';
import { snapshotOrder } from '../../src/orders/snapshot.ts';

const largest = 1_000_000_000_000;
type Line = Omit<PricedLine, 'taxRatePpm'>;
const line = (unitPrice: number, quantity = 1, modifiers: PricedLine['modifiers'] = []): Line => ({
  unitPrice,
  quantity,
  modifiers,
});

/** Lines that all have the same rate, which is added. */
function price(
  lines: readonly Line[],
  { taxRate, feeRate }: { readonly taxRate: number; readonly feeRate: number },
  most: number,
): OrderTotals | undefined {
  const rated = lines.map((one) => ({ ...one, taxRatePpm: taxRate }));
  return priceOrder(rated, { feeRate, pricesIncludeTax: false }, most);
}

describe('lines', () => {
  it('cost the quantity times the price of one unit with its modifiers', () => {
    const modifiers = [
      { price: 50, quantity: 2 },
      { price: 30, quantity: 1 },
    ];
    expect(price([line(400, 3, modifiers), line(125, 2)], { taxRate: 0, feeRate: 0 }, largest)).toEqual({
      lines: [1590, 250],
      subtotal: 1840,
      taxLines: [{ ratePpm: 0, base: 1840, amount: 0 }],
      taxes: 0,
      fees: 0,
      total: 1840,
    });
  });

  it('can be free', () => {
    const totals = price([line(0, 999)], { taxRate: 190_000, feeRate: 10_000 }, largest);
    expect(totals).toMatchObject({ lines: [0], subtotal: 0, taxes: 0, fees: 0, total: 0 });
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
    expect(price([line(subtotal)], { taxRate: rate, feeRate: 0 }, largest)?.taxes).toBe(expected);
    expect(price([line(subtotal)], { taxRate: 0, feeRate: rate }, largest)?.fees).toBe(expected);
  });

  it('happens once per order and not for each line', () => {
    const lines = Array.from({ length: 10 }, () => line(5));
    expect(price(lines, { taxRate: 100_000, feeRate: 0 }, largest)?.taxes).toBe(5);
  });

  it('rounds tax and fee separately, both on the subtotal', () => {
    const totals = price([line(250)], { taxRate: 10_000, feeRate: 10_000 }, largest);
    expect(totals).toMatchObject({ subtotal: 250, taxes: 3, fees: 3, total: 256 });
  });

  it('is exact for products that a double cannot hold', () => {
    const totals = price([line(999_999_999_999)], { taxRate: 999_999, feeRate: 0 }, Number.MAX_SAFE_INTEGER);
    expect(totals?.taxes).toBe(999_998_999_999);
  });
});

describe('the largest total', () => {
  it('can be reached but not exceeded', () => {
    expect(price([line(1_000_000_000, 999)], { taxRate: 0, feeRate: 0 }, 999_000_000_000)?.total).toBe(999_000_000_000);
    expect(price([line(1_000_000_000, 999)], { taxRate: 0, feeRate: 0 }, 998_999_999_999)).toBeUndefined();
  });

  it('is above the total of every order that the contract allows', () => {
    const modifiers = Array.from({ length: 50 }, () => ({ price: 1_000_000_000, quantity: 99 }));
    const lines = Array.from({ length: 200 }, () => line(1_000_000_000, 999, modifiers));
    expect(price(lines, { taxRate: 1_000_000, feeRate: 1_000_000 }, Number.MAX_SAFE_INTEGER)).toBeUndefined();
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
      const totals = price(some, { taxRate, feeRate }, Number.MAX_SAFE_INTEGER);
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

describe('taxes by rate', () => {
  const rated = (ratePpm: number, ...totals: number[]): PricedLine[] =>
    totals.map((total) => ({ ...line(total), taxRatePpm: ratePpm }));

  it('are added once for each rate, the lowest first', () => {
    const lines = [...rated(190_000, 333, 333), ...rated(70_000, 111), ...rated(0, 5), ...rated(190_000, 1)];
    expect(priceOrder(lines, { feeRate: 50_000, pricesIncludeTax: false }, largest)).toEqual({
      lines: [333, 333, 111, 5, 1],
      subtotal: 783,
      taxLines: [
        { ratePpm: 0, base: 5, amount: 0 },
        { ratePpm: 70_000, base: 111, amount: 8 },
        { ratePpm: 190_000, base: 667, amount: 127 },
      ],
      taxes: 135,
      fees: 39,
      total: 957,
    });
  });

  it('are within prices that include them', () => {
    const lines = [...rated(190_000, 333, 333, 1), ...rated(70_000, 111)];
    expect(priceOrder(lines, { feeRate: 50_000, pricesIncludeTax: true }, largest)).toEqual({
      lines: [333, 333, 1, 111],
      subtotal: 778,
      taxLines: [
        { ratePpm: 70_000, base: 104, amount: 7 },
        { ratePpm: 190_000, base: 561, amount: 106 },
      ],
      taxes: 113,
      fees: 39,
      total: 817,
    });
  });

  it.each([
    // gross, parts per million, expected: half-up at exactly one half
    [119, 190_000, 19],
    [1, 1_000_000, 1],
    [3, 1_000_000, 2],
    [3, 500_000, 1],
    [1, 999_999, 0],
    [999_999_999_999, 190_000, 159_663_865_546],
  ])('of %i with %i parts per million are %i', (gross, ratePpm, amount) => {
    const totals = priceOrder(rated(ratePpm, gross), { feeRate: 0, pricesIncludeTax: true }, largest);
    expect(totals).toMatchObject({ taxLines: [{ base: gross - amount, amount }], taxes: amount, total: gross });
  });

  const expectExact = (totals: OrderTotals, some: readonly PricedLine[], pricesIncludeTax: boolean): void => {
    const gross = (of: readonly PricedLine[]): bigint =>
      of.reduce((sum, { unitPrice, quantity, modifiers }) => {
        const extras = modifiers.reduce((more, one) => more + BigInt(one.price * one.quantity), 0n);
        return sum + BigInt(quantity) * (BigInt(unitPrice) + extras);
      }, 0n);
    const used = [...new Set(some.map(({ taxRatePpm }) => taxRatePpm))].sort((one, other) => one - other);
    expect(totals.taxLines.map(({ ratePpm }) => ratePpm)).toEqual(used);
    for (const { ratePpm, base, amount } of totals.taxLines) {
      const sum = gross(some.filter(({ taxRatePpm }) => taxRatePpm === ratePpm));
      const [rate, of] = [BigInt(ratePpm), pricesIncludeTax ? 1_000_000n + BigInt(ratePpm) : 1_000_000n];
      // amount - 1/2 <= sum × rate / of < amount + 1/2
      const twice = 2n * sum * rate;
      expect((2n * BigInt(amount) - 1n) * of <= twice && twice < (2n * BigInt(amount) + 1n) * of).toBe(true);
      expect(BigInt(base)).toBe(pricesIncludeTax ? sum - BigInt(amount) : sum);
    }
    const taxes = totals.taxLines.reduce((sum, { amount }) => sum + amount, 0);
    expect([totals.taxes, BigInt(totals.subtotal)]).toEqual([taxes, gross(some)]);
    expect(totals.total).toBe(totals.subtotal + totals.fees + (pricesIncludeTax ? 0 : taxes));
  };

  it('agree with exact fractions for 5,000 orders', () => {
    const rates = [0, 70_000, 88_750, 190_000, 1_000_000, 1];
    const lines = fc.array(
      fc.record({
        unitPrice: fc.integer({ min: 0, max: 1_000_000_000 }),
        quantity: fc.integer({ min: 1, max: 999 }),
        modifiers: fc.array(
          fc.record({ price: fc.integer({ min: 0, max: 1_000 }), quantity: fc.integer({ min: 1, max: 9 }) }),
          { maxLength: 3 },
        ),
        taxRatePpm: fc.constantFrom(...rates),
      }),
      { minLength: 1, maxLength: 20 },
    );
    fc.assert(
      fc.property(lines, fc.boolean(), fc.constantFrom(...rates), (some, pricesIncludeTax, feeRate) => {
        const totals = priceOrder(some, { feeRate, pricesIncludeTax }, Number.MAX_SAFE_INTEGER);
        if (totals === undefined) return;
        expectExact(totals, some, pricesIncludeTax);
      }),
      { numRuns: 5_000 },
    );
  });

  it('agree with exact fractions for 5,000 orders of products with groups, each refused only if it breaks one', () => {
    const at = new Date(0);
    const rates = [0, 70_000, 88_750, 190_000];
    const rate = fc.option(fc.constantFrom(...rates), { nil: undefined });
    const made = fc
      .record({
        price: fc.integer({ min: 0, max: 1_000_000_000 }),
        prices: fc.array(fc.integer({ min: 0, max: 1_000 }), { minLength: 1, maxLength: 6 }),
        groups: fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 1, max: 4 })), { maxLength: 3 }),
        taxRate: rate,
        takeAwayTaxRate: rate,
      })
      .map(({ price: of, prices, groups, taxRate, takeAwayTaxRate }): Product => {
        const all = prices.map((one, place) => ({ id: `m${place}`, name: `M${place}`, price: one, place }));
        // Each modifier is in one of the groups, or in none.
        const within = (group: number): typeof all => all.filter(({ place }) => place % (groups.length + 1) === group);
        const modifierGroups = groups
          .map(([min, max], group) => ({ name: `G${group}`, min: Math.min(min, max), max, modifiers: within(group) }))
          .filter(({ modifiers }) => modifiers.length > 0);
        return {
          ...{ id: 'p', locationId: 'here', categoryId: 'c', name: 'P', price: of, currency: 'EUR', tags: [] },
          ...{ description: undefined, sku: undefined, imageUrl: undefined, taxRate, takeAwayTaxRate },
          ...{ modifiers: within(groups.length), modifierGroups, active: true, archived: false },
          ...{ unavailableUntil: undefined, createdAt: at, updatedAt: at, revision: 1, waiting: 0 },
        };
      });
    const place = fc.nat({ max: 5 });
    const chosen = fc.array(fc.record({ place, quantity: fc.integer({ min: 1, max: 3 }) }), { maxLength: 4 });
    const lines = fc.array(fc.record({ product: place, quantity: fc.integer({ min: 1, max: 999 }), chosen }), {
      minLength: 1,
      maxLength: 8,
    });
    const outcomes = { placed: 0, refused: 0 };
    fc.assert(
      fc.property(
        fc.array(made, { minLength: 1, maxLength: 4 }),
        lines,
        fc.constantFrom('eat_in' as const, 'take_away' as const),
        fc.boolean(),
        (products, some, service, pricesIncludeTax) => {
          const location = locationOf({ taxRate: 190_000, pricesIncludeTax });
          const sold = products.map((product, index) => ({ ...product, id: `p${index}` }));
          const asked = some.map(({ product: index, quantity, chosen: picks }) => {
            const product = sold[index % sold.length] ?? fail();
            const choices = [
              ...product.modifiers,
              ...(product.modifierGroups ?? []).flatMap(({ modifiers }) => modifiers),
            ];
            const modifiers = picks.map((pick) => {
              return { ...(choices[pick.place % choices.length] ?? fail()), quantity: pick.quantity };
            });
            return { product, productId: product.id, quantity, modifiers };
          });
          const isBroken = asked.some(({ product, modifiers }) =>
            (product.modifierGroups ?? []).some(({ min, max, modifiers: of }) => {
              const count = modifiers.reduce(
                (sum, { id, quantity }) => sum + (of.some((one) => one.id === id) ? quantity : 0),
                0,
              );
              return count < min || count > max;
            }),
          );
          const snapshot = (): ReturnType<typeof snapshotOrder> =>
            snapshotOrder({ items: asked, spotId: undefined, service, at }, location, {
              products: new Map(sold.map((product) => [product.id, product])),
              categories: new Map(),
            });
          outcomes[isBroken ? 'refused' : 'placed'] += 1;
          if (isBroken) {
            expect(snapshot).toThrow('too few or too many modifiers of a group');
            return;
          }
          // What the catalog says, without the code that copies it.
          const expected = asked.map(({ product, quantity, modifiers }) => {
            const eatIn = product.taxRate ?? 190_000;
            const taxRatePpm = service === 'take_away' ? (product.takeAwayTaxRate ?? eatIn) : eatIn;
            return { unitPrice: product.price, quantity, modifiers, taxRatePpm };
          });
          const { items } = snapshot();
          for (const [index, { modifiers }] of items.entries()) {
            for (const { id, group } of modifiers) {
              const own = asked[index]?.product.modifierGroups?.find((one) => one.modifiers.some((of) => of.id === id));
              expect(group).toBe(own?.name);
            }
          }
          const totals = priceOrder(items, location, Number.MAX_SAFE_INTEGER) ?? fail();
          expectExact(totals, expected, pricesIncludeTax);
        },
      ),
      { numRuns: 5_000 },
    );
    expect(outcomes.placed).toBeGreaterThan(500);
    expect(outcomes.refused).toBeGreaterThan(500);
  });
});

function fail(): never {
  throw new Error('a value is missing');
}

function locationOf({ taxRate, pricesIncludeTax }: Pick<Location, 'taxRate' | 'pricesIncludeTax'>): Location {
  const at = new Date(0);
  return {
    ...{ id: 'here', name: 'Here', currency: 'EUR', timeZone: 'UTC', fiscalDayEnd: '00:00', taxRate, feeRate: 25_000 },
    ...{ pricesIncludeTax, zones: [], archived: false, createdAt: at, updatedAt: at, revision: 1 },
    nextFiscalDay: { date: '1970-01-01', beginsAt: at, endsAt: at },
  };
}
