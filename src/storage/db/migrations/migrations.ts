import { dropFormerIndexes } from './0001-former-indexes.ts';
import { markSamples } from './0002-samples.ts';
import { dropFiscalDayIndex } from './0003-fiscal-day-order.ts';
import { removeSamples } from './0004-no-samples.ts';
import { dropIncompleteIndexes } from './0005-incomplete-indexes.ts';
import { removeLeasesOfIntegrations } from './0006-no-leases-of-integrations.ts';
import type { Migration } from './migration.ts';

/** All migrations, in the order of their versions. The last one's version is the schema version of this release. */
export const migrations: readonly Migration[] = [
  dropFormerIndexes,
  markSamples,
  dropFiscalDayIndex,
  removeSamples,
  dropIncompleteIndexes,
  removeLeasesOfIntegrations,
];
