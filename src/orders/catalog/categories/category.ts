import type { components } from '../../../../generated/types.ts';
import { changeable, fields, fixed, made, type Change, type New, type None } from '../../../base/fields/fields.ts';
import type { Thing, Undeclared } from '../../../base/fields/fields.ts';
import { flag, moment, text } from '../../../base/fields/kinds.ts';

export const categoryFields = fields({
  /** `cat_` and 32 hexadecimal digits. */
  id: made(text),
  locationId: fixed(text),
  name: changeable(text),
  /** Hidden from lists; its products are refused in new orders. */
  archived: changeable(flag, { initially: false }),
  createdAt: made(moment),
  /** Each change makes it later. */
  updatedAt: made(moment),
});

/** A group of a location's products. */
export interface Category extends Thing<typeof categoryFields.table> {
  /** Number of changes, from 1. */
  readonly revision: number;
  /** Events that are waiting to be relayed. */
  readonly waiting: number;
}

export type NewCategory = New<typeof categoryFields.table>;
export type CategoryChange = Change<typeof categoryFields.table>;

type Schemas = components['schemas'];
/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInCategory = None<
  Undeclared<typeof categoryFields.table, Schemas['Category'], Schemas['CategoryCreate'], Schemas['CategoryUpdate']>
>;
