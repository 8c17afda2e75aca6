import { findSchemaMistakes } from '../../../../base/json-schema/schema-mistakes.ts';
import { finding, noValue, shown, threadFinding, valueText, type CheckType } from '../check-type.ts';

/** The value matches somewhere in the answer. It is the keyword `pattern` of JSON Schema, which the threads know. */
export const regex: CheckType = {
  takes: 'pattern',
  async find({ part, value, runtime }) {
    const pattern = valueText(value);
    if (pattern === '') return noValue;
    const [mistake] = findSchemaMistakes({ pattern });
    if (mistake !== undefined) return { reason: `${shown(pattern)} ${mistake.detail}.` };
    const result = await runtime.check({ text: JSON.stringify(part.text), schema: { pattern } });
    if (result.status === 'invalid') return finding(part, false, '', `does not match ${shown(pattern)}`);
    return threadFinding(part, result, `matches ${shown(pattern)}`);
  },
};
