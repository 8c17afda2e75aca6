import { price } from '../generated/limits.ts';

/**
 * Digits after the decimal point of the currencies that do not have two (ISO 4217, list one). `Intl` follows what people
 * use in daily life instead: for the forint it has none.
 */
const digitsOf = new Map(
  Object.entries({
    0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
    3: 'BHD IQD JOD KWD LYD OMR TND',
    4: 'CLF UYW',
  }).flatMap(([digits, codes]) => codes.split(' ').map((code) => [code, Number(digits)] as const)),
);

/** How many digits after the decimal point an amount in this currency has. */
export function minorDigits(currency: string): number {
  return digitsOf.get(currency) ?? 2;
}

/** An amount in minor units as people type it: 420 euro cents are `4.20`. */
export function writeAmount(minor: number, currency: string): string {
  const digits = minorDigits(currency);
  const text = String(minor).padStart(digits + 1, '0');
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/**
 * Reads a typed amount, with a point or a comma before the decimals.
 * @returns minor units; `undefined` if the text is no amount that a price can have
 */
export function readAmount(text: string, currency: string): number | undefined {
  const digits = minorDigits(currency);
  const [, whole = '', decimals = ''] = /^\s*(\d+)(?:[.,](\d*))?\s*$/.exec(text) ?? [];
  if (whole === '' || decimals.length > digits) return undefined;
  const minor = Number(whole + decimals.padEnd(digits, '0'));
  return minor <= price.maximum ? minor : undefined;
}

/** Currencies in which a location can have its prices (ISO 4217, list one, without funds). */
export const currencyCodes: readonly string[] =
  `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP
   CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR
   IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU
   MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG
   SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST
   XAF XCD XCG XOF XPF YER ZAR ZMW ZWG`.split(/\s+/);
