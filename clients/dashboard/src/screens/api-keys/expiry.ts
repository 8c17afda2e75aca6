/** When a new key can expire. */
export const expiries = ['never', 'days30', 'days90', 'year', 'custom'] as const;

export type Expiry = (typeof expiries)[number];

const days = { days30: 30, days90: 90, year: 365 };

/**
 * The instant of an expiry (ISO 8601); `undefined` if the key does not expire, or the date is missing.
 * @param date the last day of `custom`, in the time zone of the browser
 */
export function expiryInstant(expiry: Expiry, date: string): string | undefined {
  if (expiry === 'never') return undefined;
  const end = expiry === 'custom' ? new Date(`${date}T23:59:59`) : new Date(Date.now() + days[expiry] * 86_400_000);
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString();
}
