import type { JsonSchema } from '../../../../base/json-schema/answer-checker.ts';
import { finding, threadFinding, type CheckType } from '../check-type.ts';
import { schemaMistake } from '../schema-mistake.ts';

/** The answer has a JSON object or array in it; with a value, one that matches this schema. */
export const containsJson: CheckType = {
  takes: 'schema',
  async find({ part, value, runtime }) {
    const mistake = schemaMistake(value);
    if (mistake !== undefined) return mistake;
    const schema = value as JsonSchema | undefined;
    const result = await runtime.check({ text: part.text, schema, anywhere: true });
    const what = schema === undefined ? 'JSON' : 'JSON that matches the schema';
    const isWithout = result.status === 'invalid' && result.mistake.type !== 'too-deep';
    return isWithout
      ? finding(part, false, '', `contains no ${what}`)
      : threadFinding(part, result, `contains ${what}`);
  },
};
