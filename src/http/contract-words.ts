/**
 * Descriptions of the contract's patterns, formats, limits and exclusions for people. Each continues the word "must". A pattern
 * without a description is shown unchanged.
 */
const date = 'be a date such as 2026-11-06';
const offsetExample = '2026-11-06T12:30:00+01:00';
const moment = `be a date and time with an offset, such as ${offsetExample}`;
const utcMoment = 'be a date and time in UTC, such as 2026-11-06T11:30:00';
const secret = 'be 24 to 64 printable ASCII characters, or whsec_ and the base64 of 24 to 64 bytes';
const url = 'be an http or https URL without user information, fragment and spaces';

/**
 * The spellings of a `date-time` that the service takes and sends: `T` and `Z` in upper case, seconds to 59, an offset
 * with minutes. RFC 3339 allows others, which other programs read differently. It is not in the contract, where generated
 * clients would apply it to a date that they have parsed already.
 */
export const dateTimePattern =
  '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$';

/** The `+` of an offset can arrive as a space. */
const otherMoment =
  'be one of their other forms in ISO 8601, such as 2026-11-06T12:30Z, 2026-11-06 12:30:00+0100 or 20261106T113000Z';

export const patternWords: ReadonlyMap<string, string> = new Map([
  ['^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$', 'be a UUID in lower case'],
  ['^cat_[0-9a-f]{32}$', 'be cat_ followed by 32 hexadecimal digits'],
  [dateTimePattern, moment],
  ['^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?$', utcMoment],
  [
    '^((\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|1\\d|2[0-8]))|(\\d\\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)[Tt ]([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d([.,]\\d+)?)?([Zz]|[ +-]([01]\\d|2[0-3])(:?[0-5]\\d)?)?|(\\d{4}((0[13578]|1[02])(0[1-9]|[12]\\d|3[01])|(0[469]|11)(0[1-9]|[12]\\d|30)|02(0[1-9]|1\\d|2[0-8]))|(\\d\\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)0229)([Tt]([01]\\d|2[0-3])[0-5]\\d([0-5]\\d([.,]\\d+)?)?([Zz]|[ +-]([01]\\d|2[0-3])(:?[0-5]\\d)?)?)?)$',
    otherMoment,
  ],
  [
    '^(\\d{4}((0[13578]|1[02])(0[1-9]|[12]\\d|3[01])|(0[469]|11)(0[1-9]|[12]\\d|30)|02(0[1-9]|1\\d|2[0-8]))|(\\d\\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)0229)$',
    'be one such as 20261106',
  ],
  ['^([01]\\d|2[0-3]):[0-5]\\d$', 'be a time of day from 00:00 to 23:59'],
  ['^[A-Z]{3}$', 'be three capital letters such as EUR'],
  ['^[A-Za-z][A-Za-z0-9+_-]*(/[A-Za-z0-9+_-]+)*$', 'be the name of a time zone such as Europe/Amsterdam'],
  ['^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#@\\\\]+([/?][^\\s#]*)?$', url],
  ['^(?:whsec_[A-Za-z0-9+/=]{32,88}|[ -~]{24,64})$', secret],
  ['^[!-~]([ -~]*[!-~])?$', 'be visible ASCII characters, with spaces only between them'],
  ['^[A-Za-z0-9_-]{16,160}$', 'be the pagination.next of a page'],
  ['^[a-z][a-z0-9-]{0,31}$', 'be a lower-case letter, followed by up to 31 lower-case letters, digits and hyphens'],
  ['^\\*$', 'be *'],
  ['\\S', 'have a character that is not a space'],
]);

export const formatWords: ReadonlyMap<string, string> = new Map([
  ['date', date],
  ['date-time', moment],
  ['iso-date-time', utcMoment],
  ['uri', url],
]);

/** The mistake in a parameter. In a query, an unescaped `+` means a space, so the example is written for a URL. */
export function inUrl(sentence: string): string {
  return sentence.replace(offsetExample, `${offsetExample.replace('+', '%2B')} (%2B is the + in a URL)`);
}

/** Descriptions by the end of the schema path of a limit. */
export const limitWords: readonly (readonly [RegExp, string])[] = [
  [/\/offset\/maximum$/, 'be at most 10000; to read further, send pagination.next of a page as after'],
];

/** Descriptions by the end of the schema path of a `not`. */
export const exclusionWords: readonly (readonly [RegExp, string])[] = [
  [/\/Slug\/not$/, 'not have the form of a UUID'],
  [/\/(LabelName|label)\/not$/, 'not be latest: without a label, the latest version runs'],
  [/\/allOf\/1\/else\/properties\/content\/not$/, 'not be null'],
  [/\/(logprobs|async|defer_loading|background|include_obfuscation)\/not$/, 'be one of false, null'],
  [/\/SigningSecret\/not$/, `${secret}; without spaces around it, and with nothing before whsec_`],
];
