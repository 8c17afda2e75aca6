import type { Migration } from './migration.ts';

/** All migrations, in the order of their versions, which follow `firstVersion` of `schema.ts`. */
export const migrations: readonly Migration[] = [];
