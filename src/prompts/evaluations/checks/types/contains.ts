import { finding, noValue, shown, valueText, type CheckType } from '../check-type.ts';
import { includes } from '../includes.ts';

/** The answer has the value in it. */
export const contains: CheckType = {
  takes: 'text',
  find({ part, value }) {
    const text = valueText(value);
    if (text === '') return noValue;
    return finding(part, includes(part.text, text), `contains ${shown(text)}`, `does not contain ${shown(text)}`);
  },
};
