import type { components } from '../../../../generated/types.ts';
import type { CheckType } from './check-type.ts';
import { contains } from './types/contains.ts';
import { containsAll } from './types/contains-all.ts';
import { containsAny } from './types/contains-any.ts';
import { containsJson } from './types/contains-json.ts';
import { cost } from './types/cost.ts';
import { equals } from './types/equals.ts';
import { finishReason } from './types/finish-reason.ts';
import { icontains } from './types/icontains.ts';
import { isJson } from './types/is-json.ts';
import { isValidOpenaiToolsCall } from './types/is-valid-openai-tools-call.ts';
import { latency } from './types/latency.ts';
import { llmRubric } from './types/llm-rubric.ts';
import { regex } from './types/regex.ts';
import { startsWith } from './types/starts-with.ts';

/** A check, as the contract has it. */
export type Check = components['schemas']['Check'];

const types: Readonly<Record<Exclude<Check['type'], `not-${string}`>, CheckType>> = {
  equals,
  contains,
  icontains,
  'contains-all': containsAll,
  'contains-any': containsAny,
  'starts-with': startsWith,
  regex,
  'is-json': isJson,
  'contains-json': containsJson,
  'finish-reason': finishReason,
  'is-valid-openai-tools-call': isValidOpenaiToolsCall,
  cost,
  latency,
  'llm-rubric': llmRubric,
};

/** The type of a check, without its `not-`. */
export function typeOf(name: Check['type']): CheckType {
  return types[name.replace(/^not-/, '') as keyof typeof types];
}
