import { finding, noValue, shown, type CheckType } from '../check-type.ts';
import { includes } from '../includes.ts';
import { textsOf } from '../texts-of.ts';

/** The answer has a text of the value in it. */
export const containsAny: CheckType = {
  takes: 'texts',
  async find({ part, value, runtime }) {
    const texts = textsOf(value);
    if (texts.length === 0 || texts.includes('')) return noValue;
    for (const text of texts) {
      await runtime.turns();
      if (await includes(part.text, text, runtime.turns)) return finding(part, true, `contains ${shown(text)}`, '');
    }
    return finding(part, false, '', `contains none of ${shown(texts.join(', '))}`);
  },
};
