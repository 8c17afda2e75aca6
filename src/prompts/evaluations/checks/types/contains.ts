import { finding, noValue, shown, valueText, type CheckType } from '../check-type.ts';
import { includes } from '../includes.ts';

/** The answer has the value in it. */
export const contains: CheckType = {
  takes: 'text',
  async find({ part, value, runtime }) {
    const text = valueText(value);
    if (text === '') return noValue;
    const isThere = await includes(part.text, text, runtime.turns);
    return finding(part, isThere, `contains ${shown(text)}`, `does not contain ${shown(text)}`);
  },
};
