import type { components } from '../../../../generated/types.ts';
import {
  changeable,
  fields,
  fixed,
  made,
  type None,
  type Change,
  type New,
  type Thing,
  type Undeclared,
} from '../../../base/fields/fields.ts';
import { flag, integer, list, moment, object, text, type ValueOf } from '../../../base/fields/kinds.ts';

/** A choice that changes a product, such as a size or an extra. */
export type Modifier = ValueOf<typeof modifier>;
const modifier = object({
  /** Unique among the product's modifiers, with those in its groups. */
  id: text,
  name: text,
  /** In minor units of the product's currency, for one modifier of one product. */
  price: integer,
});

/** Modifiers of which an order chooses between `min` and `max`, by their quantities for each unit of its product. */
export type ModifierGroup = ValueOf<typeof modifierGroup>;
const modifierGroup = object({
  /** Unique among the product's groups. */
  name: text,
  min: integer,
  max: integer,
  modifiers: list(modifier),
});
const modifierGroupList = list(modifierGroup);
/** Without groups the field is absent. */
const modifierGroups: typeof modifierGroupList = {
  ...modifierGroupList,
  read: (sent) => (sent.length === 0 ? undefined : modifierGroupList.read(sent)),
};

export const productFields = fields({
  /** UUID. */
  id: made(text),
  locationId: fixed(text),
  categoryId: changeable(text),
  name: changeable(text),
  description: changeable(text, { optional: true }),
  sku: changeable(text, { optional: true }),
  imageUrl: changeable(text, { optional: true }),
  /** In minor units of the currency. */
  price: changeable(integer),
  /** The location's. */
  currency: made(text),
  /** In parts per million; the location's if left out. */
  taxRate: changeable(integer, { optional: true, shownAs: 'tax_rate_ppm' }),
  /** Of what is taken away; as otherwise if left out. */
  takeAwayTaxRate: changeable(integer, { optional: true, shownAs: 'take_away_tax_rate_ppm' }),
  tags: changeable(list(text), { initially: [] }),
  /** What any order can choose, besides what is in groups. */
  modifiers: changeable(list(modifier), { initially: [] }),
  modifierGroups: changeable(modifierGroups, { optional: true }),
  /** Only active products can be ordered. */
  active: changeable(flag, { initially: true }),
  /** It cannot be ordered before. */
  unavailableUntil: changeable(moment, { optional: true }),
  /** Hidden from lists and refused in new orders. */
  archived: changeable(flag, { initially: false }),
  createdAt: made(moment),
  /** Each change makes it later. */
  updatedAt: made(moment),
});

/** Something that a location sells. */
export interface Product extends Thing<typeof productFields.table> {
  /** Number of changes, from 1. */
  readonly revision: number;
  /** Events that are waiting to be relayed. */
  readonly waiting: number;
}

export type NewProduct = New<typeof productFields.table>;
export type ProductChange = Change<typeof productFields.table>;

type Schemas = components['schemas'];
/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInProduct = None<
  Undeclared<typeof productFields.table, Schemas['Product'], Schemas['ProductCreate'], Schemas['ProductUpdate']>
>;
