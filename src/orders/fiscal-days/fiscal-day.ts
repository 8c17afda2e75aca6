import type { components } from '../../../generated/types.ts';
import { taxLine } from '../tax-line.ts';
import { fields, made, type Difference, type None, type Shown, type Thing } from '../../base/fields/fields.ts';
import { integer, list, moment, same, text, type Kind } from '../../base/fields/kinds.ts';

/** Documents have `call` for the caller, and `clock` for the service. */
const closer: Kind<'caller' | 'service', 'call' | 'clock', 'caller' | 'service'> = {
  ...same<'caller' | 'service'>(),
  toStored: (closedBy) => (closedBy === 'caller' ? 'call' : 'clock'),
  fromStored: (cause) => (cause === 'call' ? 'caller' : 'service'),
};

export const fiscalDayFields = fields({
  locationId: made(text),
  /** `YYYY-MM-DD`. */
  date: made(text),
  /** The orders that were created before this instant, and that no earlier fiscal day counted, are part of the day. */
  cutAt: made(moment, { shownAs: 'closed_at' }),
  orderCount: made(integer),
  total: made(integer),
  /** The sums of the orders' tax lines. */
  taxLines: made(list(taxLine), { optional: true }),
  currency: made(text),
  /** A caller with a request, or the service at its usual end. */
  closedBy: made(closer, { storedAs: 'cause' }),
});

/** A fiscal day of a location that has ended. Money is an integer in minor units of the currency. */
export type FiscalDay = Thing<typeof fiscalDayFields.table>;

/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInFiscalDay = None<
  Difference<components['schemas']['FiscalDay'], Shown<typeof fiscalDayFields.table>>
>;
