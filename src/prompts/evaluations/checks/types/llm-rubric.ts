import { compactJson, type JsonValue } from '../../../templates/compact-json.ts';
import { defined } from '../../../../base/runtime/objects.ts';
import { noValue, valueText, type CheckType } from '../check-type.ts';

/** The longest reason of a judge that is kept, in UTF-16 code units. */
const longestReason = 1_000;

/** A stored prompt says that the answer is as the value wants. */
export const llmRubric: CheckType = {
  takes: 'rubric',
  async find({ part, value, threshold, judge, of, runtime }) {
    const rubric = valueText(value);
    if (rubric === '' || judge === undefined) return noValue;
    const { variables, messages, expected } = of;
    // Nothing of the prompt, because it would say which of both sides it is.
    const input = compactJson(defined({ variables, messages }) as JsonValue);
    const said = await runtime.askJudge(judge, { input, output: part.text, expected: valueText(expected), rubric });
    if (said === undefined) return { reason: 'The judge said nothing.', isUndecided: true };
    const { pass, score, reason = '' } = said;
    const isEnough = threshold === undefined || (score !== undefined && score >= threshold);
    const words = reason === '' ? '' : `: ${reason.slice(0, longestReason)}`;
    const scored = score === undefined ? '' : ` (score ${score})`;
    return { holds: pass && isEnough, reason: `The judge says ${pass ? 'yes' : 'no'}${scored}${words}`, judged: true };
  },
};
