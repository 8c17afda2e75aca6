import type { Migration } from './migration.ts';

/** Days that were closed at the same instant are listed by their dates, the latest first. This index has another order. */
export const dropFiscalDayIndex: Migration = {
  version: 3,
  title: 'drop an index of fiscal days that has another order than their list',
  run: ({ dropIndex }) => dropIndex('fiscal_days', 'location_id_1_cut_at_-1__id_1'),
};
