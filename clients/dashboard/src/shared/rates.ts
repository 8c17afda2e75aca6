/** Rates as people type and read them: 8.875 % are 88,750 parts per million. */
import type { Format } from './format.ts';

const partsPerPercent = 10_000;

/** @returns `undefined` for what is no rate */
export function partsPerMillion(percent: string): number | undefined {
  const [, whole = '', decimals = ''] = /^\s*(\d{1,3})(?:[.,](\d{0,4}))?\s*$/.exec(percent) ?? [];
  const parts = Number(whole + decimals.padEnd(4, '0'));
  return whole !== '' && parts <= 1_000_000 ? parts : undefined;
}

/** The rate as it is read: `8.875%`. */
export function showRate({ number }: Pick<Format, 'number'>, parts: number): string {
  return number(parts / 1_000_000, { style: 'percent', maximumFractionDigits: 4 });
}

/** The rate as it is typed. */
export function writePercent(parts: number): string {
  return String(parts / partsPerPercent);
}
