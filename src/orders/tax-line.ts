import { integer, object } from '../base/fields/kinds.ts';

/** The tax of all lines with the same rate. Money is in minor units of the currency. */
export const taxLine = object({
  /** In parts per million. */
  ratePpm: integer,
  /** Without the tax. */
  base: integer,
  amount: integer,
});
