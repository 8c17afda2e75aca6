import type { components } from '../../../generated/types.ts';
import { fields, made, type Difference, type None, type Shown, type Thing } from '../../base/fields/fields.ts';
import { integer, moment, same, text } from '../../base/fields/kinds.ts';

export const fiscalDayFields = fields({
  locationId: made(text),
  /** `YYYY-MM-DD`. */
  date: made(text),
  /** The orders that were created before this instant, and that no earlier fiscal day counted, are part of the day. */
  cutAt: made(moment, { shownAs: 'closed_at' }),
  orderCount: made(integer),
  total: made(integer),
  currency: made(text),
  /** What closed it: a request (`call`), or its usual end (`clock`). */
  cause: made(same<'call' | 'clock'>()),
});

/** A fiscal day of a location that has ended. Money is an integer in minor units of the currency. */
export type FiscalDay = Thing<typeof fiscalDayFields.table>;

/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInFiscalDay = None<
  Difference<components['schemas']['FiscalDay'], Shown<typeof fiscalDayFields.table>>
>;
