import type { Schemas } from 'prompt-gateway-client';
import { caseFieldsOf, checksIn, noCases, ruleOf, type CaseFields } from '../evaluations/evaluation-form.ts';

/** What the form of a gate has. */
export interface GateFields extends CaseFields {
  readonly maxAge: number;
  readonly isBreakingRefused: boolean;
  readonly anchor: number | undefined;
}

/** The form of a gate; of a new one without it. */
export function gateFields(gate: Schemas['Gate'] | undefined): GateFields {
  if (gate === undefined) return { ...noCases, maxAge: 30, isBreakingRefused: false, anchor: undefined };
  return {
    ...caseFieldsOf(gate),
    maxAge: gate.max_age_days,
    isBreakingRefused: gate.breaking === 'refuse',
    anchor: gate.anchor,
  };
}

/** The request; undefined while something is missing or cannot be read. */
export function gateRequest(fields: GateFields): Schemas['GateInput'] | undefined {
  const { dataset: name, datasetVersion: version, maxAge, isBreakingRefused, anchor, rule } = fields;
  const checks = checksIn(fields.checks);
  if (checks === undefined || name === '' || version === undefined) return undefined;
  return {
    dataset: { name, version },
    // The service says what is wrong with them.
    ...(checks.length > 0 && { checks: checks as Schemas['Check'][] }),
    rule: ruleOf(fields),
    max_age_days: maxAge,
    breaking: isBreakingRefused ? 'refuse' : 'warn',
    ...(rule === 'not_worse_by' && anchor !== undefined && { anchor }),
  };
}
