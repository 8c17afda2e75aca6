import type { Schemas } from 'prompt-gateway-client';
import { budgetLimitInput, budgetName, budgetScopeInput } from '../../../generated/limits.ts';
import { fits } from '../../../shared/limits.ts';
import type { Texts } from '../../../texts/en.ts';

/** What the calls of a budget have in common. */
export const scopeKinds = ['all', 'key', 'prompt', 'tag'] as const;
export type ScopeKind = (typeof scopeKinds)[number];

/** What the form of a budget edits. */
export interface BudgetFields extends Record<string, unknown> {
  name: string;
  /** `all`, `key <id>`, `prompt <id>` or `tag team=checkout`. */
  scope: string;
  /** Dollars, as they are typed. */
  limit: string;
  period: string;
  timeZone: string;
  unpriced: string;
  assumedTokens: number | '';
  /** Percentages of the limit, as they are typed. */
  thresholds: string[];
}

/** The fields of a new budget, in the time zone of the browser. */
export function emptyFields(): BudgetFields {
  return {
    name: '',
    scope: 'all',
    limit: '',
    period: 'month',
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    unpriced: 'refuse',
    assumedTokens: '',
    thresholds: [],
  };
}

/** The fields of a present budget. */
export function fieldsOf(budget: Schemas['Budget']): BudgetFields {
  const { name, scope, limit, period, time_zone, unpriced, assume_max_output_tokens, thresholds } = budget;
  return {
    name,
    scope: scopeText(scope),
    limit: limit.amount,
    period,
    timeZone: time_zone,
    unpriced,
    assumedTokens: assume_max_output_tokens ?? '',
    thresholds: thresholds.map(String),
  };
}

function scopeText({ key_id, prompt_id, tag }: Schemas['BudgetScope']): string {
  if (key_id !== undefined) return `key ${key_id}`;
  if (prompt_id !== undefined) return `prompt ${prompt_id}`;
  return tag === undefined ? 'all' : `tag ${tag}`;
}

/** The two parts of a scope: what the calls have in common, and which one. */
export function splitScope(scope: string): [kind: ScopeKind, value: string] {
  const [kind = '', ...value] = scope.split(' ');
  return [scopeKinds.find((known) => known === kind) ?? 'all', value.join(' ')];
}

/** The fields as the API takes them. */
export function bodyOf(fields: BudgetFields): Schemas['BudgetInput'] {
  const [kind, value] = splitScope(fields.scope);
  const { period, unpriced, assumedTokens } = fields;
  return {
    scope: {
      ...(kind === 'key' && { key_id: value }),
      ...(kind === 'prompt' && { prompt_id: value }),
      ...(kind === 'tag' && { tag: value.trim() }),
    },
    limit: { amount: amountOf(fields.limit), currency: 'USD' },
    // A later release can have other values; they go back as they came.
    period: period as NonNullable<Schemas['BudgetInput']['period']>,
    time_zone: fields.timeZone,
    unpriced: unpriced as NonNullable<Schemas['BudgetInput']['unpriced']>,
    thresholds: [...new Set(fields.thresholds.map(percentOf))],
    assume_max_output_tokens: assumedTokens === '' ? null : assumedTokens,
  };
}

/** Of `80` or `80 %`. */
function percentOf(typed: string): number {
  return Number(/^\s*(\d+)\s*%?\s*$/.exec(typed)?.[1] ?? NaN);
}

/** With a point before the decimals, as the API has it. */
function amountOf(typed: string): string {
  return typed.trim().replace(',', '.');
}

/** The field of a place in the request. */
export function fieldAt(place: string): string {
  const names: Record<string, string> = { time_zone: 'timeZone', assume_max_output_tokens: 'assumedTokens' };
  return names[place] ?? place.replace(/^(scope|limit|thresholds)\..*/, '$1');
}

/** Finds mistakes before the request is sent. */
export function validateFields(
  fields: BudgetFields,
  { form: texts }: Texts['costs']['budgets'],
): Record<string, string> {
  const mistakes: Record<string, string> = {};
  if (!fits(fields.name, budgetName)) mistakes['name'] = texts.nameWrong;
  const [kind, value] = splitScope(fields.scope);
  if (kind !== 'all' && value.trim() === '') mistakes['scope'] = texts.scopeMissing[kind];
  else if (kind === 'tag' && !fits(value.trim(), budgetScopeInput.tag)) mistakes['scope'] = texts.tagWrong;
  if (!fits(amountOf(fields.limit), budgetLimitInput.amount)) mistakes['limit'] = texts.limitWrong;
  if (!fields.thresholds.every((typed) => percentOf(typed) >= 1 && percentOf(typed) <= 100)) {
    mistakes['thresholds'] = texts.thresholdWrong;
  }
  if (fields.timeZone === '') mistakes['timeZone'] = texts.timeZoneMissing;
  return mistakes;
}
