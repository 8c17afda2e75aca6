import type { FiscalClock, FiscalSpan } from './fiscal-calendar.ts';

/** A place where an order can be placed, such as a table. */
export interface Spot {
  /** Unique within the location. */
  readonly id: string;
  readonly name: string;
}

/** A part of a location, such as a terrace. */
export interface Zone {
  /** Unique among the location's zones. */
  readonly id: string;
  readonly name: string;
  readonly spots: readonly Spot[];
}

/** A place that sells things. */
export interface Location extends FiscalClock {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  /** ISO 4217. Never changes: every price at the location is in it. */
  readonly currency: string;
  /** In basis points, of the subtotal. */
  readonly taxRate: number;
  /** In basis points, of the subtotal. */
  readonly feeRate: number;
  readonly zones: readonly Zone[];
  readonly createdAt: Date;
  /** Each change moves it forward. */
  readonly updatedAt: Date;
  /**
   * The fiscal day that is closed next. All earlier ones are closed, and their orders marked as counted. Once it has begun,
   * no change of the clock moves its beginning.
   */
  readonly nextFiscalDay: FiscalSpan;
  /** Counts the changes, from 1. Fiscal days that end are none. */
  readonly revision: number;
}

/** The spot of this id, and the zone that it is in. */
export function findSpot({ zones }: Location, spotId: string): { spot: Spot; zone: Zone } | undefined {
  for (const zone of zones) {
    const spot = zone.spots.find(({ id }) => id === spotId);
    if (spot !== undefined) return { spot, zone };
  }
  return undefined;
}
