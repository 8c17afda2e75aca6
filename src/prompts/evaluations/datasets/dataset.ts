import type { components } from '../../../../generated/types.ts';
import { author } from '../../../base/fields/author.ts';
import {
  fields,
  hidden,
  made,
  type Difference,
  type None,
  type Shown,
  type Thing,
} from '../../../base/fields/fields.ts';
import { integer, list, moment, text } from '../../../base/fields/kinds.ts';

type Schemas = components['schemas'];

/** A case as it is sent. */
export type CaseInput = Schemas['DatasetCaseInput'];
/** A case as it is stored, as a line of JSON. */
export type Case = Schemas['DatasetCase'];

/** The contract has the same number. */
export const mostCases = 10_000;
/** The most bytes of a data set. The contract has the same number. */
export const mostBytes = 16 * 1024 * 1024;
/** The most bytes of a case. The contract has the same number. */
export const mostCaseBytes = 256 * 1024;

export const datasetFields = fields({
  /** Another one for a later data set of the same name. */
  id: made(text, { storedAs: 'dataset_id' }),
  name: made(text, { storedAs: '_id' }),
  /** Number of the current version. */
  version: made(integer),
  versionId: hidden(text),
  cases: made(integer),
  bytes: made(integer),
  digest: made(text),
  createdAt: made(moment),
  updatedAt: made(moment),
  author: made(author),
});

/** A data set, without its cases. */
export interface Dataset extends Thing<typeof datasetFields.table> {
  /** Number of changes, from 1. It begins anew if the data set was deleted. */
  readonly revision: number;
}

export const versionFields = fields({
  id: hidden(text),
  datasetId: hidden(text),
  number: made(integer, { shownAs: 'version' }),
  cases: made(integer),
  bytes: made(integer),
  digest: made(text),
  /** How many cases each of its objects has. */
  parts: hidden(list(integer)),
  createdAt: made(moment),
  author: made(author),
});

/** A version of a data set. Its cases are in object storage. */
export type DatasetVersion = Thing<typeof versionFields.table>;

/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInDataset = None<
  | Difference<Schemas['Dataset'], Shown<typeof datasetFields.table>>
  | Difference<Schemas['DatasetVersion'], Shown<typeof versionFields.table>>
>;
