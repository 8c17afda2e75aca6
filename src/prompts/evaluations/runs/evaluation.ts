import { seesCases, type Reader } from '../../../base/limits/cases.ts';
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
import { integer, json, list, moment, same, text, type Kind } from '../../../base/fields/kinds.ts';
import { defined } from '../../../base/runtime/objects.ts';
import { totalCost } from '../../test-runs/test-run.ts';
import type { Check } from '../checks/check-answer.ts';
import type { Judging } from '../judges/judge-key.ts';
import type { Rule } from '../verdict/verdict.ts';

type Schemas = components['schemas'];

export type EvaluationStatus = 'planning' | 'queued' | 'running' | 'ended' | 'canceled' | 'refused';
export type SideName = 'candidate' | 'baseline';
export type SentSide = Schemas['EvaluatedSideInput'];
export type SentRule = Schemas['EvaluationRule'];

/** What is asked. */
export interface Side {
  readonly version: number;
  readonly label?: string | undefined;
  /** Known when it is planned. */
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /** The members of the request besides version and label, as they were sent. */
  readonly overrides?: Omit<SentSide, 'version' | 'label'> | undefined;
}

/** The cases: a version of a data set, and where its objects are. */
export interface EvaluatedDataset {
  readonly name: string;
  readonly version: number;
  readonly cases: number;
  readonly versionId: string;
  /** How many cases each of its objects has. */
  readonly parts: readonly number[];
}

/** The question of a gate that an evaluation answers. */
export interface GateTrial {
  readonly label: string;
  /** What the candidate is compared with: what the label names, also if the rule does not compare, or the anchor. */
  readonly against: 'label' | 'anchor';
  /** Digests of what the answer depends on. */
  readonly measure: string;
  readonly baseline: string;
}

/** JSON as text, except that answers show it in another form. */
function shownAs<Value, ShownValue>(show: (value: Value) => ShownValue): Kind<Value, string, ShownValue> {
  return { ...json<Value, ShownValue>(), show };
}

const side = shownAs<Side, Schemas['EvaluatedSide']>(({ version, label, provider, model, overrides }) =>
  defined({ version, label, provider, model, overrides }),
);
const dataset = shownAs<EvaluatedDataset, Schemas['EvaluatedDataset']>(({ name, version, cases }) => ({
  name,
  version,
  cases,
}));

const gate = shownAs<GateTrial, NonNullable<Schemas['Evaluation']['gate']>>(({ label, against }) => ({
  label,
  against,
}));

/** A judge, when the evaluation was planned. */
export interface AskedJudge extends Judging {
  readonly isOfCandidatesFamily: boolean;
}
const judges = shownAs<readonly AskedJudge[], NonNullable<Schemas['Evaluation']['judges']>>((all) =>
  all.map(({ prompt, version, provider, model, isOfCandidatesFamily }) => ({
    ...{ prompt, version, provider, model },
    same_family: isOfCandidatesFamily,
  })),
);

export const evaluationFields = fields({
  id: made(text),
  promptId: made(text),
  status: made(same<EvaluationStatus>()),
  candidate: made(side),
  baseline: made(side, { optional: true }),
  dataset: made(dataset),
  /** By it, versions of data sets are kept. */
  datasetVersionId: hidden(text),
  checks: made(json<readonly Check[], Schemas['EvaluationChecks']>(), { optional: true }),
  rule: made(json<SentRule>()),
  /** Set when it is planned. */
  judges: made(judges, { optional: true }),
  gate: made(gate, { optional: true }),
  /** The prompt, label, content of the candidate, question and number of an evaluation for a gate. */
  gateTry: hidden(text, { optional: true }),
  /** Of the invocations, as `name=value`. */
  tags: hidden(list(text)),
  /** The answers that are asked for; set when it is planned. */
  calls: made(integer, { optional: true }),
  ceiling: made(totalCost, { optional: true }),
  refusal: made(json<Schemas['EvaluationRefusal']>(), { optional: true }),
  casesDone: made(integer),
  cost: made(totalCost),
  canceledReason: made(same<'requested' | 'key-revoked' | 'budget-exceeded' | 'internal-error'>(), {
    optional: true,
    storedAs: 'canceled_because',
  }),
  refusedBy: made(text, { optional: true }),
  problems: made(json<Schemas['EvaluationProblem'][]>(), { optional: true }),
  verdict: made(json<Schemas['EvaluationVerdict']>(), { optional: true }),
  author: made(author),
  /** The request that started it, for the records of its invocations. */
  requestId: hidden(text),
  /** Of the key that started it. */
  family: hidden(text),
  createdAt: made(moment),
  startedAt: made(moment, { optional: true }),
  finishedAt: made(moment, { optional: true }),
});

/** An evaluation without its results, which are in object storage. */
export interface Evaluation extends Thing<typeof evaluationFields.table> {
  readonly revision: number;
}

/** As a caller may see it: a refusal names no cases for those that may not see them. */
export function showEvaluation(evaluation: Evaluation, reader: Reader): Schemas['Evaluation'] {
  const { refusal, ...shown } = evaluationFields.show(evaluation);
  if (refusal === undefined || seesCases(reader)) return { ...shown, ...(refusal && { refusal }) };
  const detail = 'A case cannot be asked. Who may read the data set sees which.';
  return { ...shown, refusal: { mistakes: refusal.mistakes.map(({ problem }) => ({ problem, detail })) } };
}

/** Both sides, if there are two. */
export function sidesOf({ candidate, baseline }: Pick<Evaluation, 'candidate' | 'baseline'>): [SideName, Side][] {
  return baseline === undefined
    ? [['candidate', candidate]]
    : [
        ['candidate', candidate],
        ['baseline', baseline],
      ];
}

/** The contract has the rule as an object with one member. */
export function toRule({ not_worse_by, min_pass_rate }: SentRule): Rule {
  if (not_worse_by !== undefined) return { not_worse_by };
  return min_pass_rate === undefined ? 'all-pass' : { min_pass_rate };
}

/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInEvaluation = None<Difference<Schemas['Evaluation'], Shown<typeof evaluationFields.table>>>;
