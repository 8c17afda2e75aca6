/** The first and the last instant that every engine can store and that has a year of four digits. */
export const earliest = new Date('0001-01-01T00:00:00.000Z');
export const latest = new Date('9999-12-31T23:59:59.999Z');

const form =
  /^(\d{4})-?(\d\d)-?(\d\d)(?:[Tt ](\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?(?:[Zz]|([ +-])(\d\d)(?::?(\d\d))?)?)?$/;

/**
 * The instant of a date, or a date and time, in a request. A date means its midnight; without an offset it is UTC.
 *
 * Fractions of a second are rounded up to the millisecond: stored times are whole milliseconds, so "not before" and
 * "before" mean the same for the rounded instant as for the exact one. Instants before {@link earliest} or after {@link
 * latest}, to which an offset can lead, become these, because nothing is stored beyond them.
 *
 * @param text in a form of the contract's `Moment`, `MomentFilter` or `DateTimeInput`
 */
export function toInstant(text: string): Date;
export function toInstant(text: string | undefined): Date | undefined;
export function toInstant(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const [, year = '', month = '', day = '', hour = '00', minute = '00', second = '00', fraction = '', sign, ...ahead] =
    form.exec(text) ?? [];
  const [hours = '00', minutes = '00'] = ahead;
  // The plus of a query arrives as a space.
  const offset = sign === undefined ? 'Z' : `${sign === '-' ? '-' : '+'}${hours}:${minutes}`;
  const whole = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
  if (Number.isNaN(whole)) throw new Error(`not a moment of the contract: ${text}`);
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0')) + (/[1-9]/.test(fraction.slice(3)) ? 1 : 0);
  return new Date(Math.min(Math.max(whole + milliseconds, earliest.getTime()), latest.getTime()));
}
