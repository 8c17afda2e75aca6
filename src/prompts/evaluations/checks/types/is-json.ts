import type { JsonSchema } from '../../../../base/json-schema/answer-checker.ts';
import { threadFinding, type CheckType } from '../check-type.ts';
import { schemaMistake } from '../schema-mistake.ts';

/** The answer is JSON; with a value, JSON that matches this schema. */
export const isJson: CheckType = {
  takes: 'schema',
  async find({ part, value, runtime }) {
    const mistake = schemaMistake(value);
    if (mistake !== undefined) return mistake;
    const result = await runtime.check({ text: part.jsonText, schema: value as JsonSchema | undefined });
    return threadFinding(part, result, value === undefined ? 'is JSON' : 'is JSON that matches the schema');
  },
};
