import type { Schemas } from 'prompt-gateway-client';
import { partsPerMillion, writePercent } from '../../shared/rates.ts';
import type { Texts } from '../../texts/en.ts';

/** A spot as it is typed; a new one has no id. */
interface SpotFields {
  id?: string;
  name: string;
}

/** A zone as it is typed; a new one has no id. */
export interface ZoneFields {
  id?: string;
  name: string;
  spots: SpotFields[];
}

/** What the form of a location edits. Rates are percentages. */
export interface LocationFields extends Record<string, unknown> {
  name: string;
  currency: string;
  timeZone: string;
  fiscalDayEnd: string;
  tax: string;
  fee: string;
  pricesIncludeTax: boolean;
  zones: ZoneFields[];
}

/** The fields of a new location, in the time zone of the browser. */
export function emptyFields(): LocationFields {
  return {
    name: '',
    currency: '',
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    fiscalDayEnd: '00:00',
    tax: '0',
    fee: '0',
    pricesIncludeTax: false,
    zones: [],
  };
}

/** The fields of a present location. */
export function fieldsOf(location: Schemas['Location']): LocationFields {
  const { name, currency, time_zone, fiscal_day_end, tax_rate_ppm, fee_rate_ppm, zones } = location;
  const { prices_include_tax } = location;
  return {
    name,
    currency,
    timeZone: time_zone,
    fiscalDayEnd: fiscal_day_end,
    tax: writePercent(tax_rate_ppm),
    fee: writePercent(fee_rate_ppm),
    pricesIncludeTax: prices_include_tax,
    zones: zones.map((zone) => ({
      id: zone.id,
      name: zone.name,
      spots: zone.spots.map((spot) => ({ id: spot.id, name: spot.name })),
    })),
  };
}

/** The fields with rates as those of a present location are written: `7,50` is `7.5`. */
export function written(fields: LocationFields): LocationFields {
  const write = (typed: string): string => writePercent(partsPerMillion(typed) ?? 0);
  return { ...fields, tax: write(fields.tax), fee: write(fields.fee) };
}

/** The fields as the API takes them. */
export function bodyOf(fields: LocationFields): Schemas['LocationCreate'] {
  const { name, currency, timeZone, fiscalDayEnd, tax, fee, pricesIncludeTax, zones } = fields;
  return {
    name,
    currency,
    time_zone: timeZone,
    fiscal_day_end: fiscalDayEnd,
    zones,
    tax_rate_ppm: partsPerMillion(tax) ?? 0,
    fee_rate_ppm: partsPerMillion(fee) ?? 0,
    prices_include_tax: pricesIncludeTax,
  };
}

/** The field of a place in the request. */
export function fieldAt(place: string): string {
  const names: Record<string, string> = {
    time_zone: 'timeZone',
    fiscal_day_end: 'fiscalDayEnd',
    tax_rate_ppm: 'tax',
    fee_rate_ppm: 'fee',
    prices_include_tax: 'pricesIncludeTax',
  };
  return names[place] ?? place;
}

/** Finds mistakes before the request is sent. */
export function validateFields(fields: LocationFields, { form: texts }: Texts['locations']): Record<string, string> {
  const mistakes: Record<string, string> = {};
  if (fields.name.trim() === '') mistakes['name'] = texts.nameMissing;
  if (fields.currency === '') mistakes['currency'] = texts.currencyMissing;
  if (fields.timeZone === '') mistakes['timeZone'] = texts.timeZoneMissing;
  if (!/^\d{2}:\d{2}$/.test(fields.fiscalDayEnd)) mistakes['fiscalDayEnd'] = texts.fiscalDayEndWrong;
  if (partsPerMillion(fields.tax) === undefined) mistakes['tax'] = texts.rateWrong;
  if (partsPerMillion(fields.fee) === undefined) mistakes['fee'] = texts.rateWrong;
  fields.zones.forEach((zone, position) => {
    if (zone.name.trim() === '') mistakes[`zones.${position}.name`] = texts.zoneMissing;
    zone.spots.forEach((spot, place) => {
      if (spot.name.trim() === '') mistakes[`zones.${position}.spots.${place}.name`] = texts.zoneMissing;
    });
  });
  return mistakes;
}
