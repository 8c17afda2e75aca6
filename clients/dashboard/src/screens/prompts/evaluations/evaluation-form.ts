import type { Schemas } from 'prompt-gateway-client';
import type { RunChoice } from '../content/run-select.tsx';
import type { Evaluation } from './queries.ts';

export const rules = ['not_worse_by', 'min_pass_rate', 'all_pass'] as const;
export type RuleName = (typeof rules)[number];

/** A side of an evaluation. */
export interface SideFields {
  readonly run: RunChoice;
  /** What replaces members of the version. It is taken over from another evaluation. */
  readonly overrides?: Schemas['EvaluatedSide']['overrides'];
}

/** What the form of an evaluation has. */
export interface EvaluationFields {
  readonly candidate: SideFields;
  readonly baseline: SideFields;
  readonly rule: RuleName;
  /** In points of 100. */
  readonly margin: number;
  /** In percent. */
  readonly rate: number;
  readonly dataset: string;
  /** The current one without. */
  readonly datasetVersion?: number | undefined;
  /** JSON. */
  readonly checks: string;
}

/** A form for the latest version, against what runs in production, or against the version before. */
export function fieldsFor({ version, labels = {} }: Schemas['Prompt']): EvaluationFields {
  const released = Object.hasOwn(labels, 'production') ? 'production' : Object.keys(labels)[0];
  return {
    candidate: { run: { version } },
    baseline: { run: released === undefined ? { version: Math.max(1, version - 1) } : { label: released } },
    rule: 'not_worse_by',
    margin: 5,
    rate: 90,
    dataset: '',
    checks: '',
  };
}

/** The form of an evaluation that was. Labels are taken as labels, which may name other versions now. */
export function fieldsOf(prompt: Schemas['Prompt'], evaluation: Evaluation): EvaluationFields {
  const { candidate, baseline, rule, dataset, checks } = evaluation;
  const empty = fieldsFor(prompt);
  return {
    candidate: sideFields(candidate),
    baseline: baseline === undefined ? empty.baseline : sideFields(baseline),
    rule: rules.find((name) => rule[name] !== undefined) ?? 'not_worse_by',
    margin: rule.not_worse_by === undefined ? empty.margin : inPercent(rule.not_worse_by),
    rate: rule.min_pass_rate === undefined ? empty.rate : inPercent(rule.min_pass_rate),
    dataset: dataset.name,
    datasetVersion: dataset.version,
    checks: checks === undefined ? '' : JSON.stringify(checks, null, 2),
  };
}

function sideFields({ version, label, overrides }: Schemas['EvaluatedSide']): SideFields {
  return { run: label === undefined ? { version } : { label }, ...(overrides !== undefined && { overrides }) };
}

/** Without the digits that a multiplication of binary fractions adds. */
function inPercent(share: number): number {
  return Number((share * 100).toFixed(4));
}

/** The list in the editor; undefined if there is something else in it. */
export function checksIn(text: string): unknown[] | undefined {
  if (text.trim() === '') return [];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The request; undefined while something is missing or cannot be read. */
export function requestOf(fields: EvaluationFields): Schemas['EvaluationStart'] | undefined {
  const { rule, margin, rate, dataset, datasetVersion } = fields;
  const checks = checksIn(fields.checks);
  if (checks === undefined || dataset === '') return undefined;
  return {
    candidate: toSide(fields.candidate),
    ...(rule === 'not_worse_by' && { baseline: toSide(fields.baseline) }),
    dataset: { name: dataset, ...(datasetVersion !== undefined && { version: datasetVersion }) },
    // The service says what is wrong with them.
    ...(checks.length > 0 && { checks: checks as Schemas['Check'][] }),
    rule:
      rule === 'not_worse_by'
        ? { not_worse_by: toShare(margin) }
        : rule === 'min_pass_rate'
          ? { min_pass_rate: toShare(rate) }
          : { all_pass: true },
  };
}

function toSide({ run: { version, label }, overrides }: SideFields): Schemas['EvaluatedSideInput'] {
  return { ...overrides, ...(label === undefined ? version !== undefined && { version } : { label }) };
}

function toShare(percent: number): number {
  return Number((percent / 100).toFixed(6));
}
