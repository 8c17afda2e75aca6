import { expect } from '@jest/globals';
import type { Document } from 'mongodb';
import { stagesOf } from '../../src/storage/db/open-pages.ts';

/** The steps that read an index, as MongoDB and PostgreSQL name them. */
const indexReads = ['IXSCAN', 'Index Scan', 'Index Only Scan', 'Bitmap Index Scan'];
const wholeReads = ['COLLSCAN', 'Seq Scan'];

/** Expects that a query reads an index and not the whole collection. */
export function expectIndexRead(explained: Document): void {
  const stages = stagesOf(explained);
  expect([stages, stages.some((stage) => indexReads.includes(stage))]).toEqual([stages, true]);
  expect([stages, stages.some((stage) => wholeReads.includes(stage))]).toEqual([stages, false]);
}
