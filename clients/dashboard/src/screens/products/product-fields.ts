import type { Schemas } from 'prompt-gateway-client';
import { imageUrl, modifierGroupMax, modifierGroupMin } from '../../generated/limits.ts';
import { fits } from '../../shared/limits.ts';
import type { modifierTexts } from '../../shared/modifier-texts.ts';
import { readAmount, writeAmount } from '../../shared/money.ts';
import { partsPerMillion, writePercent } from '../../shared/rates.ts';
import type { Texts } from '../../texts/en.ts';

/** A modifier as it is typed; a new one has no id. */
export interface ModifierFields {
  id?: string;
  name: string;
  price: string;
}

/** A group of modifiers as it is typed. */
interface GroupFields {
  name: string;
  /** Empty as long as nothing is typed. */
  min: number | string;
  max: number | string;
  modifiers: ModifierFields[];
}

/** What the form of a product edits. Prices are amounts as people type them. */
export interface ProductFields extends Record<string, unknown> {
  name: string;
  category_id: string;
  price: string;
  description: string;
  sku: string;
  image_url: string;
  tags: string[];
  modifiers: ModifierFields[];
  modifier_groups: GroupFields[];
  active: boolean;
  /** Percentages; empty if it has none of its own. */
  tax: string;
  takeAwayTax: string;
  /** ISO 8601, UTC; empty if it is available. */
  unavailableUntil: string;
}

/** The fields of a new product. */
export function emptyFields(categoryId = ''): ProductFields {
  return {
    name: '',
    category_id: categoryId,
    price: '',
    description: '',
    sku: '',
    image_url: '',
    tags: [],
    modifiers: [],
    modifier_groups: [],
    active: true,
    tax: '',
    takeAwayTax: '',
    unavailableUntil: '',
  };
}

/** A group that is not filled in: most groups need one choice. */
export function newGroup(): GroupFields {
  return { name: '', min: 1, max: 1, modifiers: [{ name: '', price: '' }] };
}

/** The fields of a present product. */
export function fieldsOf(product: Schemas['Product']): ProductFields {
  const { name, category_id, price, currency, description = '', sku = '', image_url = '' } = product;
  return {
    name,
    category_id,
    price: writeAmount(price, currency),
    description,
    sku,
    image_url,
    tags: [...product.tags],
    modifiers: modifierFields(product.modifiers, currency),
    modifier_groups: (product.modifier_groups ?? []).map((group) => ({
      name: group.name,
      min: group.min,
      max: group.max,
      modifiers: modifierFields(group.modifiers, currency),
    })),
    active: product.active,
    tax: percentOf(product.tax_rate_ppm),
    takeAwayTax: percentOf(product.take_away_tax_rate_ppm),
    unavailableUntil: product.unavailable_until ?? '',
  };
}

function modifierFields(modifiers: Schemas['Product']['modifiers'], currency: string): ModifierFields[] {
  return modifiers.map(({ id, name, price }) => ({ id, name, price: writeAmount(price, currency) }));
}

function percentOf(parts: number | undefined): string {
  return parts === undefined ? '' : writePercent(parts);
}

/** The fields with amounts as those of a present product are written: `5` is `5.00`. */
export function written(fields: ProductFields, currency: string): ProductFields {
  const write = (typed: string): string => writeAmount(readAmount(typed, currency) ?? 0, currency);
  const all = (some: readonly ModifierFields[]): ModifierFields[] =>
    some.map((modifier) => ({ ...modifier, price: write(modifier.price) }));
  const rate = (typed: string): string => percentOf(partsPerMillion(typed));
  return {
    ...fields,
    price: write(fields.price),
    modifiers: all(fields.modifiers),
    modifier_groups: fields.modifier_groups.map((group) => ({ ...group, modifiers: all(group.modifiers) })),
    tax: rate(fields.tax),
    takeAwayTax: rate(fields.takeAwayTax),
  };
}

/** The fields as the API takes them, with `null` for what is empty. */
export function bodyOf(
  fields: ProductFields,
  currency: string,
): Required<
  Pick<
    Schemas['ProductUpdate'],
    | 'name'
    | 'category_id'
    | 'price'
    | 'description'
    | 'sku'
    | 'image_url'
    | 'tags'
    | 'modifiers'
    | 'modifier_groups'
    | 'active'
    | 'tax_rate_ppm'
    | 'take_away_tax_rate_ppm'
    | 'unavailable_until'
  >
> {
  const { name, category_id, price, description, sku, image_url, tags, modifiers, modifier_groups, active } = fields;
  const all = (some: readonly ModifierFields[]): Schemas['ModifierInput'][] =>
    some.map((modifier) => ({ ...modifier, price: readAmount(modifier.price, currency) ?? 0 }));
  return {
    name,
    category_id,
    tags,
    active,
    price: readAmount(price, currency) ?? 0,
    description: description === '' ? null : description,
    sku: sku === '' ? null : sku,
    image_url: image_url === '' ? null : image_url,
    tax_rate_ppm: partsPerMillion(fields.tax) ?? null,
    take_away_tax_rate_ppm: partsPerMillion(fields.takeAwayTax) ?? null,
    unavailable_until: fields.unavailableUntil === '' ? null : fields.unavailableUntil,
    modifiers: all(modifiers),
    modifier_groups: modifier_groups.map((group) => {
      return { name: group.name, min: Number(group.min), max: Number(group.max), modifiers: all(group.modifiers) };
    }),
  };
}

/** A new product as the API takes it: empty fields are absent. */
export function newBodyOf(fields: ProductFields, currency: string, locationId: string): Schemas['ProductCreate'] {
  const { description, sku, image_url, tax_rate_ppm, take_away_tax_rate_ppm, unavailable_until, ...others } = bodyOf(
    fields,
    currency,
  );
  return {
    ...others,
    location_id: locationId,
    ...(description !== null && { description }),
    ...(sku !== null && { sku }),
    ...(image_url !== null && { image_url }),
    ...(tax_rate_ppm !== null && { tax_rate_ppm }),
    ...(take_away_tax_rate_ppm !== null && { take_away_tax_rate_ppm }),
    ...(unavailable_until !== null && { unavailable_until }),
  };
}

/** The field of a place in the request. */
export function fieldAt(place: string): string {
  const names: Record<string, string> = {
    tax_rate_ppm: 'tax',
    take_away_tax_rate_ppm: 'takeAwayTax',
    unavailable_until: 'unavailableUntil',
  };
  return names[place] ?? place.replace(/^tags\..*/, 'tags');
}

/** Finds mistakes before the request is sent. */
export function validateFields(
  fields: ProductFields,
  currency: string,
  { products: { form: texts }, locations: { form: rates } }: Pick<Texts, 'products' | 'locations'>,
  own: (typeof modifierTexts)['en'],
): Record<string, string> {
  const mistakes: Record<string, string> = {};
  const countWrong = ({ minimum, maximum }: Limits): string => own.countWrong(String(minimum), String(maximum));
  const priceWrong = texts.priceWrong(writeAmount(420, currency));
  if (fields.name.trim() === '') mistakes['name'] = texts.nameMissing;
  if (fields.category_id === '') mistakes['category_id'] = texts.categoryMissing;
  if (readAmount(fields.price, currency) === undefined) mistakes['price'] = priceWrong;
  if (fields.image_url !== '' && !isWebUrl(fields.image_url)) mistakes['image_url'] = texts.imageUrlWrong;
  for (const name of ['tax', 'takeAwayTax'] as const) {
    if (fields[name].trim() !== '' && partsPerMillion(fields[name]) === undefined) mistakes[name] = rates.rateWrong;
  }
  const validateModifiers = (path: string, modifiers: readonly ModifierFields[]): void => {
    modifiers.forEach((modifier, position) => {
      if (modifier.name.trim() === '') mistakes[`${path}.${position}.name`] = texts.nameMissing;
      if (readAmount(modifier.price, currency) === undefined) mistakes[`${path}.${position}.price`] = priceWrong;
    });
  };
  validateModifiers('modifiers', fields.modifiers);
  fields.modifier_groups.forEach(({ name, min, max, modifiers }, position) => {
    const path = `modifier_groups.${position}`;
    if (name.trim() === '') mistakes[`${path}.name`] = texts.nameMissing;
    if (typeof min === 'number' && typeof max === 'number' && min > max) mistakes[`${path}.min`] = own.minTooLarge;
    if (!isCount(min, modifierGroupMin)) mistakes[`${path}.min`] = countWrong(modifierGroupMin);
    if (!isCount(max, modifierGroupMax)) mistakes[`${path}.max`] = countWrong(modifierGroupMax);
    validateModifiers(`${path}.modifiers`, modifiers);
  });
  return mistakes;
}

interface Limits {
  readonly minimum: number;
  readonly maximum: number;
}

function isCount(typed: number | string, { minimum, maximum }: Limits): boolean {
  return typeof typed === 'number' && Number.isInteger(typed) && typed >= minimum && typed <= maximum;
}

/** Whether a text is an address that the page may link to. */
export function isWebUrl(text: string): boolean {
  return fits(text, imageUrl) && URL.canParse(text);
}
