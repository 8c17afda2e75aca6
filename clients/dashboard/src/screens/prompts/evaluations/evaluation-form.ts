import type { Schemas } from 'prompt-gateway-client';
import { placedMistakes } from '../../../shared/form-problem.ts';
import type { RunChoice } from '../content/run-select.tsx';
import type { Target } from '../content/target-select.tsx';
import type { Evaluation } from './queries.ts';

export const rules = ['not_worse_by', 'min_pass_rate', 'all_pass'] as const;
export type RuleName = (typeof rules)[number];

/** A side of an evaluation. */
export interface SideFields extends Target {
  readonly run: RunChoice;
  /** What else replaces members of the version. It is taken over from another evaluation. */
  readonly overrides?: Schemas['EvaluatedSide']['overrides'];
}

/** What a form says of cases: which, what their answers have to be, and what decides. */
export interface CaseFields {
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

/** What the form of an evaluation has. */
export interface EvaluationFields extends CaseFields {
  readonly candidate: SideFields;
  readonly baseline: SideFields;
}

/** Of a form that nobody has filled in. */
export const noCases: CaseFields = { rule: 'not_worse_by', margin: 5, rate: 90, dataset: '', checks: '' };

/** A form for the latest version, against what runs in production, or against the version before. */
export function fieldsFor({ version, labels = {} }: Schemas['Prompt']): EvaluationFields {
  const released = Object.hasOwn(labels, 'production') ? 'production' : Object.keys(labels)[0];
  return {
    ...noCases,
    candidate: sideOf({ version }),
    baseline: sideOf(released === undefined ? { version: Math.max(1, version - 1) } : { label: released }),
  };
}

/** The form of an evaluation that was. Labels are taken as labels, which may name other versions now. */
export function fieldsOf(prompt: Schemas['Prompt'], evaluation: Evaluation): EvaluationFields {
  const { candidate, baseline } = evaluation;
  return {
    ...caseFieldsOf(evaluation),
    candidate: sideFields(candidate),
    baseline: baseline === undefined ? fieldsFor(prompt).baseline : sideFields(baseline),
  };
}

/** What an evaluation or a gate says of cases. */
export function caseFieldsOf({
  rule,
  dataset,
  checks,
}: Pick<Evaluation | Schemas['Gate'], 'rule' | 'dataset' | 'checks'>): CaseFields {
  return {
    rule: rules.find((name) => rule[name] !== undefined) ?? noCases.rule,
    margin: rule.not_worse_by === undefined ? noCases.margin : inPercent(rule.not_worse_by),
    rate: rule.min_pass_rate === undefined ? noCases.rate : inPercent(rule.min_pass_rate),
    dataset: dataset.name,
    datasetVersion: dataset.version,
    checks: checks === undefined ? '' : JSON.stringify(checks, null, 2),
  };
}

function sideOf(run: RunChoice): SideFields {
  return { run, provider: '', model: '' };
}

function sideFields({ version, label, overrides = {} }: Schemas['EvaluatedSide']): SideFields {
  const { provider, model, ...others } = overrides;
  return {
    run: label === undefined ? { version } : { label },
    provider: typeof provider === 'string' ? provider : '',
    model: typeof model === 'string' ? model : '',
    ...(Object.keys(others).length > 0 && { overrides: others }),
  };
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
  const { rule, dataset, datasetVersion } = fields;
  const checks = checksIn(fields.checks);
  if (checks === undefined || dataset === '') return undefined;
  return {
    candidate: toSide(fields.candidate),
    ...(rule === 'not_worse_by' && { baseline: toSide(fields.baseline) }),
    dataset: { name: dataset, ...(datasetVersion !== undefined && { version: datasetVersion }) },
    // The service says what is wrong with them.
    ...(checks.length > 0 && { checks: checks as Schemas['Check'][] }),
    rule: ruleOf(fields),
  };
}

/** What decides, as requests have it. */
export function ruleOf({ rule, margin, rate }: CaseFields): Schemas['EvaluationRule'] {
  if (rule === 'all_pass') return { all_pass: true };
  return rule === 'not_worse_by' ? { not_worse_by: toShare(margin) } : { min_pass_rate: toShare(rate) };
}

/** What the service says of each member of a request that it refused. */
export function mistakesOf(error: unknown): (place: string) => string | undefined {
  const mistakes = placedMistakes(error);
  return (place) => {
    const found = mistakes.filter((mistake) => mistake.place === place || mistake.place.startsWith(`${place}.`));
    const words = found.map(({ place: at, detail }) => [at.slice(place.length + 1), detail].filter(Boolean).join(': '));
    return words.length === 0 ? undefined : words.join('; ');
  };
}

function toSide({ run: { version, label }, provider, model, overrides }: SideFields): Schemas['EvaluatedSideInput'] {
  return {
    ...overrides,
    ...(provider !== '' && { provider }),
    ...(model !== '' && { model }),
    ...(label === undefined ? version !== undefined && { version } : { label }),
  };
}

function toShare(percent: number): number {
  return Number((percent / 100).toFixed(6));
}
