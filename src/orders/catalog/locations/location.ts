import type { components } from '../../../../generated/types.ts';
import { changeable, fields, fixed, made, type Change, type New, type None } from '../../../base/fields/fields.ts';
import type { Thing, Undeclared } from '../../../base/fields/fields.ts';
import { flag, integer, list, moment, object, text, type ValueOf } from '../../../base/fields/kinds.ts';
import type { FiscalSpan } from './fiscal-calendar.ts';

/** A place where an order can be placed, such as a table. */
export type Spot = ValueOf<typeof spot>;
const spot = object({
  /** Unique within the location. */
  id: text,
  name: text,
});

/** A part of a location, such as a terrace. */
export type Zone = ValueOf<typeof zone>;
const zone = object({
  /** Unique among the location's zones. */
  id: text,
  name: text,
  spots: list(spot),
});

/** In parts per million. Documents have basis points; a finer rate has decimals there. */
const rate: typeof integer = {
  ...integer,
  toStored: (partsPerMillion) => partsPerMillion / 100,
  fromStored: (basisPoints) => Math.round(basisPoints * 100),
};

/** The stored fields of a location, without the fiscal day in progress. */
export const locationFields = fields({
  /** UUID. */
  id: made(text),
  name: changeable(text),
  /** ISO 4217. Never changes, because every price at the location is in it. */
  currency: fixed(text),
  /** IANA time zone. */
  timeZone: changeable(text, { storedAs: 'timezone' }),
  /** `HH:MM`. */
  fiscalDayEnd: changeable(text, { initially: '00:00' }),
  /** Of the subtotal. */
  taxRate: changeable(rate, { initially: 0, shownAs: 'tax_rate_ppm' }),
  /** Of the subtotal. */
  feeRate: changeable(rate, { initially: 0, shownAs: 'fee_rate_ppm' }),
  /** Whether the prices of its products include the tax. Otherwise it is added. */
  pricesIncludeTax: changeable(flag, { initially: false }),
  zones: changeable(list(zone), { initially: [] }),
  /** Hidden from lists and refused in new orders. Its fiscal days continue. */
  archived: changeable(flag, { initially: false }),
  createdAt: made(moment),
  /** Each change makes it later. */
  updatedAt: made(moment),
});

/** A place that sells things. */
export interface Location extends Thing<typeof locationFields.table> {
  /**
   * The fiscal day that is closed next. All earlier ones are closed, and their orders are marked as counted. Once it
   * has begun, changes of the location do not move its beginning.
   */
  readonly nextFiscalDay: FiscalSpan;
  /** Number of changes, from 1. The end of a fiscal day does not count as a change. */
  readonly revision: number;
}

export type NewLocation = New<typeof locationFields.table>;
export type LocationChange = Change<typeof locationFields.table>;

type Schemas = components['schemas'];
/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInLocation = None<
  Undeclared<typeof locationFields.table, Schemas['Location'], Schemas['LocationCreate'], Schemas['LocationUpdate']>
>;

/** The spot with this id, and the zone that it is in. */
export function findSpot({ zones }: Location, spotId: string): { spot: Spot; zone: Zone } | undefined {
  for (const zone of zones) {
    const spot = zone.spots.find(({ id }) => id === spotId);
    if (spot !== undefined) return { spot, zone };
  }
  return undefined;
}
