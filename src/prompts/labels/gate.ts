import { hash } from 'node:crypto';
import type { components } from '../../../generated/types.ts';
import { author } from '../../base/fields/author.ts';
import {
  changeable,
  fields,
  hidden,
  made,
  type Difference,
  type None,
  type SentNew,
  type Shown,
  type Thing,
} from '../../base/fields/fields.ts';
import { integer, json, moment, same, text, type Kind } from '../../base/fields/kinds.ts';
import { canonicalJson } from '../../base/runtime/canonical-json.ts';

type Schemas = components['schemas'];

/**
 * What a version has to show before a label names it. It belongs to the name of the label, and survives the label.
 *
 * The gates of a prompt are in its document beside its labels: the compare-and-set that moves a label also loses against
 * a change of its gate.
 */
export const gateFields = fields({
  label: made(text),
  /** Another one after each change. */
  tag: hidden(text),
  dataset: changeable(json<Schemas['Gate']['dataset']>()),
  /** By these, a data set and its version are kept. */
  datasetId: hidden(text),
  datasetVersionId: hidden(text),
  rule: changeable(json<Schemas['EvaluationRule']>()),
  maxAgeDays: changeable(integer, { initially: 30 }),
  breaking: changeable(same<'warn' | 'refuse'>(), { initially: 'warn' }),
  /** A version than which none that is released may be worse by twice the margin. */
  anchor: changeable(integer, { optional: true }),
  checks: changeable(json<readonly Schemas['Check'][], Schemas['Gate']['checks'] & object, Schemas['Check'][]>(), {
    optional: true,
  }),
  /** How well its judges agreed with people when it was set. */
  calibration: made(json<NonNullable<Schemas['Gate']['calibration']>>(), { optional: true }),
  author: made(author),
  updatedAt: made(moment),
});
export type Gate = Thing<typeof gateFields.table>;
export type NewGate = Pick<Gate, 'dataset' | 'rule' | 'maxAgeDays' | 'breaking' | 'anchor' | 'checks'>;

type StoredGate = ReturnType<typeof gateFields.toDocument>;
/** No answer shows gates with their prompt. */
export const gateList: Kind<readonly Gate[], StoredGate[], undefined, never> = {
  toStored: (gates) => gates.map((gate) => gateFields.toDocument(gate)),
  fromStored: (stored) => stored.map((gate) => gateFields.fromDocument(gate)),
  show: () => undefined,
  read: () => undefined,
};

/** The gate of the label of this name. */
export function findGate(gates: readonly Gate[] | undefined, label: string): Gate | undefined {
  return gates?.find((one) => one.label === label);
}

/** Identifies what a gate asks: gates with the same settings have the same. @returns undefined if there is no gate */
export function askedBy(gate: Gate | undefined): string | undefined {
  if (gate === undefined) return undefined;
  const { datasetVersionId, rule, maxAgeDays, breaking, anchor, checks = [], calibration } = gate;
  const asked = { datasetVersionId, rule, maxAgeDays, breaking, anchor, checks, calibration };
  return hash('sha256', canonicalJson(asked), 'hex').slice(0, 32);
}

/** How a gate let a version in; absent without a gate, and where none asked. */
export interface Release {
  /** Those that showed it. */
  readonly evaluations?: readonly string[];
  /** Why somebody took the responsibility instead. */
  readonly override?: string;
}
export interface StoredRelease {
  evaluations?: string[];
  override?: string;
}
/** As it is stored and shown. */
export function copyRelease({ evaluations, override }: Release): StoredRelease {
  return { ...(evaluations && { evaluations: [...evaluations] }), ...(override !== undefined && { override }) };
}
/** Absent in documents if no gate asked. */
export const release: Kind<Release | undefined, StoredRelease | undefined, StoredRelease | undefined> = {
  toStored: (value) => value && copyRelease(value),
  fromStored: (stored) => stored && copyRelease(stored),
  show: (value) => value && copyRelease(value),
  read: () => undefined,
};

/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInGate = None<
  | Difference<Schemas['Gate'], Shown<typeof gateFields.table>>
  | Difference<Pick<Schemas['GateInput'], keyof SentNew<typeof gateFields.table>>, SentNew<typeof gateFields.table>>
>;
