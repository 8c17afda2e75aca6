import { shown, valueText, type CheckType } from '../check-type.ts';

/** Generation ended for this reason. It can be written as OpenAI does: `tool_calls`. */
export const finishReason: CheckType = {
  takes: 'text',
  find({ value, answer }) {
    const wanted = valueText(value).toLowerCase().replaceAll('_', '-');
    const holds = answer.finishReason === wanted;
    return {
      holds,
      reason: `Generation ended with ${shown(answer.finishReason)}${holds ? '' : `, not ${shown(wanted)}`}.`,
    };
  },
};
