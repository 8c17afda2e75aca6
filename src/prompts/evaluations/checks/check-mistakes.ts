import {
  findSchemaMistakes,
  newSchemaAllowance,
  type SchemaAllowance,
} from '../../../base/json-schema/schema-mistakes.ts';
import { parseTemplate } from '../../templates/parse.ts';
import type { CheckType } from './check-type.ts';
import { typeOf, type Check } from './check-types.ts';

/** A mistake in a list of checks, and its place: a JSON pointer into the list. */
export interface CheckMistake {
  readonly detail: string;
  readonly pointer: string;
}

/**
 * What is wrong with checks that the contract does not say: what each type needs, regular expressions, and schemas.
 * @param allowance one for all checks of a request
 */
export function checkMistakes(checks: readonly Check[], allowance = newSchemaAllowance()): readonly CheckMistake[] {
  return checks.flatMap((check, index) =>
    mistakesOf(check, allowance).map(({ detail, pointer }) => ({ detail, pointer: `/${index}${pointer}` })),
  );
}

function mistakesOf({ type, value, threshold, judge }: Check, allowance: SchemaAllowance): CheckMistake[] {
  const { takes } = typeOf(type);
  const mistakes: CheckMistake[] = [];
  if (takes === 'threshold' && threshold === undefined) mistakes.push({ detail: 'is required', pointer: '/threshold' });
  if (takes !== 'threshold' && takes !== 'rubric' && threshold !== undefined) {
    mistakes.push({ detail: 'is only for cost, latency and llm-rubric', pointer: '/threshold' });
  }
  if (takes === 'rubric' && judge === undefined) mistakes.push({ detail: 'is required', pointer: '/judge' });
  if (takes !== 'rubric' && judge !== undefined) mistakes.push({ detail: 'is only for llm-rubric', pointer: '/judge' });
  if (value !== undefined) {
    const found = valueMistakes(takes, value, allowance);
    return [...mistakes, ...found.map(({ detail, pointer }) => ({ detail, pointer: `/value${pointer}` }))];
  }
  const isNeeded = takes !== 'threshold' && takes !== 'nothing' && takes !== 'schema';
  return isNeeded ? [...mistakes, { detail: 'is required', pointer: '/value' }] : mistakes;
}

function valueMistakes(
  takes: CheckType['takes'],
  value: NonNullable<Check['value']>,
  allowance: SchemaAllowance,
): readonly CheckMistake[] {
  switch (takes) {
    case 'value':
      return [];
    case 'threshold':
    case 'nothing':
      return [{ detail: 'is not for this type', pointer: '' }];
    case 'schema':
      return findSchemaMistakes(value, allowance);
    case 'text':
    case 'rubric':
      return textMistakes(value);
    case 'pattern':
      return isText(value) ? patternMistakes(value, allowance) : textMistakes(value);
    case 'texts':
      if (!Array.isArray(value)) return textMistakes(value);
      return value.flatMap((text, index) => textMistakes(text, `/${index}`));
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function textMistakes(value: unknown, pointer = ''): CheckMistake[] {
  return isText(value) ? [] : [{ detail: 'must be a text with at least one character', pointer }];
}

function patternMistakes(value: string, allowance: SchemaAllowance): CheckMistake[] {
  const template = parseTemplate(value);
  // With values of a case in it, it can be read only for that case.
  if (template.some((part) => typeof part !== 'string')) return [];
  const mistakes = findSchemaMistakes({ pattern: template.join('') }, allowance);
  return mistakes.map(({ detail }) => ({ detail, pointer: '' }));
}
