import { findSchemaMistakes } from '../../../base/json-schema/schema-mistakes.ts';
import type { Finding } from './check-type.ts';

/** What is wrong with the schema of a check, for which values of a case can be responsible. */
export function schemaMistake(value: unknown): Finding | undefined {
  const [mistake] = value === undefined ? [] : findSchemaMistakes(value);
  return (
    mistake && { reason: `The schema ${mistake.detail}${mistake.pointer === '' ? '' : ` at ${mistake.pointer}`}.` }
  );
}
