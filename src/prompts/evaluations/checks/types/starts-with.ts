import { finding, noValue, shown, valueText, type CheckType } from '../check-type.ts';

/** The answer begins with the value. */
export const startsWith: CheckType = {
  takes: 'text',
  find({ part, value }) {
    const text = valueText(value);
    if (text === '') return noValue;
    const holds = part.text.startsWith(text);
    return finding(part, holds, `starts with ${shown(text)}`, `does not start with ${shown(text)}`);
  },
};
