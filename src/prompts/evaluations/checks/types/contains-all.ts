import { finding, noValue, shown, type CheckType } from '../check-type.ts';
import { includes } from '../includes.ts';
import { textsOf } from '../texts-of.ts';

/** The answer has each text of the value in it. */
export const containsAll: CheckType = {
  takes: 'texts',
  async find({ part, value, runtime }) {
    const texts = textsOf(value);
    if (texts.length === 0 || texts.includes('')) return noValue;
    for (const text of texts) {
      await runtime.turns();
      if (!(await includes(part.text, text, runtime.turns)))
        return finding(part, false, '', `does not contain ${shown(text)}`);
    }
    return finding(part, true, `contains all of ${shown(texts.join(', '))}`, '');
  },
};
